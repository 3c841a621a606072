// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/time_slices.hpp"

#include <gtest/gtest.h>

#include "simulate/engine/simulated_plans_for_test.hpp"

namespace convene::simulate {
namespace {

using engine::TimeSlices;

const Noise seed{.seed = 7};

TEST(TimeSlices, RanksOfACoreRunInTurn) {
  const TimeSlices slices(1e-3, {0, 0, 0, 1}, seed);
  ASSERT_TRUE(slices.are_on());
  // Whatever the phase: at any time one of the three runs, and the others wait for at most two slices.
  for (double at = 0; at < 9e-3; at += 0.37e-3) {
    int running = 0;
    for (Rank rank = 0; rank < 3; ++rank) {
      const double begins = slices.end(rank, at, 0);
      running += begins == at;
      EXPECT_LE(begins, at + 2.001e-3);
      // 2.5 slices of work last three or four windows, with pauses of two slices between them.
      EXPECT_GE(slices.end(rank, at, 2.5e-3), begins + 2.5e-3 + 4e-3 - 1e-12);
      EXPECT_LE(slices.end(rank, at, 2.5e-3), begins + 2.5e-3 + 6e-3 + 1e-12);
    }
    EXPECT_EQ(running, 1) << at;
    EXPECT_EQ(slices.end(3, at, 5e-3), at + 5e-3);  // alone on its core
  }
}

TEST(TimeSlices, WorkLosesNothingWhenItIsInterrupted) {
  const TimeSlices slices(1e-3, {0, 0}, seed);
  const double begin = slices.end(0, 5e-3, 0);
  for (const double first : {0.2e-3, 1.5e-3, 2e-3})
    EXPECT_NEAR(slices.end(0, slices.end(0, begin, first), 0.7e-3), slices.end(0, begin, first + 0.7e-3),
                1e-12);
}

TEST(TimeSlices, TheyAreOffWithoutSharedCores) {
  EXPECT_FALSE(TimeSlices(1e-3, {0, 1, 2}, seed).are_on());
  EXPECT_FALSE(TimeSlices(0, {0, 0}, seed).are_on());
}

/// A platform of one node with two cores.
SimulatedPlatform node(double slice) {
  SimulatedPlatform platform = cluster(1, 2);
  platform.cpu = {.send = 1e-6, .recv = 1e-6, .copy = 1e-9, .combine = 1e-9};
  platform.time_slice = slice;
  return platform;
}

TEST(TimeSlices, ResultsAreTheSameToTheLastBitWhenNothingIsShared) {
  const SimulationResult off = run_simulation(ring(2), node(0), 4096),
                         on = run_simulation(ring(2), node(1e-3), 4096);
  EXPECT_EQ(off.end, on.end);
  EXPECT_EQ(off.exits, on.exits);
  EXPECT_EQ(off.waiting, on.waiting);
}

TEST(TimeSlices, TheyDelayRanksThatShareACore) {
  // Hops wait for windows, again and again.
  for (const Plan& plan : {ring(8), doubling(8)}) {
    const double off = run_simulation(plan, node(0), 64).end;
    EXPECT_GT(run_simulation(plan, node(1e-3), 64).end, off + 2e-3);
    EXPECT_GT(run_simulation(plan, node(1e-2), 64).end, off + 2e-2);
  }
}

TEST(TimeSlices, TheSeedDecides) {
  const auto run = [](std::uint64_t number, Contention contention) {
    return run_simulation(ring(8), node(1e-3), 64, {}, {.contention = contention, .noise = {.seed = number}})
        .exits;
  };
  EXPECT_EQ(run(1, Contention::equal_share), run(1, Contention::equal_share));
  EXPECT_NE(run(1, Contention::equal_share), run(2, Contention::equal_share));
}

TEST(TimeSlices, AHandshakeWaitsForBothRanks) {
  SimulatedPlatform eager = node(1e-3), rendezvous = node(1e-3);
  rendezvous.eager = 0;
  EXPECT_GT(run_simulation(ring(8), rendezvous, 64).end, run_simulation(ring(8), eager, 64).end);
}

}  // namespace
}  // namespace convene::simulate
