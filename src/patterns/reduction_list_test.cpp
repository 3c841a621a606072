// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/reduction_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "patterns/transfers_for_test.hpp"

namespace convene::patterns {
namespace {

using Arrivals = std::vector<std::int32_t>;
using Nodes = std::vector<std::uint32_t>;

Nodes nodes_of(std::uint32_t procs, std::uint32_t per_node) {
  Nodes nodes(procs);
  for (std::uint32_t rank = 0; rank < procs; ++rank) nodes[rank] = rank / per_node;
  return nodes;
}

/// Messages between nodes; with more than one of a round that leave or enter a node, the fault.
struct Crossing {
  std::uint32_t messages = 0;
  std::string fault;
};

Crossing crossing(const Transfers& transfers, const Nodes& nodes) {
  Crossing result;
  std::set<std::pair<std::uint32_t, std::uint32_t>> left, entered;
  for (const SegmentTransfer& t : transfers) {
    if (nodes[t.from] == nodes[t.to]) continue;
    ++result.messages;
    if (!left.insert({t.round, nodes[t.from]}).second) result.fault = "two messages leave a node";
    if (!entered.insert({t.round, nodes[t.to]}).second) result.fault = "two messages enter a node";
  }
  return result;
}

std::uint32_t bound(std::uint32_t procs, std::uint32_t segments) {
  return static_cast<std::uint32_t>(std::bit_width(procs - 1)) + segments - 1;
}

TEST(ListScheduledReduction, TakesAsManyRoundsAsTheBoundIfAllArriveAtOnce) {
  for (std::uint32_t procs = 2; procs <= 128; ++procs)
    for (const std::uint32_t segments : {1u, 2u, 3u, 4u, 8u, 16u, 64u}) {
      const Transfers transfers = list_scheduled_reduction(procs, segments, procs / 3);
      EXPECT_GE(rounds(transfers), bound(procs, segments)) << procs << " " << segments;
      EXPECT_LE(rounds(transfers), bound(procs, segments) + (segments > 16 ? 1 : 0))
          << procs << " " << segments;
      EXPECT_EQ(transfers.size(), std::size_t{procs - 1} * segments) << "a message that combines nothing";
    }
}

TEST(ListScheduledReduction, TakesAVectorAfterALateRank) {
  for (const std::uint32_t per_node : {1u, 4u, 12u})
    for (const std::uint32_t late : {0u, 1u, 6u, 11u})
      for (const std::uint32_t root : {0u, 5u, late})
        for (const std::uint32_t segments : {1u, 8u, 16u}) {
          Arrivals arrivals(12, 0);
          arrivals[late] = 100;
          const Transfers transfers =
              list_scheduled_reduction(12, segments, root, arrivals, nodes_of(12, per_node));
          EXPECT_EQ(simulate(transfers, 12, segments, root, arrivals), "");
          EXPECT_EQ(rounds(transfers), 100 + segments) << per_node << " " << late << " " << root;
        }
}

/// 64 ranks that arrive in turn within a run time: Clairvoyant takes 10 rounds more.
TEST(ListScheduledReduction, LetsLateRanksSendFirst) {
  Arrivals arrivals(64);
  std::mt19937 random(1);
  std::uint32_t here = 0, clairvoyant = 0, least = 0;
  for (int i = 0; i < 20; ++i) {
    for (std::int32_t& arrival : arrivals) arrival = static_cast<std::int32_t>(random() % 22);
    here += rounds(list_scheduled_reduction(64, 16, 0, arrivals));
    clairvoyant += rounds(clairvoyant_transfers(64, 16, 0, arrivals));
    least += 16 + static_cast<std::uint32_t>(*std::ranges::max_element(arrivals) -
                                             *std::ranges::min_element(arrivals));
  }
  EXPECT_LE(here, least + least / 8);
  EXPECT_GE(clairvoyant, here + here / 6);
}

TEST(ListScheduledReduction, ReducesForManyRandomArrivalsAndPlaces) {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t procs = 1 + random() % 80, segments = 1 + random() % 20, root = random() % procs;
    const std::uint32_t spread = 1 + random() % 60, late = 1 + random() % 4, some = 1 + random() % procs;
    Arrivals arrivals(procs);
    Nodes nodes(procs);
    for (std::int32_t& arrival : arrivals)
      arrival = random() % late == 0 ? static_cast<std::int32_t>(random() % spread) : 0;
    for (std::uint32_t& node : nodes) node = 7 * (random() % some);
    const Transfers transfers = list_scheduled_reduction(procs, segments, root, arrivals, nodes);
    ASSERT_EQ(simulate(transfers, procs, segments, root, arrivals), "")
        << procs << " " << segments << " " << root << " " << testing::PrintToString(arrivals)
        << testing::PrintToString(nodes);
    if (std::set<std::uint32_t>(nodes.begin(), nodes.end()).size() < procs) {
      ASSERT_EQ(crossing(transfers, nodes).fault, "");
    }
  }
}

TEST(ListScheduledReductionOnNodes, OverlapsTheLevels) {
  for (const std::uint32_t per_node : {2u, 4u, 8u, 16u})
    for (const std::uint32_t nodes : {2u, 4u, 8u, 16u})
      for (const std::uint32_t segments : {1u, 4u, 16u}) {
        const std::uint32_t procs = nodes * per_node;
        const std::uint32_t found =
            rounds(list_scheduled_reduction(procs, segments, 0, {}, nodes_of(procs, per_node)));
        EXPECT_GE(found, bound(procs, segments));
        EXPECT_LE(found, bound(procs, segments) + segments / 3)
            << nodes << " x " << per_node << " " << segments;
      }
}

/// A node's part leaves it once. The root's node, whose ranks share what enters it, sends some, too.
TEST(ListScheduledReductionOnNodes, SendsEachSegmentOfANodeOnce) {
  for (std::uint32_t procs = 2; procs <= 40; ++procs)
    for (const std::uint32_t per_node : {2u, 3u, 4u, 7u})
      for (const std::uint32_t segments : {1u, 3u, 16u, 65u})
        for (const std::uint32_t root : {0u, procs / 2, procs - 1}) {
          const Nodes nodes = nodes_of(procs, per_node);
          const Transfers transfers = list_scheduled_reduction(procs, segments, root, {}, nodes);
          EXPECT_EQ(simulate(transfers, procs, segments, root), "")
              << procs << " " << per_node << " " << root;
          const Crossing found = crossing(transfers, nodes);
          EXPECT_LE(found.messages, (nodes.back() + 1) * segments) << procs << " " << per_node << " " << root;
          if (procs > per_node) {
            EXPECT_EQ(found.fault, "");
          }
        }
}

TEST(ListScheduledReductionOnNodes, IgnoresPlacesOnOneNodeAndOnNodesOfOneRank) {
  const Arrivals arrivals{0, 4, 1, 0, 0, 9};
  const Transfers plain = list_scheduled_reduction(6, 3, 2, arrivals);
  for (const Nodes& nodes : {Nodes(6, 3), Nodes{5, 4, 3, 2, 1, 0}}) {
    const Transfers placed = list_scheduled_reduction(6, 3, 2, arrivals, nodes);
    ASSERT_EQ(placed.size(), plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      EXPECT_EQ(placed[i].from, plain[i].from);
      EXPECT_EQ(placed[i].to, plain[i].to);
      EXPECT_EQ(placed[i].round, plain[i].round);
    }
  }
}

TEST(ListScheduledReduction, CountsRoundsFromTheEarliestArrival) {
  const Transfers early = list_scheduled_reduction(3, 2, 0, Arrivals{0, 4, 1});
  const Transfers late = list_scheduled_reduction(3, 2, 0, Arrivals{7, 11, 8});
  ASSERT_EQ(early.size(), late.size());
  for (std::size_t i = 0; i < early.size(); ++i) EXPECT_EQ(early[i].round, late[i].round);
}

TEST(ListScheduledReduction, RequiresAnArrivalAndANodeForEachRank) {
  EXPECT_THROW(list_scheduled_reduction(4, 2, 0, Arrivals{1, 2}), Error);
  EXPECT_THROW(list_scheduled_reduction(4, 2, 0, {}, Nodes{1, 2}), Error);
}

}  // namespace
}  // namespace convene::patterns
