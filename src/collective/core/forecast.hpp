// SPDX-License-Identifier: BSD-3-Clause
// Forecasts of arrivals: orders of ranks for the generators that use one.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/core/call.hpp"

namespace convene::collective {

/// How many rounds after the earliest each rank is expected; all 0 without a forecast. Throws
/// std::logic_error where the forecast is not one of so many ranks.
std::vector<std::uint32_t> expected_delays(const Call& call);

/// The ranks in the order in which they are expected; those expected together in the order of their numbers.
std::vector<Rank> in_expected_order(const std::vector<std::uint32_t>& delays);

/// All but the root, as they are expected; those expected together from the root upwards.
std::vector<Rank> others_in_expected_order(const Call& call);

/// The rank that is expected last; of those expected together, the lowest.
Rank latest(const std::vector<std::uint32_t>& delays);

/// Which rank stands where: `positions`, in an order of preference, are given to the ranks as they are
/// expected, the earliest first. Position 0 is the root's. Ranks expected together stand where they would
/// without a forecast: rank v above the root at position v.
std::vector<Rank> ranks_at(const std::vector<Rank>& positions, const Call& call);

/// The positions of a binomial tree, those with most hops to the root first, and of these the farthest.
std::vector<Rank> by_hops_to_root(Rank procs);

}  // namespace convene::collective
