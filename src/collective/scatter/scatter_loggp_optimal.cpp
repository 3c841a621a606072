// SPDX-License-Identifier: BSD-3-Clause
// LogGP-optimal scatter: a rank that holds m blocks sends n of them to another rank, and both continue with
// their parts. n minimises the time of the last rank in the LogGP model: t(m) = min over 0 < n < m of
// n(s − 1)G + max{L′ + t(n), g + t(m − n)}, L′ = o + L + o.
//
// Source:   Viertel, section 5.1.3, after Alexandrov, Ionescu, Schauser and Scheiman 1997. Charging whole
//           messages (parameter charge) is literal LogGP.
// Requires: nothing. All ranks must be given the same parameters.
// Cost:     t(P) in the model; all but the root receive one message, the root sends P − 1 blocks. In scratch
//           up to P − 1 blocks, at the ranks inside the tree.
//
//   Root 0; L′ = 8, g = 3, s = 1: t = 16. A rank that can send again long before its last message arrives
//   keeps more than half.
//
//            before      round 0     round 1     round 2
//   rank     0 1 2 3 4   0 1 2 3 4   0 1 2 3 4   0 1 2 3 4
//   block 0  0 . . . .   0 . . . .   0 . . . .   0 . . . .
//   block 1  1 . . . .   1 . . . .   1 . . . .   1 * . . .
//   block 2  2 . . . .   2 . . . .   2 . * . .   2 . 2 . .
//   block 3  3 . . . .   3 . . * .   3 . . 3 .   3 . . 3 .
//   block 4  4 . . . .   4 . . * .   4 . . 4 *   4 . . 4 4           (* arrives in this round)
//
//   With four ranks the root sends each block straight to its rank under these costs, the farthest first.
#include "collective/parts/loggp_parameters.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_scatter_loggp_optimal(const Call& call, Builder& builder) {
  const LogGPTree tree(loggp_costs(call.parameters), call.procs);
  scatter_down(tree.split(), call, builder);
}

}  // namespace

extern constinit const Algorithm scatter_loggp_optimal = {
    .name = "loggp_optimal",
    .summary = "A tree that is optimal under the LogGP model.",
    .source = "Viertel 2007, section 5.1.3, after Alexandrov et al. 1997",
    .collectives = scatters,
    .rounds = "⌈log₂P⌉ to P − 1, depending on the costs",
    .parameters = loggp_parameters,
    .relays = true,
    .generate = generate_scatter_loggp_optimal,
};

}  // namespace convene::collective
