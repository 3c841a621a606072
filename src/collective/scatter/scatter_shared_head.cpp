// SPDX-License-Identifier: BSD-3-Clause
// Scatter of blocks whose sizes only the root and their ranks know: the root writes the head of every other
// rank's block into the shared place of that rank, signals it, and sends the rest as a message.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes; flat fan-out), for the
//           heads.
// Requires: all processes on one node.
// Cost:     2 rounds; the root writes P − 1 heads, each other rank copies one; up to P − 1 messages from the
//           root; P − 1 shared places of a head each.
//
//            before      round 0: the root    round 1     (root 1; a block is its head and its rest)
//   rank     0 1 2 3     writes into          0 1 2 3
//   block 0  . 0 . .     place 0              * 0 . .
//   block 1  . 1 . .                          . 1 . .
//   block 2  . 2 . .     place 1              . 2 * .
//   block 3  . 3 . .     place 2              . 3 . *     (* is copied and received in this round)
//
//   P = 5: rank 4 does as rank 3, with place 3.
#include "collective/shm/beside_root.hpp"
#include "collective/shm/heads.hpp"

namespace convene::collective {
namespace {

void generate_scatter_shared_head(const Call& call, Builder& builder) {
  if (!call.is_root()) {
    builder.round(1);
    take_head(0, call.root, head_place_beside_root(call.rank, call), builder);
    return take_rest(0, call.root, builder);
  }
  for (Rank above = 1; above < call.procs; ++above)
    give_block(call.up(above), call.up(above), head_place_beside_root(call.up(above), call), builder);
  builder.copy(whole_block(Buffer::input, call.rank), whole_block(Buffer::output, 0));
}

}  // namespace

extern constinit const Algorithm scatter_shared_head = {
    .name = "shared_head",
    .summary = "The root writes the first bytes of the blocks into shared memory, and sends the rest.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::scatterv},
    .cut = Cut::head_first,
    .rounds = "2",
    .parameters = only(head_parameter),
    .shared_places = head_places_beside_root,
    .signals_can_carry = heads_beside_root_can_be_carried,
    .generate = generate_scatter_shared_head,
};

}  // namespace convene::collective
