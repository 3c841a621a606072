// SPDX-License-Identifier: BSD-3-Clause
// Alltoall of blocks whose sizes only the ranks of each pair know: every rank writes the heads of its blocks
// into places of their pairs, signals their targets, and sends the rests as messages.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes), for the heads.
// Requires: all processes on one node.
// Cost:     2 rounds; each rank copies P − 1 heads in and P − 1 out, and signals P − 1 ranks; up to P − 1
//           messages per rank; P(P − 1) shared places of a head each.
//
//   P = 3, block xy goes from rank x to rank y, its rest is xy':
//            round 0: writes    round 1: copies, sends and receives
//   rank     0   1   2          0             1             2
//            01  12  20         20 01' 20'    01 12' 01'    12 20' 12'
//            02  10  21         10 02' 10'    21 10' 21'    02 21' 02'    (the own block is a copy)
#include "collective/shm/heads.hpp"
#include "collective/shm/pairs.hpp"

namespace convene::collective {
namespace {

void generate_alltoall_shared_head(const Call& call, Builder& builder) {
  const auto place = [&](Rank from, Rank to) {
    return Range(Buffer::shared, pair_number(from, to, call.procs));
  };
  for (Rank distance = 1; distance < call.procs; ++distance)
    give_head(call.up(distance), call.up(distance), place(call.rank, call.up(distance)), builder);
  builder.copy(whole_block(Buffer::input, call.rank), whole_block(Buffer::output, call.rank));
  builder.round(1);
  for (Rank distance = 1; distance < call.procs; ++distance)
    take_head(call.down(distance), call.down(distance), place(call.down(distance), call.rank), builder);
  // Sends and receives alternate: if all sends came first, more would be needed than may be in flight, and
  // no rank would reach its receives.
  for (Rank distance = 1; distance < call.procs; ++distance) {
    give_rest(call.up(distance), call.up(distance), builder);
    take_rest(call.down(distance), call.down(distance), builder);
  }
}

std::uint64_t places_of_pairs(Rank procs, std::span<const Value>) {
  return std::uint64_t{procs} * (procs - 1);
}

/// For few ranks only: each keeps a copy of all places.
bool few_heads_can_be_carried(Rank procs, std::span<const Value>) { return procs <= 16; }

}  // namespace

extern constinit const Algorithm alltoall_shared_head = {
    .name = "shared_head",
    .summary = "Every rank writes the first bytes of its blocks into shared memory, and sends the rest.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::alltoallv, Collective::alltoallw},
    .cut = Cut::head_first,
    .rounds = "2",
    .parameters = only(head_parameter),
    .shared_places = places_of_pairs,
    .signals_can_carry = few_heads_can_be_carried,
    .generate = generate_alltoall_shared_head,
};

}  // namespace convene::collective
