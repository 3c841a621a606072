// SPDX-License-Identifier: BSD-3-Clause
// BSBN (background sorted binomial tree): SBN (scatter_sbn.cpp) in which ranks receive and forward blocks
// before they arrive: into scratch, from which the own block is copied at the call.
//
// Source:   named in Proficz 2021, section 2; the order of the ranks in the tree is this project's.
// Requires: nothing. All ranks must have the same forecast, of which only the order matters.
// Cost:     that of SBN, and a block more of extra memory, and a copy of it, at each rank but the root.
// Arrivals: from a forecast. Receives into scratch, and sends from there, do not depend on the program, so
//           they can run in the background: a rank that arrives much later than expected still forwards its
//           blocks.
//
// The picture for P = 4 and P = 5 is that of scatter_sbn.cpp.
#include "collective/scatter/scatter_in_turn.hpp"

namespace convene::collective {
namespace {

void generate_scatter_bsbn(const Call& call, Builder& builder) {
  scatter_sorted_binomial(call, builder, Begins::in_background);
}

}  // namespace

extern constinit const Algorithm scatter_bsbn = {
    .name = "bsbn",
    .summary =
        "A binomial tree that serves early ranks first; the background threads of "
        "ranks that have not arrived relay blocks.",
    .source = "named in Proficz 2021, section 2; the design is this project's",
    .collectives = scatters,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "⌈log₂P⌉",
    .relays = true,
    .generate = generate_scatter_bsbn,
};

}  // namespace convene::collective
