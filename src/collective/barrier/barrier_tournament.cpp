// SPDX-License-Identifier: BSD-3-Clause
// Tournament barrier: ranks meet in pairs at distance 1, then 2, then 4, …; the upper rank signals the lower
// one and drops out, the lower one continues. The last one, rank 0, has then received a signal from all, and
// the signals return the same way: a binomial tree, up and down. (If P is no power of two, some pairs meet
// later than others at the same distance.)
//
// Source:   Hensgen, Finkel and Manber 1988, for the way up; folklore.
// Requires: nothing.
// Cost:     2⌈log₂P⌉ rounds; 2(P − 1) empty messages of all ranks together, at most ⌈log₂P⌉ of one.
//
//            before      round 0     round 1     round 2     round 3
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . .     0 . . .     0 . * .     0 * 0 *
//   block 1  . 1 . .     * 1 . .     1 1 . .     1 1 * .     1 1 1 *
//   block 2  . . 2 .     . . 2 .     * . 2 .     2 . 2 .     2 * 2 *
//   block 3  . . . 3     . . * 3     * . 3 3     3 . 3 3     3 * 3 3       (* arrives in this round)
#include "collective/barrier/barrier_tree.hpp"

namespace convene::collective {
namespace {

void generate_barrier_tournament(const Call& call, Builder& builder) {
  barrier_over_tree(knomial_split(1), call, builder);
}

}  // namespace

extern constinit const Algorithm barrier_tournament = {
    .name = "tournament",
    .summary =
        "Of each pair, one rank reports to the other until rank 0 knows of all; ranks are released in "
        "reverse order.",
    .source = "Hensgen, Finkel and Manber 1988 (the way up)",
    .collectives = {Collective::barrier},
    .rounds = "2⌈log₂P⌉",
    .generate = generate_barrier_tournament,
};

}  // namespace convene::collective
