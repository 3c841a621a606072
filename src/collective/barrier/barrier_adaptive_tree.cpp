// SPDX-License-Identifier: BSD-3-Clause
// Adaptive tree barrier: a binomial tree whose root is the rank that is expected last, and in which a rank is
// the nearer to the root the later it is expected. So all other signals have arrived when the last rank
// enters, and it only releases all ranks.
//
// Source:   Proficz 2021, section 2, describes Mamidala et al.: gather and broadcast over a tree whose root,
//           marked by a token, moves to a late process. There the token moves at run time, with hardware
//           support of the network; here a forecast chooses the root, and the order of the other ranks is
//           this project's choice.
// Requires: nothing. All ranks must have the same forecast; without one rank 0 is the root.
// Cost:     2⌈log₂P⌉ rounds, ⌈log₂P⌉ after the last arrival; 2(P − 1) empty messages of all ranks together,
//           where dissemination needs P⌈log₂P⌉.
// Arrivals: from a forecast, of which only the order matters. A wrong forecast costs as much as an ordinary
//           binomial tree.
//
// P = 4, a = (0, 5, 1, 0): rank 1 is the root, rank 2 and 3 are its children, and rank 0 is rank 3's:
//
//            before      round 0     round 1     round 2     round 3
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 . . *     0 * . 0     0 0 . 0     0 0 * 0
//   block 1  . 1 . .     . 1 . .     . 1 . .     . 1 . *     * 1 * 1
//   block 2  . . 2 .     . * 2 .     . 2 2 .     . 2 2 *     * 2 2 2
//   block 3  . . . 3     . . . 3     . * . 3     . 3 . 3     * 3 * 3       (* arrives in this round)
//
// For P = 5 and a fifth rank that arrives first, that rank is a leaf, too.
#include "collective/barrier/barrier_tree.hpp"
#include "collective/core/forecast.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_barrier_adaptive_tree(const Call& call, Builder& builder) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  Call rooted = call;
  rooted.root = latest(delays);
  on_positions(ranks_at(by_hops_to_root(call.procs), rooted), rooted, builder,
               [&](const Call& inner) { barrier_over_tree(knomial_split(1), inner, builder); });
}

}  // namespace

extern constinit const Algorithm barrier_adaptive_tree = {
    .name = "adaptive_tree",
    .summary = "Empty messages travel up a binomial tree to the rank that is expected last, and down again.",
    .source = "after Mamidala et al., as described in Proficz 2021, section 2; from a forecast: this project",
    .collectives = {Collective::barrier},
    .arrival_source = ArrivalSource::forecast,
    .rounds = "2⌈log₂P⌉, of which ⌈log₂P⌉ after the last arrival",
    .generate = generate_barrier_adaptive_tree,
};

}  // namespace convene::collective
