// SPDX-License-Identifier: BSD-3-Clause
#include "topology/core_sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

namespace convene::topology {
namespace {

using Cpus = std::vector<std::uint32_t>;

bool shares(const std::vector<Cpus>& processes) {
  std::vector<CpuMask> masks;
  for (const Cpus& cpus : processes) masks.push_back(mask_of(cpus));
  return must_share_cores(masks);
}

Cpus range(std::uint32_t first, std::uint32_t count) {
  Cpus cpus;
  for (std::uint32_t i = 0; i < count; ++i) cpus.push_back(first + i);
  return cpus;
}

TEST(CoreSharing, UnboundProcesses) {
  EXPECT_FALSE(shares({}));
  EXPECT_FALSE(shares({{0}}));
  EXPECT_FALSE(shares({{0, 1}, {0, 1}}));
  EXPECT_TRUE(shares({{0, 1}, {0, 1}, {0, 1}}));
  EXPECT_FALSE(shares(std::vector<Cpus>(256, range(0, 256))));
  EXPECT_TRUE(shares(std::vector<Cpus>(257, range(0, 256))));
}

TEST(CoreSharing, BoundProcesses) {
  EXPECT_FALSE(shares({{3}, {2}, {1}, {0}}));
  EXPECT_TRUE(shares({{3}, {2}, {1}, {2}}));
  // Two sockets of four CPUs: five processes on one of them share, although eight CPUs are there.
  std::vector<Cpus> processes(4, range(0, 4));
  processes.resize(8, range(4, 4));
  EXPECT_FALSE(shares(processes));
  processes.back() = range(0, 4);
  EXPECT_TRUE(shares(processes));
}

TEST(CoreSharing, AProcessMovesForAnother) {
  EXPECT_FALSE(shares({{0, 1}, {0}}));
  EXPECT_FALSE(shares({{0, 1}, {1, 2}, {0}, {2, 3}}));
  EXPECT_TRUE(shares({{0, 1}, {1, 2}, {0}, {2}, {1}}));
}

TEST(CoreSharing, UnknownAffinityIsLeftOut) {
  EXPECT_FALSE(shares({{}, {0}}));
  EXPECT_TRUE(shares({{0}, {}, {0}}));
}

TEST(CoreSharing, ManyCpus) {
  EXPECT_FALSE(shares({{1023}, {1022}}));
  EXPECT_TRUE(shares({{8191}, {8191}}));
}

/// Every assignment of CPUs is tried.
bool has_assignment(const std::vector<Cpus>& processes) {
  Cpus used;
  const std::function<bool(std::size_t)> seat = [&](std::size_t process) {
    if (process == processes.size()) return true;
    for (const std::uint32_t cpu : processes[process]) {
      if (std::ranges::find(used, cpu) != used.end()) continue;
      used.push_back(cpu);
      if (seat(process + 1)) return true;
      used.pop_back();
    }
    return false;
  };
  return seat(0);
}

TEST(CoreSharing, IsRightForRandomMasks) {
  std::mt19937 random(1);
  int sharing = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Cpus> processes(2 + random() % 4);
    for (Cpus& cpus : processes)
      for (std::uint32_t cpu = 60; cpu < 66; ++cpu)
        if (random() % 3 == 0) cpus.push_back(cpu);
    std::erase_if(processes, [](const Cpus& cpus) { return cpus.empty(); });
    EXPECT_EQ(shares(processes), !has_assignment(processes));
    sharing += shares(processes);
  }
  EXPECT_GT(sharing, 100);
  EXPECT_LT(sharing, 1900);
}

}  // namespace
}  // namespace convene::topology
