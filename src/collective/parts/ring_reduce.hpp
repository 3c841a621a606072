// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter by a ring: chunk c of the vector travels from number c + 1 around to number c, and every
// rank on the way adds its contribution.
#pragma once

#include "collective/parts/partial.hpp"

namespace convene::collective {

/// Position of a rank in the ring: its number, and the ranks after and before it. A chunk is `segments`
/// places.
struct RingRole {
  Rank procs, own, next, previous;
  std::uint32_t segments = 1;

  /// The chunk `back` numbers before a number, modulo P.
  Place chunk(Rank number, Rank back) const { return (number + 2 * procs - back) % procs * segments; }
};

/// P − 1 rounds of as many messages as a chunk has segments. At the end number c has the sum of chunk c. The
/// sum of each chunk starts at a different rank: the order of the ranks is not kept.
inline void ring_reduce_scatter(const RingRole& ring, Builder& builder, Partial& partial) {
  for (Rank round = 0; round + 1 < ring.procs; ++round)
    for (Place segment = 0; segment < ring.segments; ++segment) {
      builder.round(round * ring.segments + segment);
      partial.send(ring.next, ring.chunk(ring.own, round + 1) + segment);
      partial.take(ring.previous, ring.chunk(ring.own, round + 2) + segment, OperandOrder::above);
    }
}

}  // namespace convene::collective
