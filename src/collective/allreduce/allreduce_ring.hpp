// SPDX-License-Identifier: BSD-3-Clause
// Both passes of the ring allreduce: the first sums each chunk, the second distributes the sums.
#pragma once

#include "collective/parts/ring_reduce.hpp"

namespace convene::collective {

inline void allreduce_around_ring(const Call& call, Builder& builder, std::uint32_t segments) {
  const RingRole ring{call.procs, call.rank, call.up(), call.down(), segments};
  Partial partial(call, builder, call.procs * segments, {.at_output = true});
  ring_reduce_scatter(ring, builder, partial);
  for (Rank round = 0; round + 1 < call.procs; ++round)
    for (Place segment = 0; segment < segments; ++segment) {
      builder.round((call.procs - 1 + round) * segments + segment);
      partial.send(ring.next, ring.chunk(call.rank, round) + segment);
      partial.replace(ring.previous, ring.chunk(call.rank, round + 1) + segment);
    }
  partial.settle(run_of_places(0, call.procs * segments));
}

}  // namespace convene::collective
