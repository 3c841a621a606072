// SPDX-License-Identifier: BSD-3-Clause
// Swing: partners at the distances …, 11, 5, 3, 1, 1 exchange blocks, alternately above and below, even ranks
// one way and odd ranks the other. Distances are about two thirds of those of recursive doubling, and most
// data moves over the shortest.
//
// Source:   De Sensi et al. 2024 (NSDI, arXiv 2401.09356), section 3: the allgather of its allreduce. Where P
//           is no power of two, a block that a partner has already is left out.
// Requires: an even number of processes.
// Cost:     ⌈log₂P⌉ rounds and messages, P − 1 blocks per rank, no extra memory.
//
//            before      round 0     round 1                   (distances −1, 1)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . *     0 * * 0
//   block 1  . 1 . .     . 1 * .     * 1 1 *
//   block 2  . . 2 .     . * 2 .     * 2 2 *
//   block 3  . . . 3     * . . 3     3 * * 3       (* arrives in this round)
//
//            before         round 0        round 1        round 2          (distances 3, −1, 1; P = 6: in the
//   rank     0 1 2 3 4 5    0 1 2 3 4 5    0 1 2 3 4 5    0 1 2 3 4 5       last round ranks 4 and 5 have both)
//   block 0  0 . . . . .    0 . . * . .    0 . . 0 * *    0 * * 0 0 0
//   block 1  . 1 . . . .    . 1 . . * .    . 1 * * 1 .    * 1 1 1 1 *
#include "collective/allgather/allgather_blocks.hpp"
#include "collective/parts/negabinary_exchange.hpp"

namespace convene::collective {
namespace {

void generate_allgather_swing(const Call& call, Builder& builder) {
  negabinary_allgather({call.procs, DistanceOrder::far_first}, call, builder);
}

}  // namespace

extern constinit const Algorithm allgather_swing = {
    .name = "swing",
    .summary = "Partners at the distances …, 5, 3, 1, 1, alternately above and below, exchange blocks.",
    .source = "De Sensi et al. 2024 (arXiv 2401.09356), section 3",
    .collectives = allgathers,
    .requirement = Requirement::even,
    .rounds = "⌈log₂P⌉",
    .generate = generate_allgather_swing,
};

}  // namespace convene::collective
