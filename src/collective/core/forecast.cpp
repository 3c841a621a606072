// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/forecast.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

namespace convene::collective {

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

std::vector<Rank> others_in_expected_order(const Call& call) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  std::vector<Rank> order;
  for (Rank relative = 1; relative < call.procs; ++relative) order.push_back(call.absolute(relative));
  std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return delays[a] < delays[b]; });
  return order;
}

Rank latest(const std::vector<std::uint32_t>& delays) {
  return static_cast<Rank>(std::max_element(delays.begin(), delays.end()) - delays.begin());
}

std::vector<Rank> ranks_at(const std::vector<Rank>& positions, const Call& call) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  std::vector<Rank> order;
  for (const Rank position : positions)
    if (position != 0) order.push_back(call.absolute(position));
  std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return delays[a] < delays[b]; });
  std::vector<Rank> result(call.procs, call.root);
  auto next = order.begin();
  for (const Rank position : positions)
    if (position != 0) result[position] = *next++;
  return result;
}

std::vector<Rank> by_hops_to_root(Rank procs) {
  std::vector<Rank> positions(procs);
  std::iota(positions.begin(), positions.end(), 0);
  std::stable_sort(positions.begin(), positions.end(), [](Rank a, Rank b) {
    const int hops_a = std::popcount(a), hops_b = std::popcount(b);
    return hops_a != hops_b ? hops_a > hops_b : a > b;
  });
  return positions;
}

}  // namespace convene::collective
