// SPDX-License-Identifier: BSD-3-Clause
// Forecasts of arrivals: orders of ranks for the generators that use one.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/core/call.hpp"

namespace convene::collective {

/// Expected delay of each rank after the earliest, in rounds; all 0 without a forecast. Throws
/// std::logic_error if the forecast has the wrong number of ranks.
std::vector<std::uint32_t> expected_delays(const Call& call);

/// The ranks in the order in which they are expected; those expected together in the order of their numbers.
std::vector<Rank> in_expected_order(const std::vector<std::uint32_t>& delays);

/// All ranks but the root in the order in which they are expected; those expected together from the root
/// upwards.
std::vector<Rank> others_in_expected_order(const Call& call);

/// The rank that is expected last; of those expected together, the lowest.
Rank latest(const std::vector<std::uint32_t>& delays);

/// Assignment of ranks to positions: `positions`, in an order of preference, are given to the ranks in the
/// order in which they are expected. Position 0 is the root's. Ranks expected together take their positions
/// without a forecast: rank v above the root position v.
std::vector<Rank> ranks_at(const std::vector<Rank>& positions, const Call& call);

/// The positions of a binomial tree: those with most hops to the root first, of these the farthest.
std::vector<Rank> by_hops_to_root(Rank procs);

}  // namespace convene::collective
