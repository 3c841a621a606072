// SPDX-License-Identifier: BSD-3-Clause
// SLT (sorted linear tree): the ranks form a chain in the order in which they are expected. Segments move
// along it and collect contributions, so the contributions of the early ranks are summed when the last rank
// arrives. The last rank completes the sums and sends them back along the chain.
//
// Source:   Proficz 2018 and 2021, section 2, name it as a linear tree sorted by arrival times; the design is
//           this project's.
// Requires: a commutative operator: contributions are combined in the order of arrival. All ranks must have
//           the same forecast, of which only the order matters; without one it is the order of ranks.
// Cost:     2P − 3 + N rounds, 2N messages and N combines of 1/N vector per rank; one vector of extra memory.
//           P − 2 + N rounds after the last arrival, if the forecast is right and the last rank is late
//           enough.
// Arrivals: from a forecast. Each rank's first send waits for its own arrival; earlier messages are received
//           meanwhile.
//
// P = 4, N = 2, rank 1 late: a = (0, 5, 0, 0). The chain is 0 → 2 → 3 → 1, and back. Segments a and b; what
// is combined:
//
//            round 0      round 1       round 2        round 3
//   rank     0 1 2  3     0 1  2  3     0 1   2 3      0   1   2  3
//   a        - . 02 3     - .  -  023   - all - -      .   all .  all
//   b        0 1 2  3     - .  02 3     - .   - 023    .   all .  .
//
//            round 4            round 5            round 6
//   rank     0   1   2   3      0   1   2   3      0   1   2   3
//   a        .   all all all    all all all all    all all all all
//   b        .   all .   all    .   all all all    all all all all
//
// P = 5 adds a link to the chain: a round on the way there, and one on the way back.
#include <algorithm>

#include "collective/core/forecast.hpp"
#include "collective/parts/reduction.hpp"

namespace convene::collective {
namespace {

void generate_allreduce_slt(const Call& call, Builder& builder) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  const std::vector<Rank> chain = in_expected_order(expected_delays(call));
  const auto own = static_cast<Rank>(std::find(chain.begin(), chain.end(), call.rank) - chain.begin());
  const Rank last = call.procs - 1;
  Partial partial(call, builder, segments, {.at_output = true});
  // Segment s is `links` links from the beginning of the chain in round s + links; the way back starts at the
  // end.
  const std::uint32_t back = 2 * last - own;
  for (std::uint32_t round = 0; round < segments + 2 * last; ++round) {
    builder.round(round);
    const auto segment_after = [&](std::uint32_t links) { return Place{round - links}; };
    const auto passes = [&](std::uint32_t links) { return links <= round && round - links < segments; };
    if (own > 0 && passes(own - 1)) partial.take(chain[own - 1], segment_after(own - 1), OperandOrder::above);
    if (own < last && passes(own)) partial.send(chain[own + 1], segment_after(own));
    if (own < last && passes(back - 1)) partial.replace(chain[own + 1], segment_after(back - 1));
    if (own > 0 && passes(back)) partial.send(chain[own - 1], segment_after(back));
  }
  partial.settle(run_of_places(0, segments));
}

constexpr Parameter allreduce_slt_parameters[] = {segments_parameter(16)};

}  // namespace

extern constinit const Algorithm allreduce_slt = {
    .name = "slt",
    .summary = "Segments travel along a chain of the ranks in the order of expected arrival, and back.",
    .source = "named in Proficz 2021, section 2 (sorted linear tree); the design is this project's",
    .collectives = {Collective::allreduce},
    .arrival_source = ArrivalSource::forecast,
    .rounds = "2P − 3 + N of 1/N vector each; P − 2 + N after a late last arrival",
    .parameters = allreduce_slt_parameters,
    .commutative_only = true,
    .generate = generate_allreduce_slt,
};

}  // namespace convene::collective
