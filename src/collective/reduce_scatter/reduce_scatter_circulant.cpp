// SPDX-License-Identifier: BSD-3-Clause
// Circulant graph: a rank that works on the s′ blocks from its own upwards sends the upper ones to the rank s
// above, and receives contributions to the lower s′ − s from the rank s below. The skips s are P halved again
// and again, rounded up.
//
// Source:   Träff 2024 (arXiv 2410.14234), Algorithm 1.
// Requires: a commutative operator: each sum starts at a different rank.
// Cost:     ⌈log₂P⌉ rounds and messages, P − 1 blocks sent and combined; up to two vectors of extra memory.
//
//            before         round 0           round 1             (skips 2, 1)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3
//   block 0  0  1  2  3     02 .  .  13       all .   .   .
//   block 1  0  1  2  3     02 13 .  .        .   all .   .
//   block 2  0  1  2  3     .  13 02 .        .   .   all .
//   block 3  0  1  2  3     .  .  02 13       .   .   .   all
//
// P = 5 takes the skips 3, 2, 1: rank r sends the blocks r + 3 and r + 4, then r + 2, then r + 1.
#include "collective/parts/circulant_skips.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

void generate_reduce_scatter_circulant(const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {});
  circulant_reduce_scatter(call, builder, partial);
  const Range own_block[] = {own_result()};
  builder.copy(partial.at(run_of_places(call.rank)), own_block);
}

}  // namespace

extern constinit const Algorithm reduce_scatter_circulant = {
    .name = "circulant",
    .summary =
        "A rank sends the upper part of its blocks to the rank s above; the skips s are P halved again and "
        "again.",
    .source = "Träff 2024 (arXiv 2410.14234), Algorithm 1",
    .collectives = reduce_scatters,
    .rounds = "⌈log₂P⌉",
    .commutative_only = true,
    .generate = generate_reduce_scatter_circulant,
};

}  // namespace convene::collective
