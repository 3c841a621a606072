// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/simulator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "simulate/contention/equal_share.hpp"
#include "simulate/contention/max_min_fair.hpp"
#include "simulate/engine/simulation_messages.hpp"  // IWYU pragma: keep (defines members of SimulationRun)
#include "simulate/engine/simulation_run.hpp"
#include "simulate/engine/simulation_steps.hpp"  // IWYU pragma: keep (defines members of SimulationRun)
#include "simulate/engine/simulator_state.hpp"

namespace convene::simulate {
namespace {

// Types of this file make the instantiations local to it: the compiler inlines functions that are called
// once.
struct LocalEqualShare : EqualShare {
  using EqualShare::EqualShare;
};
struct LocalMaxMinFair : MaxMinFair {
  using MaxMinFair::MaxMinFair;
};

void require_times(std::span<const double> times, const char* what) {
  for (Rank rank = 0; rank < times.size(); ++rank)
    if (!std::isfinite(times[rank]) || times[rank] < 0)
      throw Error(fmt::format("rank {} {} at {} s; times must be 0 or later", rank, what, times[rank]));
}

void require_orders(const Workload& workload, const SimulationOptions& options) {
  const std::size_t orders = options.orders.size();
  if (orders > 1 && orders != workload.procs())
    throw Error(fmt::format("the plan has {} ranks, but there are {} orders", workload.procs(), orders));
  if (orders > 0 && !options.begins.empty())
    throw Error("ranks that start before they arrive cannot have a fixed order of steps");
}

void require_arrivals(const Workload& workload, std::span<const double> arrivals, const Seating& seating,
                      std::span<const double> begins) {
  if (arrivals.size() != workload.procs() || seating.cpu.size() != workload.procs())
    throw Error(fmt::format("the plan has {} ranks, but there are {} arrivals and {} seats", workload.procs(),
                            arrivals.size(), seating.cpu.size()));
  if (!begins.empty() && begins.size() != workload.procs())
    throw Error(
        fmt::format("the plan has {} ranks, but there are {} start times", workload.procs(), begins.size()));
  require_times(arrivals, "arrives");
  require_times(begins, "begins");
  if (workload.procs() > ~engine::kind_bits)
    throw Error(fmt::format("{} processes are too many; the simulator supports at most {}", workload.procs(),
                            ~engine::kind_bits));
}

}  // namespace

SimulationResult run_simulation(const Workload& workload, const SimulatedPlatform& platform,
                                const Seating& seating, std::span<const double> arrivals,
                                const SimulationOptions& options) {
  require_arrivals(workload, arrivals, seating, options.begins);
  require_orders(workload, options);
  if (options.contention == Contention::max_min_fair)
    return engine::SimulationRun<LocalMaxMinFair>(workload, platform, seating, arrivals, options).run();
  return engine::SimulationRun<LocalEqualShare>(workload, platform, seating, arrivals, options).run();
}

}  // namespace convene::simulate
