// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/simulation_request.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiment/interruption.hpp"
#include "simulate/engine/simulation_options.hpp"

namespace convene::experiment {
namespace {

SimulatedPlatform cluster() {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:4 core:2");
  platform.within = {{.latency = 1e-6, .bandwidth = 1e9}};
  platform.network.node = {.latency = 1e-5, .bandwidth = 1e8};
  platform.cpu = {.send = 1e-7, .recv = 1e-7, .copy = 1e-10};
  return platform;
}

SimulationRequest ring_of_4() {
  return {.collective = "allgather",
          .spec = "ring",
          .procs = 4,
          .placement = "cyclic",
          .sizes = {1e4},
          .arrivals = {{0, 0, 0, 0}}};
}

/// The error of a request, or "(no error)".
std::string error_of(const SimulationRequest& request) {
  try {
    simulate_requested(request, cluster());
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(SimulationRequest, RunsEveryPatternAtEverySize) {
  SimulationRequest request = ring_of_4();
  request.sizes = {1e3, 1e6};
  request.arrivals.push_back({0, 0, 0, 1});
  request.exits = true;
  int runs = 0;
  const auto found = simulate_requested(request, cluster(), {}, [&] { ++runs; });
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(runs, 4);
  for (const SimulationSummary& run : found) {
    EXPECT_EQ(run.messages, 12u);
    EXPECT_EQ(run.exits.size(), 4u);
  }
  EXPECT_EQ(found[0].bytes, 12e3);
  EXPECT_EQ(found[2].bytes, 12e6);
  // One round of four nodes: two latencies and the bytes, three times, and the processors.
  EXPECT_NEAR(found[2].slowest, 3 * (2e-5 + 1e6 / 1e8), 1e-3);
  EXPECT_GT(found[1].slowest, 1);
  EXPECT_GT(found[2].busiest.at("node"), 0.9);
}

TEST(SimulationRequest, PatternsHaveNoiseOfTheirOwnAndSizesShareIt) {
  SimulationRequest request = ring_of_4();
  request.sizes = {8, 8};
  request.arrivals = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  request.noise = "exponential";
  request.noise_mean = 1e-5;
  const auto found = simulate_requested(request, cluster());
  EXPECT_NE(found[0].slowest, found[1].slowest);
  EXPECT_EQ(found[0].slowest, found[2].slowest);
  request.stream = 1;
  EXPECT_EQ(simulate_requested(request, cluster())[0].slowest, found[1].slowest);
}

TEST(SimulationRequest, EqualBlocksAreTheSameAsASize) {
  SimulationRequest request = ring_of_4();
  const auto by_size = simulate_requested(request, cluster());
  request.blocks = {{1e4, 1e4, 1e4, 1e4}};
  const auto by_block = simulate_requested(request, cluster());
  EXPECT_EQ(by_size[0].slowest, by_block[0].slowest);
  request.blocks = {{4e4, 0, 0, 0}};
  EXPECT_EQ(simulate_requested(request, cluster())[0].messages, 3u);  // empty messages are omitted
}

TEST(SimulationRequest, ASharedPlaceHasTheBytesOfItsBlock) {
  SimulatedPlatform node = cluster();
  node.machine = Machine::parse("node:1 core:4");
  SimulationRequest request = ring_of_4();
  request.collective = "allgatherv";
  request.spec = "shared";
  request.sizes = {1e6};
  request.blocks = {{0, 0, 1e6, 0}};
  // One rank copies it twice, the others once afterwards.
  EXPECT_NEAR(simulate_requested(request, node).front().slowest, 3e-4, 2e-5);
}

TEST(SimulationRequest, AForecastAndAnEarlyStartChangeTheResult) {
  SimulationRequest request = ring_of_4();
  request.spec = "bdr";
  request.sizes = {1e5};
  request.arrivals = {{0.1, 0, 0, 0}};
  const double without = simulate_requested(request, cluster())[0].mean;
  request.forecasts = {{10, 0, 0, 0}};
  request.begins = {{0, 0, 0, 0}};
  EXPECT_LT(simulate_requested(request, cluster())[0].mean, without);
}

TEST(SimulationRequest, OnlineAlgorithmsAreSimulated) {
  SimulationRequest request = ring_of_4();
  request.collective = "bcast";
  request.spec = "arrival_b";
  request.arrivals = {{0, 0, 0, 0}, {0, 1e-3, 0, 2e-3}};
  const auto found = simulate_requested(request, cluster());
  EXPECT_GE(found[1].slowest, 2e-3);
}

TEST(SimulationRequest, RefusesListsThatDoNotFit) {
  const auto contains = [](const SimulationRequest& request, const char* words) {
    const std::string error = error_of(request);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  SimulationRequest request = ring_of_4();
  request.forecasts = {{0, 1, 2, 3}};
  contains(request, "uses no forecast");
  request = ring_of_4();
  request.begins = {{0, 0, 0, 0}, {0, 0, 0, 0}};
  contains(request, "one row for each arrival pattern");
  request.begins.pop_back();
  request.ordered = true;
  contains(request, "have no fixed order of steps");
  request = ring_of_4();
  request.blocks = {{1, 1, 1}};
  contains(request, "one size for each process");
  request.blocks = {{1, 1, 1, 1}, {1, 1, 1, 1}};
  contains(request, "one row for each size");
  request = ring_of_4();
  request.collective = "allreduce";
  request.blocks = {{1, 1, 1, 1}};
  contains(request, "cannot be simulated with unequal blocks");
  request = ring_of_4();
  request.noise = "loud";
  contains(request, "unknown noise 'loud'");
  request = ring_of_4();
  request.root = 4;
  contains(request, "root 4 is out of range (4 processes)");
  request = ring_of_4();
  request.spec = "native";
  contains(request, "native algorithms have no schedule to simulate");
}

TEST(SimulationRequest, RefusesWhatIsTooLarge) {
  SimulationRequest request = ring_of_4();
  EXPECT_EQ(simulation_extent(request, cluster()).refusal, "");
  request.procs = 1u << 16;
  request.collective = "allreduce";
  request.spec = "prr";
  request.placement = "sequential";
  EXPECT_NE(simulation_extent(request, cluster()).refusal.find("steps"), std::string::npos);
}

/// One schedule stands for all ranks of a symmetric algorithm, unless blocks differ; the results are equal to
/// the bit.
TEST(SimulationRequest, ARepresentativeEqualsAllRanks) {
  SimulationRequest request{.collective = "allgather", .spec = "recursive_doubling", .procs = 4096};
  request.sizes = {8};
  request.arrivals = {std::vector<double>(request.procs, 0.0)};
  const auto represented = simulate_requested(request, cluster());
  request.blocks = {std::vector<double>(request.procs, 8.0)};
  const auto written_out = simulate_requested(request, cluster());
  EXPECT_EQ(represented[0].slowest, written_out[0].slowest);
  EXPECT_EQ(represented[0].messages, written_out[0].messages);
}

TEST(Interruption, StopsUntilItIsReset) {
  Interruption::set(true);
  EXPECT_THROW(simulate_requested(ring_of_4(), cluster(), Interruption::token()), Interrupted);
  Interruption::set(false);
  EXPECT_EQ(simulate_requested(ring_of_4(), cluster(), Interruption::token()).size(), 1u);
}

}  // namespace
}  // namespace convene::experiment
