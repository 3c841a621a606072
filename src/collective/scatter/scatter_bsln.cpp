// SPDX-License-Identifier: BSD-3-Clause
// BSLN (background sorted linear): SLN (scatter_sln.cpp) in which ranks receive their blocks before they
// arrive: into scratch, from which they are copied at the call.
//
// Source:   named in Proficz 2021, section 2 (a linear tree sorted by arrival times, supported by a
//           background thread).
// Requires: nothing. All ranks must have the same forecast, of which only the order matters.
// Cost:     P − 1 messages from the root; a block of extra memory, and a copy of it, at each other rank.
// Arrivals: from a forecast. Receives into scratch do not depend on the program, so they can run in the
//           background.
//
// P = 4, root 0, a = (0, 5, 0, 1): the order is 2, 3, 1, and the blocks are received in rounds 0, 1 and 2, as
// in scatter_sln.cpp; rank 1 has its own when it arrives. P = 5 takes a round more.
#include "collective/scatter/scatter_in_turn.hpp"

namespace convene::collective {
namespace {

void generate_scatter_bsln(const Call& call, Builder& builder) {
  scatter_in_turn(call, builder, Begins::in_background);
}

}  // namespace

extern constinit const Algorithm scatter_bsln = {
    .name = "bsln",
    .summary =
        "The root sends the blocks in the order of expected arrival; ranks receive them before the call.",
    .source = "named in Proficz 2021, section 2; the design is this project's",
    .collectives = scatters,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "P − 1",
    .generate = generate_scatter_bsln,
};

}  // namespace convene::collective
