// SPDX-License-Identifier: BSD-3-Clause
// The reduce-scatter by a ring: chunk c of the vector goes around from number c + 1 to number c, and every
// rank that it passes adds its contribution.
#pragma once

#include "collective/parts/partial.hpp"

namespace convene::collective {

/// Where a rank stands in the ring: its number, and the ranks after and before it. A chunk is `segments`
/// places.
struct RingRole {
  Rank procs, own, next, previous;
  std::uint32_t segments = 1;

  /// The chunk `back` numbers before a number, around the end.
  Place chunk(Rank number, Rank back) const { return (number + 2 * procs - back) % procs * segments; }
};

/// P − 1 rounds of as many messages as a chunk has segments. In the end number c has the sum of chunk c. The
/// sum of each chunk begins at another rank: the order of the ranks is not kept.
inline void ring_reduce_scatter(const RingRole& ring, Builder& builder, Partial& partial) {
  for (Rank round = 0; round + 1 < ring.procs; ++round)
    for (Place segment = 0; segment < ring.segments; ++segment) {
      builder.round(round * ring.segments + segment);
      partial.send(ring.next, ring.chunk(ring.own, round + 1) + segment);
      partial.take(ring.previous, ring.chunk(ring.own, round + 2) + segment, OperandOrder::above);
    }
}

}  // namespace convene::collective
