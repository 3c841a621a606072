// SPDX-License-Identifier: BSD-3-Clause
#include "collective/forecast.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace convene {

std::vector<std::uint32_t> expected_delays(const Call& call) {
  std::vector<std::uint32_t> delays(call.procs, 0);
  if (call.arrivals.empty()) return delays;
  if (call.arrivals.size() != call.procs)
    throw std::logic_error("a forecast of arrivals for another number of processes");
  const std::int64_t earliest = *std::min_element(call.arrivals.begin(), call.arrivals.end());
  for (Rank rank = 0; rank < call.procs; ++rank)
    delays[rank] = static_cast<std::uint32_t>(call.arrivals[rank] - earliest);
  return delays;
}

std::vector<Rank> in_expected_order(const std::vector<std::uint32_t>& delays) {
  std::vector<Rank> order(delays.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return delays[a] < delays[b]; });
  return order;
}

}  // namespace convene
