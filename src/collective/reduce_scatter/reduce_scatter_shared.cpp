// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter through shared memory: every rank writes the blocks of its vector into places of their
// pairs and signals their targets; rank j combines block j of all vectors, from the last rank to the first.
//
// Source:   Graham and Shipman 2008 (collectives in shared memory on multi-core nodes); Rico-Gallego
//           (τ-Lop), section 4.7.4 (each rank combines one part of all vectors).
// Requires: all processes on one node. Keeps the order.
// Cost:     no message; 2N rounds with N segments; each rank copies P − 1 blocks, combines P − 1 and signals
//           P − 1 ranks per segment (twice from the third segment on); P(P − 1) shared places, with several
//           segments 2P(P − 1).
//
//   P = 4, rank 1: output = place of x₃; then place of x₂ ∘, x₁ ∘ (its own input), place of x₀ ∘: x₀x₁x₂x₃
//   P = 5 begins with x₄.
#include "collective/reduce_scatter/reduce_scatters.hpp"
#include "collective/shm/pairs.hpp"

namespace convene::collective {
namespace {

void generate_reduce_scatter_shared(const Call& call, Builder& builder) {
  const SharedPairs pairs(call, builder);
  for (std::uint32_t segment = 0; segment < pairs.segments(); ++segment) {
    builder.round(2 * segment);
    pairs.put(segment);
    builder.round(2 * segment + 1);
    const Range sum(Buffer::output, segment);
    for (Rank rank = call.procs; rank-- > 0;) {
      const Range from = rank == call.rank ? pairs.input(rank, segment) : pairs.take(rank, segment);
      rank + 1 == call.procs ? builder.copy(from, sum) : builder.combine(from, sum);
    }
  }
}

constexpr Parameter reduce_scatter_shared_parameters[] = {
    shared_segments(1, "number of segments of a block", {1, 3})};

}  // namespace

extern constinit const Algorithm reduce_scatter_shared = {
    .name = "shared",
    .summary = "All ranks write their vectors into shared memory; rank j combines block j of all.",
    .source = "Graham and Shipman 2008",
    .collectives = reduce_scatters,
    .rounds = "2N, N segments",
    .parameters = reduce_scatter_shared_parameters,
    .shared_places = SharedPairs::places,
    .signals_can_carry = has_one_segment,
    .generate = generate_reduce_scatter_shared,
};

}  // namespace convene::collective
