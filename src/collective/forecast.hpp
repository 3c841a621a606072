// SPDX-License-Identifier: BSD-3-Clause
// What generators that use a forecast of arrivals have in common.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <vector>

#include "collective/algorithm.hpp"

namespace convene {

/// How many rounds after the earliest each rank is expected; all 0 without a forecast. Throws std::logic_error where
/// the forecast is not one of so many ranks.
std::vector<std::uint32_t> expected_delays(const Call& call);

/// The ranks in the order in which they are expected; those expected together in the order of their numbers.
std::vector<Rank> in_expected_order(const std::vector<std::uint32_t>& delays);

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

}  // namespace convene
