// SPDX-License-Identifier: BSD-3-Clause
// Allreduce through shared memory in one exchange: every rank writes its vector into a shared place, signals
// all others, and combines all vectors by itself. For short vectors: one signal on the critical path.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes; flat fan-in).
// Requires: all processes on one node. Keeps the order.
// Cost:     no message; 2 rounds: each rank copies its vector once, signals P − 1 ranks and combines P − 1
//           vectors; P shared places.
//
//            round 0         round 1
//   rank 0   place 0 = x₀    x₃, then x₂ ∘, x₁ ∘, x₀ ∘: x₀x₁x₂x₃     (P = 4)
//   rank 1   place 1 = x₁    the same
//   rank 2   place 2 = x₂    the same
//   rank 3   place 3 = x₃    the same
//
//   P = 5 begins with x₄.
#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

Range vector_place(Rank rank) { return Range(Buffer::shared, rank); }

void generate_allreduce_shared(const Call& call, Builder& builder) {
  const Range sum(Buffer::output, 0);
  builder.copy(Range(Buffer::input, 0), vector_place(call.rank));
  for (Rank above = 1; above < call.procs; ++above) builder.send(call.up(above), vector_place(call.rank));
  builder.round(1);
  // In place, the sum of later vectors replaces the own one: its copy is combined.
  const bool is_replaced = call.in_place && call.rank + 1 < call.procs;
  for (Rank rank = call.procs; rank-- > 0;) {
    const Range from = rank == call.rank && !is_replaced ? Range(Buffer::input, 0) : vector_place(rank);
    if (rank != call.rank) builder.recv(rank, from);
    rank + 1 == call.procs ? builder.copy(from, sum) : builder.combine(from, sum);
  }
}

std::uint64_t allreduce_places(Rank procs, std::span<const Value>) { return procs; }
bool allreduce_can_carry(Rank, std::span<const Value>) { return true; }

}  // namespace

extern constinit const Algorithm allreduce_shared = {
    .name = "shared",
    .summary = "All ranks write their vectors into shared memory; each combines all of them in rank order.",
    .source = "Graham and Shipman 2008",
    .collectives = {Collective::allreduce},
    .rounds = "2",
    .shared_places = allreduce_places,
    .signals_can_carry = allreduce_can_carry,
    .generate = generate_allreduce_shared,
};

}  // namespace convene::collective
