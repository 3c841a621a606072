// SPDX-License-Identifier: BSD-3-Clause
// SBN (sorted binomial tree): BSBN (gather_bsbn.cpp) without the background. A rank inside the tree receives
// its children's blocks after its arrival.
//
// Source:   named in Proficz 2021, section 2; the order of the ranks in the tree is this project's.
// Requires: nothing. All ranks must have the same forecast, of which only the order matters.
// Cost:     that of BSBN.
// Arrivals: from a forecast.
//
// The picture for P = 4 and P = 5 is that of gather_bsbn.cpp. In the schedule a rank's receives depend on the
// copy of its own block. (Under MPI_IN_PLACE the root has no such copy: its schedule must not start before
// the call.)
#include "collective/core/forecast.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

void generate_gather_sbn(const Call& call, Builder& builder) {
  on_positions(ranks_at(by_hops_to_root(call.procs), call), call, builder,
               [&](const Call& inner) { gather_up(knomial_split(1), inner, builder, Begins::at_call); });
}

}  // namespace

extern constinit const Algorithm gather_sbn = {
    .name = "sbn",
    .summary = "A binomial tree with late ranks near the root.",
    .source = "named in Proficz 2021, section 2; the order in the tree is this project's",
    .collectives = gathers,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "⌈log₂P⌉; one after a late last arrival",
    .relays = true,
    .generate = generate_gather_sbn,
};

}  // namespace convene::collective
