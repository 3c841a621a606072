// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/lower_bound.hpp"

#include <gtest/gtest.h>

#include "simulate/engine/simulated_plans_for_test.hpp"

namespace convene::simulate {
namespace {

constexpr double tiny = 1e-11;

using Data = Demand::Data;

Demand allgather(Rank procs, double bytes) {
  return {.data = Data::inputs, .bytes = std::vector<double>(procs, bytes)};
}

LowerBounds bounds(const SimulatedPlatform& platform, Rank procs) {
  return {platform, seat(platform, "sequential", procs)};
}

SimulatedPlatform without_latency(std::uint32_t nodes) {
  return cluster(nodes, 1, {.bandwidth = 1e9}, {.bandwidth = 1e10, .shared = Shared::both_ways});
}

TEST(LowerBound, ASingleMessageReachesIt) {
  SimulatedPlatform platform = cluster(2);
  platform.cpu = {.send = 3e-7, .recv = 5e-7};
  const std::vector<double> arrivals{4e-6, 1e-6};
  const Plan plan = all_to_one(2, {0}, 1);
  Demand bcast = allgather(2, 1000);
  bcast.source = 0;
  const LowerBound bound = bounds(platform, 2).of(bcast, arrivals);
  EXPECT_NEAR(bound.exits[0], 4e-6 + 3e-7, tiny);
  EXPECT_NEAR(bound.exits[1], 4e-6 + 3e-7 + 1e-6 + 2e-6 + 5e-7, tiny);
  const SimulationResult result = run_simulation(plan, platform, 1000, arrivals);
  for (Rank rank = 0; rank < 2; ++rank) EXPECT_NEAR(result.exits[rank], bound.exits[rank], tiny);
}

TEST(LowerBound, ARingWithoutLatencyReachesIt) {
  const SimulatedPlatform platform = without_latency(6);
  const double end = bounds(platform, 6).of(allgather(6, 1000), std::vector<double>(6)).end;
  EXPECT_NEAR(end, 5e-6, tiny);
  EXPECT_NEAR(run_simulation(ring(6), platform, 1000).end, end, tiny);
}

TEST(LowerBound, RecursiveDoublingOfEmptyMessagesReachesIt) {
  SimulatedPlatform platform = without_latency(8);
  platform.cpu.send = 1e-6;
  const Demand barrier{.data = Data::inputs, .empty = true};
  const std::vector<double> arrivals{0, 0, 0, 0, 0, 7e-6, 0, 0};
  const double end = bounds(platform, 8).of(barrier, arrivals).end;
  EXPECT_NEAR(end, 1e-5, tiny);  // three rounds after the last arrival
  EXPECT_NEAR(run_simulation(doubling(8), platform, 0, arrivals).end, end, tiny);
}

TEST(LowerBound, BlocksOfLateRanksFollowTheLastArrival) {
  const SimulatedPlatform platform = without_latency(4);
  // Two blocks of 1 µs each are missing at 50 µs; all three are at 0.
  const LowerBound bound = bounds(platform, 4).of(allgather(4, 1000), std::vector<double>{0, 0, 5e-5, 5e-5});
  EXPECT_NEAR(bound.exits[0], 5e-5 + 2e-6, tiny);
  EXPECT_NEAR(bound.exits[2], 5e-5 + 1e-6, tiny);
}

TEST(LowerBound, RanksOfANodeShareItsLink) {
  const SimulatedPlatform platform =
      cluster(2, 4, {.bandwidth = 1e9}, {.bandwidth = 1e13, .shared = Shared::both_ways});
  const std::vector<double> arrivals(8);
  EXPECT_NEAR(bounds(platform, 8).of(allgather(8, 1000), arrivals).end, 4e-6,
              tiny);  // 4 blocks from the other
  Demand alltoall = allgather(8, 1000);
  alltoall.data = Data::parts;
  EXPECT_NEAR(bounds(platform, 8).of(alltoall, arrivals).end, 16e-6, tiny);
  Demand allreduce = allgather(8, 1000);
  allreduce.data = Data::combined;
  EXPECT_NEAR(bounds(platform, 8).of(allreduce, arrivals).end, 1e-6, tiny);  // one combined vector
  allreduce.same = false;                                                    // reduce-scatter
  EXPECT_NEAR(bounds(platform, 8).of(allreduce, arrivals).end, 4e-6, tiny);
}

TEST(LowerBound, MemoryOfANodeCarriesWhatItsRanksNeed) {
  const SimulatedPlatform platform = cluster(1, 4, {}, {.bandwidth = 1e9, .shared = Shared::both_ways});
  const std::vector<double> arrivals(4);
  const LowerBounds found = bounds(platform, 4);
  EXPECT_NEAR(found.of(allgather(4, 1000), arrivals).end, 12e-6, tiny);
  EXPECT_NEAR(run_simulation(ring(4), platform, 1000).end, 12e-6, tiny);
  EXPECT_NEAR(found.of(allgather(4, 1000), arrivals, false, true).end, 0, tiny);  // shared memory
}

TEST(LowerBound, SwitchesAndGroupsAreCutsToo) {
  SimulatedPlatform platform = without_latency(4);
  platform.network.shape = NetworkShape::tree;
  platform.network.leaves = {1, 3};
  platform.network.uplink = {.latency = 1e-6, .bandwidth = 1e8};
  EXPECT_NEAR(bounds(platform, 4).of(allgather(4, 1000), std::vector<double>(4)).end, 32e-6, tiny);
  platform.network.shape = NetworkShape::fat_tree;
  platform.network.down = {2, 2};
  platform.network.up = {2};
  EXPECT_NEAR(bounds(platform, 4).of(allgather(4, 1000), std::vector<double>(4)).end, 12e-6, tiny);
}

TEST(LowerBound, SourcesOfOneDestinationAreCollectedInATree) {
  SimulatedPlatform platform = without_latency(8);
  platform.cpu.recv = 1e-6;
  Demand gather = allgather(8, 1);
  gather.destination = 0;
  const std::vector<double> arrivals(8);
  EXPECT_NEAR(bounds(platform, 8).of(gather, arrivals).end, 3e-6, 1e-8);
}

TEST(LowerBound, APrefixNeedsOnlyTheRanksBefore) {
  const SimulatedPlatform platform = without_latency(4);
  Demand scan = allgather(4, 1000);
  scan.data = Data::combined;
  scan.prefix = true;
  const LowerBound bound = bounds(platform, 4).of(scan, std::vector<double>{0, 0, 5e-5, 0});
  EXPECT_NEAR(bound.exits[0], 0, tiny);
  EXPECT_NEAR(bound.exits[1], 1e-6, tiny);
  EXPECT_NEAR(bound.exits[2], 5e-5, tiny);
  EXPECT_NEAR(bound.exits[3], 5e-5 + 1e-6, tiny);
}

TEST(LowerBound, EmptyBlocksAndOneRankNeedNothing) {
  const SimulatedPlatform platform = cluster(4);
  const std::vector<double> arrivals{0, 1e-6, 0, 2e-6};
  EXPECT_EQ(bounds(platform, 4).of(allgather(4, 0), arrivals).end, 2e-6);
  EXPECT_EQ(bounds(platform, 4).of({}, arrivals).exits, arrivals);
  EXPECT_EQ(bounds(platform, 1).of(allgather(1, 8), std::vector<double>{3e-6}).end, 3e-6);
}

}  // namespace
}  // namespace convene::simulate
