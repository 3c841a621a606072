// SPDX-License-Identifier: BSD-3-Clause
// Ring: block b travels from rank b + 1 around to rank b, and every rank on the way adds its contribution.
//
// Source:   Patarasuk and Yuan 2009; Marendic et al. 2016, section 5.5.2 (its first half).
// Requires: a commutative operator: each sum starts at a different rank.
// Cost:     P − 1 rounds of one block; a vector of extra memory.
//
//            before         round 0           round 1             round 2
//   rank     0  1  2  3     0  1  2  3        0   1   2   3       0    1    2    3
//   block 0  0  1  2  3     0  .  12 3        0   .   .   123     all  .    .    .
//   block 1  0  1  2  3     0  1  .  23       023 1   .   .       .    all  .    .
//   block 2  0  1  2  3     03 1  2  .        .   013 2   .       .    .    all  .
//   block 3  0  1  2  3     .  01 2  3        .   .   012 3       .    .    .    all
//
// P = 5 takes a round more.
#include "collective/parts/ring_reduce.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

void generate_reduce_scatter_ring(const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {});
  ring_reduce_scatter({call.procs, call.rank, call.up(), call.down()}, builder, partial);
  const Range own_block[] = {own_result()};
  builder.copy(partial.at(run_of_places(call.rank)), own_block);
}

}  // namespace

extern constinit const Algorithm reduce_scatter_ring = {
    .name = "ring",
    .summary = "Every block travels around a ring to its rank and collects contributions.",
    .source = "Patarasuk and Yuan 2009",
    .collectives = reduce_scatters,
    .rounds = "P − 1",
    .commutative_only = true,
    .generate = generate_reduce_scatter_ring,
};

}  // namespace convene::collective
