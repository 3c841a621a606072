// SPDX-License-Identifier: BSD-3-Clause
// SLS (sorted linear synchronized tree): BSLS (gather_bsls.cpp) without the background. The root starts when
// it has arrived, and requests the blocks in the order in which the ranks are expected.
//
// Source:   named in Proficz 2021, section 2; BSLS without its background thread.
// Requires: nothing. All ranks must have the same forecast, of which only the order matters.
// Cost:     that of BSLS, after the root's arrival.
// Arrivals: from a forecast.
//
// The picture for P = 4 and P = 5 is that of gather_bsls.cpp; its round 0 starts when the root has arrived.
// In the schedule the root's messages depend on the copy of its own block. (Under MPI_IN_PLACE there is no
// such copy to depend on: the schedule must not start before the call.)
#include "collective/gather/gather_in_turn.hpp"

namespace convene::collective {
namespace {

void generate_gather_sls(const Call& call, Builder& builder) {
  gather_in_turn(call, builder, Begins::at_call);
}

constexpr Parameter gather_sls_parameters[] = {segments_of_block()};

}  // namespace

extern constinit const Algorithm gather_sls = {
    .name = "sls",
    .summary = "After its own arrival, the root requests the blocks in the order of expected arrival.",
    .source = "named in Proficz 2021, section 2; BSLS (section 3.2) without the background",
    .collectives = gathers,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "2(P − 1)",
    .parameters = gather_sls_parameters,
    .relays = true,
    .generate = generate_gather_sls,
};

}  // namespace convene::collective
