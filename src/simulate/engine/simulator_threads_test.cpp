// SPDX-License-Identifier: BSD-3-Clause
// Simulations at the same time, as sweeps run them: threads share the workload, the platform and the seating.
// The thread sanitizer runs these tests (./dev test all threads).
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "simulate/engine/simulated_plans_for_test.hpp"
#include "simulate/engine/simulator.hpp"

namespace convene::simulate {
namespace {

TEST(SimulatorThreads, EachHasTheResultOfASimulationAlone) {
  constexpr Rank procs = 16;
  const Plan plan = ring(procs);
  Workload workload = Workload::of(plan);
  workload.set_bytes(1000);
  const SimulatedPlatform platform = cluster(4, 4);
  const Seating seating = seat(platform, "cyclic", procs);
  std::vector<double> arrivals(procs);
  for (Rank rank = 0; rank < procs; ++rank) arrivals[rank] = 1e-6 * rank;
  for (const Contention contention : {Contention::equal_share, Contention::max_min_fair}) {
    const auto exits = [&](std::uint64_t seed) {
      SimulationOptions options{.contention = contention};
      options.noise = {.kind = NoiseKind::pareto, .mean = 1e-6, .shape = 1.5, .seed = seed};
      return convene::simulate::run_simulation(workload, platform, seating, arrivals, options).exits;
    };
    constexpr std::size_t threads = 4;
    std::vector<std::vector<double>> together(threads);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i)
      running.emplace_back([&, i] {
        for (int times = 0; times < 3; ++times) together[i] = exits(i);
      });
    for (std::thread& each : running) each.join();
    for (std::size_t i = 0; i < threads; ++i) EXPECT_EQ(together[i], exits(i)) << i;
  }
}

}  // namespace
}  // namespace convene::simulate
