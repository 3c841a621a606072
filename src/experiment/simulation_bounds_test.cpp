// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds against simulations of all algorithms, over random cases.
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>

#include "base/error.hpp"
#include "collective/core/algorithm.hpp"
#include "experiment/simulation_request.hpp"

namespace convene::experiment {
namespace {

/// The grid of simulated time rounds each event.
constexpr double rounding = 1e-10;

class RandomCase {
 public:
  explicit RandomCase(unsigned seed) : random_(seed) {}

  SimulatedPlatform platform() {
    SimulatedPlatform made;
    made.machine = Machine::parse(
        one_of<std::string>({"node:12 core:1", "node:4 core:3", "node:1 core:12", "node:3 socket:2 core:2"}));
    const auto levels = made.machine.levels().size();
    for (std::size_t level = 1; level < levels; ++level) made.within.push_back(link(1e-7, 1e10));
    made.network.node = link(1e-6, 1e9);
    if (one_of({true, false}) && made.machine.nodes() == 12) {
      made.network.shape = NetworkShape::tree;
      made.network.leaves = {4, 8};
      made.network.uplink = link(1e-6, 2e9);
    } else if (one_of({true, false}) && made.machine.nodes() == 4) {
      made.network.shape = NetworkShape::fat_tree;
      made.network.down = {2, 2};
      made.network.up = {1};
      made.network.uplink = link(1e-6, 1e9);
    }
    made.cpu = {.send = one_of({0.0, 1e-7, 1e-6}),
                .recv = one_of({0.0, 1e-7, 1e-6}),
                .copy = one_of({0.0, 1e-10}),
                .combine = one_of({0.0, 1e-10})};
    made.gap = one_of({0.0, 0.0, 2e-6});
    made.eager = one_of({0.0, 4096.0, 1e18});
    made.rendezvous_handshake = one_of({true, false});
    made.ports = one_of({0u, 1u, 2u});
    return made;
  }

  SimulationRequest request(const CollectiveTraits& collective, const std::string& spec) {
    SimulationRequest made{.collective = std::string(collective.name), .spec = spec};
    made.procs = one_of({2u, 3u, 4u, 7u, 8u, 12u});
    made.root = collective.has_root ? random_() % made.procs : 0;
    made.placement = one_of<std::string>({"sequential", "cyclic"});
    made.sizes = {one_of({0.0, 1.0, 8.0, 4000.0, 65536.0})};
    made.exact = one_of({true, false});
    const double spread = one_of({0.0, 1e-6, 1e-5, 1e-4});
    std::vector<double> arrivals(made.procs);
    for (double& arrival : arrivals) arrival = spread * one_of({0.0, 0.0, 0.3, 0.7, 1.0});
    made.arrivals = {arrivals};
    if (one_of({true, false, false})) made.begins = {std::vector<double>(made.procs)};
    return made;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  Link link(double latency, double bandwidth) {
    return {.latency = one_of({0.0, latency}),
            .bandwidth = bandwidth,
            .shared = one_of({Shared::each_way, Shared::both_ways, Shared::no})};
  }

  std::mt19937 random_;
};

TEST(SimulationBounds, NoAlgorithmIsFasterThanTheBound) {
  RandomCase random(1);
  int cases = 0, reached = 0;
  for (const Collective each : all_collectives)
    for (const Algorithm* algorithm : catalogue(each))
      for (int i = 0; i < 60; ++i) {
        const CollectiveTraits& collective = traits(each);
        const SimulatedPlatform platform = random.platform();
        const SimulationRequest request = random.request(collective, std::string(algorithm->name));
        SimulationSummary run;
        try {
          run = simulate_requested(request, platform).front();
        } catch (const Error&) {
          continue;  // not for this number of ranks, or no schedule
        }
        ++cases;
        reached += run.slowest > 0 && run.slowest - run.slowest_bound < rounding;
        ASSERT_LE(run.slowest_bound, run.slowest + rounding)
            << collective.name << ' ' << algorithm->name << ' ' << request.procs << ' ' << request.sizes[0];
        ASSERT_LE(run.mean_bound, run.mean + rounding)
            << collective.name << ' ' << algorithm->name << ' ' << request.procs << ' ' << request.sizes[0];
        ASSERT_GE(run.slowest_bound, 0);
      }
  EXPECT_GT(cases, 3000);
  EXPECT_GT(reached, cases / 20);
}

TEST(SimulationBounds, TheRootOfABroadcastSendsNothingBeforeItArrives) {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:2 core:1");
  platform.within = {{}};
  platform.network.node = {.latency = 1e-6, .bandwidth = 1e9};
  SimulationRequest request{.collective = "bcast", .spec = "linear", .procs = 2, .sizes = {1000}};
  request.arrivals = {std::vector<double>{1e-4, 0}};
  request.begins = {std::vector<double>{0, 0}};  // in the background
  request.exits = true;
  EXPECT_NEAR(simulate_requested(request, platform).front().exits[1], 1e-4 + 3e-6, rounding);
}

}  // namespace
}  // namespace convene::experiment
