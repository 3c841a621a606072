// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace convene::arrival {
namespace {

void require_times(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void require_times(std::span<const double> times) {
  require_times(!times.empty(), "times of no rank");
  require_times(std::all_of(times.begin(), times.end(), [](double time) { return std::isfinite(time); }),
                "a time that is not a finite number");
}

void require_calls(std::span<const double> arrivals, std::span<const double> exits) {
  require_times(arrivals);
  require_times(exits);
  require_times(arrivals.size() == exits.size(), "arrivals and exits of different numbers of ranks");
}

double least(std::span<const double> times) { return *std::min_element(times.begin(), times.end()); }
double most(std::span<const double> times) { return *std::max_element(times.begin(), times.end()); }

}  // namespace

double imbalance(std::span<const double> arrivals) {
  require_times(arrivals);
  return most(arrivals) - least(arrivals);
}

bool is_imbalanced(std::span<const double> arrivals, double message) {
  require_times(message > 0 && std::isfinite(message), "a message that takes no time");
  return imbalance(arrivals) / message >= 1;
}

std::vector<double> elapsed(std::span<const double> arrivals, std::span<const double> exits) {
  require_calls(arrivals, exits);
  std::vector<double> result(arrivals.size());
  std::transform(exits.begin(), exits.end(), arrivals.begin(), result.begin(), std::minus<>());
  return result;
}

double mean_elapsed(std::span<const double> arrivals, std::span<const double> exits) {
  const std::vector<double> each = elapsed(arrivals, exits);
  return std::accumulate(each.begin(), each.end(), 0.0) / static_cast<double>(each.size());
}

double run_time(std::span<const double> arrivals, std::span<const double> exits) {
  require_calls(arrivals, exits);
  return most(exits) - least(arrivals);
}

double last_arrival_to_last_exit(std::span<const double> arrivals, std::span<const double> exits) {
  require_calls(arrivals, exits);
  return most(exits) - most(arrivals);
}

double absorption(double balanced_run_time, double run_time, double imbalance) {
  return balanced_run_time - run_time + imbalance;
}

double normalised_absorption(double balanced_run_time, double run_time, double imbalance) {
  require_times(balanced_run_time > 0, "a balanced run that takes no time");
  return absorption(balanced_run_time, run_time, imbalance) / balanced_run_time;
}

double normalised_imbalance(double balanced_run_time, double imbalance) {
  require_times(balanced_run_time > 0, "a balanced run that takes no time");
  return imbalance / balanced_run_time;
}

std::vector<std::int32_t> to_ticks(std::span<const Nanoseconds> arrivals, Nanoseconds round) {
  require_times(round > 0, "a round that takes no time");
  std::vector<std::int32_t> result;
  if (arrivals.empty()) return result;
  const auto first = static_cast<std::uint64_t>(*std::min_element(arrivals.begin(), arrivals.end()));
  constexpr std::uint64_t latest = std::numeric_limits<std::int32_t>::max();
  for (const Nanoseconds arrival : arrivals) {
    const std::uint64_t after = static_cast<std::uint64_t>(arrival) - first;  // fits: both may have any sign
    result.push_back(static_cast<std::int32_t>(std::min(after / static_cast<std::uint64_t>(round), latest)));
  }
  return result;
}

}  // namespace convene::arrival
