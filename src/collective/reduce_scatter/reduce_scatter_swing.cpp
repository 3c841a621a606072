// SPDX-License-Identifier: BSD-3-Clause
// Swing: partners at the distances 1, 1, 3, 5, 11, … send each other contributions to the blocks of all ranks
// that the other one reaches later, alternately above and below, even ranks one way and odd ranks the other.
// Distances are about two thirds of those of recursive halving, and most data moves over the shortest.
//
// Source:   De Sensi et al. 2024 (NSDI, arXiv 2401.09356), section 3. Where P is no power of two, a block that
//           would be sent twice is sent once.
// Requires: an even number of processes, and a commutative operator.
// Cost:     ⌈log₂P⌉ rounds and messages, P − 1 blocks sent and combined; up to two vectors of extra memory.
//
//            before         round 0           round 1             (distances 1, −1)
//   rank     0  1  2  3     0  1  2  3        0   1   2   3
//   block 0  0  1  2  3     01 .  .  23       all .   .   .
//   block 1  0  1  2  3     .  01 23 .        .   all .   .
//   block 2  0  1  2  3     .  01 23 .        .   .   all .
//   block 3  0  1  2  3     01 .  .  23       .   .   .   all
//
// P = 6 takes the distances 1, −1, 3.
#include "collective/parts/negabinary_exchange.hpp"
#include "collective/reduce_scatter/reduce_scatters.hpp"

namespace convene::collective {
namespace {

void generate_reduce_scatter_swing(const Call& call, Builder& builder) {
  Partial partial(call, builder, call.procs, {});
  negabinary_reduce_scatter({call.procs, DistanceOrder::far_first}, call, builder, partial);
  keep_own_place(call, builder, partial);
}

}  // namespace

extern constinit const Algorithm reduce_scatter_swing = {
    .name = "swing",
    .summary =
        "Partners at the distances 1, 1, 3, 5, …, alternately above and below, halve the blocks that they "
        "sum.",
    .source = "De Sensi et al. 2024 (arXiv 2401.09356), section 3",
    .collectives = reduce_scatters,
    .requirement = Requirement::even,
    .rounds = "⌈log₂P⌉",
    .commutative_only = true,
    .generate = generate_reduce_scatter_swing,
};

}  // namespace convene::collective
