// SPDX-License-Identifier: BSD-3-Clause
// What generators that use a forecast of arrivals have in common.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// How many rounds after the earliest each rank is expected; all 0 without a forecast. Throws std::logic_error where
/// the forecast is not one of so many ranks.
std::vector<std::uint32_t> expected_delays(const Call& call);

/// The ranks in the order in which they are expected; those expected together in the order of their numbers.
std::vector<Rank> in_expected_order(const std::vector<std::uint32_t>& delays);

/// All but the root, as they are expected; those expected together from the root upwards.
std::vector<Rank> others_in_expected_order(const Call& call);

/// The rank that is expected last; of those expected together, the lowest.
Rank latest(const std::vector<std::uint32_t>& delays);

/// Which rank stands where: `positions`, in an order of preference, are given to the ranks as they are expected, the
/// earliest first. Position 0 is the root's. Ranks expected together stand where they would without a forecast: rank v
/// above the root at position v.
std::vector<Rank> ranks_at(const std::vector<Rank>& positions, const Call& call);

/// The positions of a binomial tree, those with most hops to the root first, and of these the farthest.
std::vector<Rank> by_hops_to_root(Rank procs);

/// What make() returns: work on the whole plan that each rank's schedule is then read from. Made once a plan where the
/// call can keep it, else once a rank.
template <class Make>
auto keep_work(const Call& call, Make&& make) {
  using Work = decltype(make());
  using Kept = std::shared_ptr<const Work>;
  if (call.kept != nullptr)
    if (const Kept* kept = std::any_cast<Kept>(call.kept)) return *kept;
  Kept work = std::make_shared<const Work>(make());
  if (call.kept != nullptr) *call.kept = work;
  return work;
}

}  // namespace convene::collective
