// SPDX-License-Identifier: BSD-3-Clause
// Simulation request: one algorithm on a platform, for several sizes and patterns of arrival.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "experiment/experiment_names.hpp"
#include "experiment/given_plan.hpp"
#include "experiment/prepared_plan.hpp"
#include "schedule/core/schedule.hpp"
#include "simulate/engine/simulation_result.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::experiment {

struct SimulationRequest {
  std::string collective;
  std::string spec;  ///< the algorithm with its parameters, as in rules: "sparbit;send=packed"
  Rank procs = 0, root = 0;
  std::string placement = "sequential";
  std::vector<double> sizes;                  ///< bytes of a block
  std::vector<std::vector<double>> arrivals;  ///< by pattern: seconds for each rank

  bool exact = false;  ///< max-min fair contention
  bool critical_path = false;
  bool exits = false;    ///< report the exit of every rank
  bool ordered = false;  ///< steps in the executor's compiled order

  std::string noise = "none";  ///< none, exponential, pareto, bernoulli
  double noise_mean = 0, noise_shape = 0;
  std::uint64_t seed = 1, stream = 0;

  // Each is empty, or has one row for each pattern or size.
  std::vector<std::vector<std::int32_t>> forecasts;  ///< by pattern: rounds for each rank
  std::vector<std::vector<double>> begins;  ///< by pattern: seconds at which ranks begin (in the background)
  std::vector<std::vector<double>> blocks;  ///< by size: bytes of each rank's block

  /// A plan from a file, in place of `spec`, of the same collective, number of processes and root.
  std::shared_ptr<const GivenPlan> given = nullptr;
};

/// One run. Times are in seconds.
struct SimulationSummary {
  double slowest = 0;  ///< from the first arrival to the last exit
  double mean = 0;     ///< from arrival to exit, over ranks
  double waiting = 0;
  double slowest_bound = 0;  ///< no algorithm is faster (simulate/platform/lower_bound.hpp)
  double mean_bound = 0;
  std::uint64_t messages = 0;
  double bytes = 0;
  std::map<std::string, double> busiest;  ///< by kind: the busiest channel's share of the time
  std::vector<CriticalStep> path;
  std::vector<double> exits;  ///< if requested
};

/// Simulates every pattern at every size: the patterns of the first size first. Each pattern has a stream of
/// noise of its own, the same for all sizes. `on_run` is called after each run. Throws Error, and Interrupted
/// if `stop` is requested.
std::vector<SimulationSummary> simulate_requested(
    const SimulationRequest& request, const SimulatedPlatform& platform, const std::stop_token& stop = {},
    const std::function<void()>& on_run = [] {});

/// The estimated size of a request's runs, before anything is simulated: refused if it is too large. Online
/// algorithms are not estimated. Sizes and arrivals are ignored. Throws Error.
SimulationExtent simulation_extent(const SimulationRequest& request, const SimulatedPlatform& platform);

}  // namespace convene::experiment
