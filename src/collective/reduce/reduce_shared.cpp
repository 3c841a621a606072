// SPDX-License-Identifier: BSD-3-Clause
// Linear reduce through shared memory: every rank but the root writes its vector into its two shared places
// in turn, and the root combines from there, from the last rank to the first, so that the order is kept.
//
// Source:   Rico-Gallego (τ-Lop), section 4.7.3 and equation 4.55 (Open MPI's reduction in shared memory).
// Requires: all processes on one node. Keeps the order.
// Cost:     no message; 2N rounds with N segments; P − 1 combines at the root; 2(P − 1) shared places.
//
//   root 1, P = 4: output = place of x₃; then place of x₂ ∘, x₁ ∘ (the root's own), place of x₀ ∘: x₀x₁x₂x₃
//   P = 5 begins with x₄.
#include <numeric>
#include <vector>

#include "collective/shm/beside_root.hpp"

namespace convene::collective {
namespace {

/// `own`: location of the root's contribution.
void take(std::uint32_t segment, std::uint32_t segments, const Range& own, const Call& call,
          Builder& builder) {
  const Range sum(Buffer::output, segment);
  builder.round(2 * segment + 1);
  for (Rank rank = call.procs; rank-- > 0;) {
    const Range from = rank == call.root ? own : place_beside_root(rank, segment, call);
    if (rank != call.root) builder.recv(rank, from);
    rank + 1 == call.procs ? builder.copy(from, sum) : builder.combine(from, sum);
    if (rank != call.root && comes_again(segment, segments)) builder.send(rank, from);
  }
}

/// Location of the root's contribution: outside the output if that is needed before its turn.
Buffer own_buffer(std::uint32_t segments, const Call& call, Builder& builder) {
  if (!call.in_place || call.rank + 1 == call.procs) return Buffer::input;
  std::vector<Place> sized_like(segments);
  std::iota(sized_like.begin(), sized_like.end(), 0);
  const Buffer copied = builder.scratch(sized_like);
  builder.copy(Range(Buffer::input, 0, segments), Range(copied, 0, segments));
  return copied;
}

void generate_reduce_shared(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const Buffer own = call.is_root() ? own_buffer(segments, call, builder) : Buffer::input;
  for_each_segment(
      call, [&](std::uint32_t segment) { take(segment, segments, Range(own, segment), call, builder); },
      [&](std::uint32_t segment) { put_beside_root(segment, call, builder); });
}

constexpr Parameter reduce_shared_parameters[] = {shared_segments(4, "number of segments of the vector")};

}  // namespace

extern constinit const Algorithm reduce_shared = flat_at_root({
    .name = "shared",
    .summary = "All ranks write their vectors into shared memory; the root combines them in rank order.",
    .source = "Rico-Gallego 2015 (τ-Lop), section 4.7.3",
    .collectives = {Collective::reduce},
    .rounds = "2N, N segments",
    .parameters = reduce_shared_parameters,
    .generate = generate_reduce_shared,
});

}  // namespace convene::collective
