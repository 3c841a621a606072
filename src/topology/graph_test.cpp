// SPDX-License-Identifier: BSD-3-Clause
#include "topology/graph.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace convene::topology {
namespace {

using Ranks = std::vector<std::uint32_t>;
constexpr std::uint32_t no_rank = Graph::no_rank;

TEST(Graph, GridsHaveTheOrderOfMpiCart) {
  const Graph grid = Graph::parse("cart:2x3", 6);
  EXPECT_EQ(grid.sources[0], (Ranks{no_rank, 3, no_rank, 1}));
  EXPECT_EQ(grid.sources[4], (Ranks{1, no_rank, 3, 5}));
  const Graph torus = Graph::parse("torus:2x3", 6);
  EXPECT_EQ(torus.targets[0], (Ranks{3, 3, 2, 1}));
}

TEST(Graph, AllKindsAreConsistent) {
  for (std::uint32_t procs = 1; procs <= 40; ++procs)
    for (const char* text : {"cart", "torus", "moore", "random:1", "random:5", "random:5:3"}) {
      const Graph graph = Graph::parse(text, procs);
      EXPECT_EQ(graph.procs(), procs);
      EXPECT_TRUE(graph.is_consistent()) << text << " " << procs;
    }
  Graph broken = Graph::parse("torus", 6);
  broken.sources[2].pop_back();
  EXPECT_FALSE(broken.is_consistent());
}

TEST(Graph, MooreHasAllThatTouch) {
  const Graph graph = Graph::parse("moore:3x4x5", 60);
  for (const auto& targets : graph.targets) EXPECT_EQ(Graph::distinct(targets).size(), 26u);
}

TEST(Graph, PlanesAreNearlySquare) {
  EXPECT_EQ(nearly_square(12), (Ranks{4, 3}));
  EXPECT_EQ(nearly_square(7), (Ranks{7, 1}));
  EXPECT_EQ(nearly_square(1), (Ranks{1, 1}));
}

TEST(Graph, WrongTextsAreRefused) {
  for (const char* text : {"", "tree", "cart:", "cart:4x", "cart:4x4", "torus:0x6", "torus:-2x3", "random",
                           "random:", "random:0", "random:x", "random:3:", "random:99999", "moore:2x3x",
                           "cart:4294967296x4294967296", "cart:6:1"})
    EXPECT_THROW(Graph::parse(text, 6), Error) << text;
}

TEST(Graph, BlocksOfAGridArriveFromTheOtherSide) {
  // Both neighbours of the second dimension are one rank, and both of the third the rank itself.
  const std::uint32_t dims[] = {3, 2, 1};
  const Graph grid = Graph::cartesian(dims, true);
  for (std::uint32_t rank = 0; rank < grid.procs(); ++rank)
    for (std::uint32_t place = 0; place < 6; ++place) EXPECT_EQ(grid.sent_from(rank, place), place ^ 1u);
  EXPECT_EQ(grid.most_targets(), 6u);
}

TEST(Graph, BlocksBetweenTwoRanksArriveInTheirOrder) {
  Graph graph(2);
  graph.targets = {{1, 0, 1}, {}};
  graph.sources = {{0}, {0, 0}};
  EXPECT_EQ(graph.sent_from(1, 0), 0u);
  EXPECT_EQ(graph.sent_from(1, 1), 2u);
  EXPECT_EQ(graph.sent_from(0, 0), 1u);
}

}  // namespace
}  // namespace convene::topology
