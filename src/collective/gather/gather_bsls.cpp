// SPDX-License-Identifier: BSD-3-Clause
// BSLS (background sorted linear synchronized tree): the root requests the blocks in the order in which the
// ranks are expected, also while it still computes. A rank that receives its signal answers with a small
// first segment of its block, which announces that the rest is ready, and then sends the rest.
//
// Source:   Proficz 2021, section 3.2 (as the first half of BSLB). The content of a signal is this project's
//           choice: see gather_in_turn.hpp.
// Requires: nothing. All ranks must have the same forecast, of which only the order matters; without one the
//           order is upwards from the root.
// Cost:     the root receives 2(P − 1) messages and sends P − 2 signals, of a segment each; in scratch as
//           many segments at the root, one elsewhere. With one block in flight at a time there is no
//           contention for the root's memory and port.
// Arrivals: from a forecast. The root's receives and signals do not touch its input, so they can be done in
//           the background.
//
// P = 4, root 0, a = (0, 0, 5, 1): the order is 1, 3, 2. (t: first segment, r: the rest; s: signal)
//
//       before    round 0   round 1   round 2   round 3   round 4   round 5
//   rank 0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3   0 1 2 3
//   1t   . 1 . .   * 1 . .   1 1 . s   1 1 . .   1 1 . .   1 1 . .   1 1 . .
//   1r   . 1 . .   . 1 . .   * 1 . .   1 1 . .   1 1 . .   1 1 . .   1 1 . .
//   2t   . . 2 .   . . 2 .   . . 2 .   . . 2 .   . . 2 .   * . 2 .   2 . 2 .
//   2r   . . 2 .   . . 2 .   . . 2 .   . . 2 .   . . 2 .   . . 2 .   * . 2 .
//   3t   . . . 3   . . . 3   . . . 3   * . . 3   3 . s 3   3 . . 3   3 . . 3
//   3r   . . . 3   . . . 3   . . . 3   . . . 3   * . . 3   3 . . 3   3 . . 3       (* arrives)
//
// P = 5 has one more rank to signal.
#include "collective/gather/gather_in_turn.hpp"

namespace convene::collective {
namespace {

void generate_gather_bsls(const Call& call, Builder& builder) {
  gather_in_turn(call, builder, Begins::in_background);
}

constexpr Parameter gather_bsls_parameters[] = {segments_of_block()};

}  // namespace

extern constinit const Algorithm gather_bsls = {
    .name = "bsls",
    .summary =
        "The root requests the blocks in the order of expected arrival, also before it arrives itself.",
    .source = "Proficz 2021, section 3.2",
    .collectives = gathers,
    .arrival_source = ArrivalSource::forecast,
    .rounds = "2(P − 1)",
    .parameters = gather_bsls_parameters,
    .relays = true,
    .generate = generate_gather_bsls,
};

}  // namespace convene::collective
