// SPDX-License-Identifier: BSD-3-Clause
// SUMMA's plan on the partitions of the τ-Lop thesis: volume, matching, and times against τ-Lop.
#include "experiment/summa_simulation.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "base/error.hpp"
#include "schedule/core/schedule_statistics.hpp"

namespace convene::experiment {
namespace {

const SummaRequest config1{{{149, {{4, 139}, {5, 117}}}, {107, {{0, 81}, {1, 80}, {2, 58}, {3, 37}}}},
                           {0, 0, 0, 0, 1, 1}};
const SummaRequest pair{{{3, {{0, 8}}}, {5, {{1, 8}}}}, {0, 1}};

/// Two nodes; bandwidths of 1 byte a second, no other costs.
SimulatedPlatform plain() {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:2 core:6");
  platform.within = {{.latency = 0, .bandwidth = 1, .shared = Shared::no}};
  platform.network.node = {.latency = 0, .bandwidth = 1};
  platform.eager = 1e18;
  return platform;
}

TEST(SummaSimulation, ItMovesWhatTheSourceSays) {
  // Table A.3: 4952 MB. Rows: 256 blocks in each of 256 iterations; columns: 149 + 3·107 blocks in each.
  const SummaRun run = simulate_summa(config1, 64 * 64 * 8, plain());
  EXPECT_DOUBLE_EQ(run.bytes, 256.0 * (256 + 149 + 3 * 107) * 64 * 64 * 8);
  EXPECT_EQ(run.messages, 256u * 5 + 256u * (1 + 3));  // five messages of rows in either column
}

TEST(SummaSimulation, TwoProcessesTakeTurns) {
  // Every column of A crosses the network once, in iterations that wait for each other; there are no rows.
  EXPECT_DOUBLE_EQ(simulate_summa(pair, 10, plain()).seconds, 8 * 8 * 10.0);
  EXPECT_DOUBLE_EQ(simulate_summa(pair, 10, plain(), true).seconds, 8 * 8 * 10.0);
}

TEST(SummaSimulation, RanksMustHaveARectangle) {
  EXPECT_THROW(std::ignore = summa_plan({{{4, {{0, 3}}}}, {0}}), Error);
}

}  // namespace
}  // namespace convene::experiment
