// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/call_statistics.hpp"

#include <stdexcept>

#include "arrival/statistics.hpp"

namespace convene::experiment {

CallStatistics call_statistics(const std::vector<std::vector<double>>& arrivals,
                               const std::vector<std::vector<double>>& exits) {
  if (arrivals.size() != exits.size()) throw std::invalid_argument("as many arrivals as exits are needed");
  CallStatistics result;
  for (std::size_t call = 0; call < arrivals.size(); ++call) {
    result.imbalance.push_back(imbalance(arrivals[call]));
    result.mean_elapsed.push_back(mean_elapsed(arrivals[call], exits[call]));
    result.run_time.push_back(run_time(arrivals[call], exits[call]));
    result.last_arrival_to_last_exit.push_back(last_arrival_to_last_exit(arrivals[call], exits[call]));
  }
  return result;
}

std::string shortest_pattern(const std::string& text, std::uint32_t procs) {
  const Pattern pattern = Pattern::parse(text);
  pattern.delays(procs);  // throws if it does not fit
  return pattern.text();
}

std::vector<std::vector<Nanoseconds>> delays_of_calls(const std::string& text, std::uint32_t procs,
                                                      std::uint64_t calls, std::uint64_t seed) {
  const Pattern pattern = Pattern::parse(text);
  const std::uint64_t wanted = pattern.period() == 0 ? calls : pattern.period();
  std::vector<std::vector<Nanoseconds>> result;
  for (std::uint64_t call = 0; call < wanted; ++call) result.push_back(pattern.delays(procs, seed, call));
  return result;
}

}  // namespace convene::experiment
