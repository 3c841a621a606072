// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/loggp_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace convene::patterns {
namespace {

/// t(P) by its definition, for all numbers of ranks up to a size.
std::vector<std::int64_t> minimal_times(const LogGPCosts& costs, std::uint32_t size) {
  std::vector<std::int64_t> time(size + 1, 0);
  for (std::uint32_t procs = 2; procs <= size; ++procs) {
    time[procs] = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t n = 1; n < procs; ++n)
      time[procs] =
          std::min(time[procs], costs.data(n) + std::max(costs.hop + time[n], costs.gap + time[procs - n]));
  }
  return time;
}

TEST(LogGPTree, IsOptimal) {
  std::mt19937 random(1);
  constexpr std::uint32_t size = 80;
  for (int i = 0; i < 300; ++i) {
    const auto below = [&](std::uint32_t limit) { return static_cast<std::int64_t>(random() % limit); };
    LogGPCosts costs{.hop = below(50), .gap = below(50), .item = below(20)};
    if (i % 2 == 1) costs.base = -std::min(costs.gap, costs.item);  // the literal model: g is at least G
    const LogGPTree tree(costs, size);
    const std::vector<std::int64_t> minimal = minimal_times(costs, size);
    for (std::uint32_t procs = 1; procs <= size; ++procs)
      ASSERT_EQ(tree.time(procs), minimal[procs])
          << procs << " ranks, L' " << costs.hop << ", g " << costs.gap << ", item " << costs.item;
  }
}

/// Where a message costs a hop only, the tree is binomial: each rank sends half of its items first.
TEST(LogGPTree, IsBinomialIfOnlyTheHopCosts) {
  const LogGPTree tree({.hop = 10, .gap = 10, .item = 0}, 64);
  for (std::uint32_t procs = 2, rounds = 1; procs <= 64; procs *= 2, ++rounds)
    EXPECT_EQ(tree.time(procs), 10 * rounds);
}

TEST(LogGPTree, IsFlatIfOnlyTheHopIsExpensive) {
  const LogGPTree tree({.hop = 1000, .gap = 1, .item = 0}, 16);
  EXPECT_EQ(tree_node(tree.split(), 0, 16).children.size(), 15u);
}

TEST(LogGPTree, SplitsARunIntoOnePart) {
  const LogGPTree tree({.hop = 7, .gap = 3, .item = 2}, 40);
  const Split split = tree.split();
  for (std::uint32_t size = 2; size <= 40; ++size) {
    std::vector<std::uint32_t> parts;
    split({0, size}, parts);
    EXPECT_EQ(parts, std::vector<std::uint32_t>{tree.part(size)});
    EXPECT_GE(tree.part(size), 1u);
    EXPECT_LT(tree.part(size), size);
  }
}

}  // namespace
}  // namespace convene::patterns
