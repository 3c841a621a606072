// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/incast.hpp"

#include <gtest/gtest.h>

#include "simulate/engine/simulated_plans_for_test.hpp"

namespace convene::simulate {
namespace {

/// Nodes of one core; links of 1 GB/s; a switch with 64 KiB for a port.
SimulatedPlatform ethernet(double buffer) {
  SimulatedPlatform platform = cluster(8);
  platform.incast.buffer = buffer;
  return platform;
}

const Plan gather = all_to_one(8, {1, 2, 3, 4, 5, 6, 7}, 0);

TEST(Incast, ManyToOneWaitsForTimeouts) {
  const double without = run_simulation(gather, ethernet(0), 65536).end;
  EXPECT_LT(without, 0.001);
  const double with = run_simulation(gather, ethernet(65536), 65536).end;
  EXPECT_GE(with, 0.2);  // one timeout or several
  EXPECT_LT(with, 2);
}

TEST(Incast, SmallMessagesFitIntoTheBuffer) {
  EXPECT_EQ(run_simulation(gather, ethernet(0), 1024).exits,
            run_simulation(gather, ethernet(65536), 1024).exits);
}

TEST(Incast, OneSenderCannotOverflowAPort) {
  // A ring: every port has one sender at a time.
  for (const double bytes : {1e3, 1e6})
    EXPECT_EQ(run_simulation(ring(8), ethernet(0), bytes).exits,
              run_simulation(ring(8), ethernet(1), bytes).exits);
}

TEST(Incast, TheSeedDecides) {
  const auto run = [](std::uint64_t number) {
    return run_simulation(gather, ethernet(65536), 65536, {}, {.noise = {.seed = number}}).exits;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(Incast, BothModelsOfContentionLose) {
  EXPECT_GE(run_simulation(gather, ethernet(65536), 65536, {}, exact).end, 0.2);
}

}  // namespace
}  // namespace convene::simulate
