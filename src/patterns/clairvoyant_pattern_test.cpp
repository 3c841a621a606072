// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/clairvoyant_pattern.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "base/error.hpp"
#include "patterns/transfers_for_test.hpp"

namespace convene::patterns {
namespace {

TEST(Clairvoyant, TakesAsManyRoundsAsTheSourceSaysWhenBalanced) {
  for (std::uint32_t procs = 2; procs <= 128; ++procs)
    for (std::uint32_t segments = 1; segments <= 64; ++segments) {
      const auto bound = static_cast<std::uint32_t>(std::bit_width(procs - 1)) + segments - 1;
      const std::uint32_t found = rounds(clairvoyant_transfers(procs, segments, procs / 3));
      EXPECT_GE(found, bound) << procs << " " << segments;
      EXPECT_LE(found, bound + (std::has_single_bit(procs) ? 0 : 1)) << procs << " " << segments;
    }
}

TEST(Clairvoyant, FirstMissesTheBoundWith21ProcessesAnd7Segments) {
  EXPECT_EQ(rounds(clairvoyant_transfers(21, 6, 0)), 10u);
  EXPECT_EQ(rounds(clairvoyant_transfers(21, 7, 0)), 12u);
}

/// One segment: every rank but the root sends once, and round k halves the remaining ranks.
TEST(Clairvoyant, IsABinomialTreeWithOneSegment) {
  for (std::uint32_t procs = 2; procs <= 64; ++procs) {
    const Transfers transfers = clairvoyant_transfers(procs, 1, 0);
    EXPECT_EQ(transfers.size(), procs - 1);
    std::uint32_t left = procs;
    for (std::size_t i = 0; i < transfers.size();) {
      std::size_t sent = 0;
      for (const std::uint32_t round = transfers[i].round;
           i < transfers.size() && transfers[i].round == round; ++i)
        ++sent;
      EXPECT_EQ(sent, left / 2) << procs;
      left -= static_cast<std::uint32_t>(sent);
    }
  }
}

/// A rank arrives 5 rounds late, which is as long as the other three need: 5 + 4 rounds, as in figure 8 of
/// the source.
TEST(Clairvoyant, Takes9RoundsWithOneOfFourRanksLate) {
  const std::vector<std::int32_t> arrivals{0, 0, 0, 5};
  for (std::uint32_t root = 0; root < 4; ++root) {
    const Transfers transfers = clairvoyant_transfers(4, 4, root, arrivals);
    EXPECT_EQ(simulate(transfers, 4, 4, root, arrivals), "");
    EXPECT_EQ(rounds(transfers), 9u) << root;
  }
}

TEST(Clairvoyant, ReducesIfAllArriveAtOnce) {
  for (std::uint32_t procs = 1; procs <= 40; ++procs)
    for (const std::uint32_t segments : {1, 2, 3, 4, 7, 8, 16, 65})
      for (const std::uint32_t root : {0u, procs / 2, procs - 1})
        EXPECT_EQ(simulate(clairvoyant_transfers(procs, segments, root), procs, segments, root), "")
            << procs << " " << segments << " " << root;
}

TEST(Clairvoyant, ReducesForThousandsOfRandomArrivals) {
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    const std::uint32_t procs = 1 + random() % 40, segments = 1 + random() % 20, root = random() % procs;
    const std::uint32_t spread = 1 + random() % 60, late = 1 + random() % 4;
    std::vector<std::int32_t> arrivals(procs);
    for (std::int32_t& arrival : arrivals)
      arrival = random() % late == 0 ? static_cast<std::int32_t>(random() % spread) : 0;
    const Transfers transfers = clairvoyant_transfers(procs, segments, root, arrivals);
    ASSERT_EQ(simulate(transfers, procs, segments, root, arrivals), "")
        << procs << " " << segments << " " << root << " " << testing::PrintToString(arrivals);
  }
}

TEST(Clairvoyant, CountsRoundsFromTheEarliestArrival) {
  const Transfers early = clairvoyant_transfers(3, 2, 0, std::vector<std::int32_t>{0, 4, 1});
  const Transfers late = clairvoyant_transfers(3, 2, 0, std::vector<std::int32_t>{7, 11, 8});
  ASSERT_EQ(early.size(), late.size());
  for (std::size_t i = 0; i < early.size(); ++i) EXPECT_EQ(early[i].round, late[i].round);
}

TEST(Clairvoyant, RequiresAnArrivalForEachRank) {
  EXPECT_THROW(clairvoyant_transfers(4, 2, 0, std::vector<std::int32_t>{1, 2}), Error);
}

}  // namespace
}  // namespace convene::patterns
