// SPDX-License-Identifier: BSD-3-Clause
// Pairwise: in round k every rank sends the rank k above it that rank's block, and combines the block
// received from the rank k below. Nothing is forwarded. If the operator does not commute, contributions wait
// for their turn.
//
// Source:   Thakur, Rabenseifner, Gropp 2005, section 4.4.
// Requires: nothing. Keeps the order.
// Cost:     P − 1 rounds of one block; extra memory for two blocks, to keep the order for P − 2.
//
//   P = 4, rank 1:   sends block 2 to 2, block 3 to 3, block 0 to 0; takes block 1 of 0, then of 3, of 2.
//   P = 5 takes a round more.
#include <algorithm>

#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

/// Combines contributions in the order in which they are received.
void combine_at_once(const Call& call, Builder& builder) {
  const std::vector<Place> sized_like(std::min(2u, call.procs - 2), call.rank);
  const Buffer inboxes = sized_like.empty() ? Buffer::input : builder.scratch(sized_like);
  for (Rank round = 1; round < call.procs; ++round) {
    builder.round(round - 1);
    builder.send(call.up(round), contribution(call.up(round)));
    const Range arrives = round == 1 ? own_result() : Range(inboxes, round % sized_like.size());
    builder.recv(call.down(round), arrives);
    builder.combine(round == 1 ? contribution(call.rank) : arrives, own_result());
  }
}

/// Stores all contributions, and combines them from the last rank's to the first.
void combine_in_order(const Call& call, Builder& builder) {
  const Buffer inbox = builder.scratch(std::vector<Place>(call.procs, call.rank));  // by rank
  const Rank last = call.procs - 1;
  for (Rank round = 1; round < call.procs; ++round) {
    builder.round(round - 1);
    builder.send(call.up(round), contribution(call.up(round)));
    const Rank from = call.down(round);
    builder.recv(from, from == last ? own_result() : Range(inbox, from));
  }
  if (call.rank == last) builder.copy(contribution(call.rank), own_result());
  for (Rank rank = last; rank-- > 0;)
    builder.combine(rank == call.rank ? contribution(rank) : Range(inbox, rank), own_result());
}

void generate_reduce_scatter_pairwise(const Call& call, Builder& builder) {
  if (call.procs == 1) return builder.copy(contribution(0), own_result());
  call.commutative ? combine_at_once(call, builder) : combine_in_order(call, builder);
}

}  // namespace

extern constinit const Algorithm reduce_scatter_pairwise = {
    .name = "pairwise",
    .summary = "In round k every rank sends to the rank k above it that rank's block.",
    .source = "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    .collectives = reduce_scatters,
    .rounds = "P − 1",
    .generate = generate_reduce_scatter_pairwise,
};

}  // namespace convene::collective
