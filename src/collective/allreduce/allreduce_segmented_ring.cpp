// SPDX-License-Identifier: BSD-3-Clause
// Segmented ring: the ring with each rank's part cut into segments, so that one segment is combined while the
// next one is received.
//
// Source:   the pipelining of Marendic et al. 2016, section 5.7, on the ring of Patarasuk and Yuan 2009.
// Requires: a commutative operator.
// Cost:     2N(P − 1) messages of 1/(NP) vector; up to two vectors of extra memory.
//
//   P = 3, N = 2: rank r sends segments a and b of part r − 1 to r + 1 in rounds 0 and 1, then its partial
//   sums of part r − 2 in rounds 2 and 3, and distributes the sums of its own part r and of the others in
//   rounds 4 to 7. P = 5: 16 rounds.
#include "collective/allreduce/allreduce_ring.hpp"
#include "collective/parts/pace.hpp"

namespace convene::collective {
namespace {

std::uint64_t segmented_ring_parts(Rank procs, std::span<const Value> parameters) {
  return std::uint64_t{procs} * static_cast<std::uint32_t>(parameters[0]);
}

void generate_allreduce_segmented_ring(const Call& call, Builder& builder) {
  set_pace(call.parameters[1], builder);
  allreduce_around_ring(call, builder, static_cast<std::uint32_t>(call.parameters[0]));
}

constexpr Parameter allreduce_segmented_ring_parameters[] = {
    {.name = "segments",
     .summary = "number of segments of each rank's part of the vector",
     .fallback = 4,
     .least = 1,
     .most = 4096,
     .samples = {1, 2, 3, 7}},
    pace_parameter};

}  // namespace

extern constinit const Algorithm allreduce_segmented_ring = {
    .name = "segmented_ring",
    .summary = "A ring with each part cut into segments: one is combined while the next one arrives.",
    .source = "pipelining after Marendic et al. 2016; Patarasuk and Yuan 2009",
    .collectives = {Collective::allreduce},
    .rounds = "2N(P − 1) of 1/(NP) vector each",
    .parameters = allreduce_segmented_ring_parameters,
    .commutative_only = true,
    .pieces = segmented_ring_parts,
    .generate = generate_allreduce_segmented_ring,
};

}  // namespace convene::collective
