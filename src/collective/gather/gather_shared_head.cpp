// SPDX-License-Identifier: BSD-3-Clause
// Gather of blocks whose sizes only their ranks and the root know: every rank but the root writes the head of
// its block into its shared place, signals the root, and sends the rest as a message.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes; flat fan-in), for the
//           heads.
// Requires: all processes on one node.
// Cost:     2 rounds; each rank writes its head once, the root copies P − 1 heads; up to P − 1 messages to
//           the root; P − 1 shared places of a head each.
//
//            before      round 0              round 1     (root 1; a block is its head and its rest)
//   rank     0 1 2 3     writes into          0 1 2 3
//   block 0  0 . . .     place 0              0 * . .
//   block 1  . 1 . .                          . 1 . .
//   block 2  . . 2 .     place 1              . * 2 .
//   block 3  . . . 3     place 2              . * . 3     (* is copied and received in this round)
//
//   P = 5: rank 4 does as rank 3, with place 3.
#include "collective/shm/beside_root.hpp"
#include "collective/shm/heads.hpp"

namespace convene::collective {
namespace {

void generate_gather_shared_head(const Call& call, Builder& builder) {
  if (!call.is_root()) return give_block(0, call.root, head_place_beside_root(call.rank, call), builder);
  builder.copy(whole_block(Buffer::input, 0), whole_block(Buffer::output, call.rank));
  builder.round(1);
  for (Rank above = 1; above < call.procs; ++above)
    take_head(call.up(above), call.up(above), head_place_beside_root(call.up(above), call), builder);
  for (Rank above = 1; above < call.procs; ++above) take_rest(call.up(above), call.up(above), builder);
}

}  // namespace

extern constinit const Algorithm gather_shared_head = {
    .name = "shared_head",
    .summary = "Every rank writes the first bytes of its block into shared memory, and sends the rest.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::gatherv},
    .cut = Cut::head_first,
    .rounds = "2",
    .parameters = only(head_parameter),
    .shared_places = head_places_beside_root,
    .signals_can_carry = heads_beside_root_can_be_carried,
    .generate = generate_gather_shared_head,
};

}  // namespace convene::collective
