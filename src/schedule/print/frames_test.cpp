// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/frames.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/error.hpp"
#include "schedule/testing/ring_for_test.hpp"

namespace convene::schedule {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Frames, RingBringsOneBlockARound) {
  const Frames simulated = simulate_frames(ring_plan(4), ring_contract(4));
  ASSERT_EQ(simulated.rows.size(), 4u) << "the own blocks stand in the output, so the input needs no row";
  ASSERT_EQ(simulated.frames.size(), 3u);
  for (std::uint32_t round = 0; round < 3; ++round) {
    const Frame& frame = simulated.frames[round];
    EXPECT_EQ(frame.round, round);
    ASSERT_EQ(frame.arrows.size(), 4u);
    for (Rank rank = 0; rank < 4; ++rank) {
      const Arrow& arrow = frame.arrows[rank];
      EXPECT_EQ(arrow.from, rank);
      EXPECT_EQ(arrow.to, (rank + 1) % 4);
      EXPECT_EQ(arrow.messages, 1u);
      EXPECT_THAT(arrow.contents, ElementsAre(static_cast<Content>((rank + 4 - round) % 4)));
      for (Rank block = 0; block < 4; ++block) {
        const Rank age = (rank + 4 - block) % 4;  // block b reaches rank b + age in round age - 1
        const Cell& cell = frame.cells[rank][block];
        EXPECT_EQ(cell.content, age <= round + 1 ? static_cast<Content>(block) : nothing);
        EXPECT_EQ(cell.change == Change::received, age == round + 1);
      }
    }
  }
}

TEST(Frames, OnlyTheWantedRounds) {
  const std::uint32_t wanted[] = {2, 4};
  const Frames simulated = simulate_frames(ring_plan(6), ring_contract(6), wanted);
  ASSERT_EQ(simulated.frames.size(), 2u);
  EXPECT_EQ(simulated.frames[0].round, 2u);
  EXPECT_EQ(simulated.frames[1].round, 4u);
}

/// Rank 0 sends from its input by way of scratch, in two messages; rank 1 copies at the end.
Plan detour_plan() {
  Plan plan;
  for (Rank rank = 0; rank < 2; ++rank) {
    Builder builder;
    builder.begin(2, rank);
    builder.buffer(Buffer::input, 2);
    builder.buffer(Buffer::output, 2);
    builder.buffer(scratch(0), 2);
    for (Place place = 0; place < 2; ++place) {
      if (rank == 0) builder.send(1, Range(Buffer::input, place));
      if (rank == 1) builder.recv(0, Range(scratch(0), place));
    }
    builder.round(1);
    if (rank == 1) builder.copy(Range(scratch(0), 0, 2), Range(Buffer::output, 0, 2));
    plan.push_back(builder.finish());
  }
  return plan;
}

TEST(Frames, ShowsInputAndScratchWhereTheyMatter) {
  Contract contract(2);
  contract[0] = {{0, 1}, {nothing, nothing}, {nothing, nothing}};
  contract[1] = {{nothing, nothing}, {nothing, nothing}, {0, 1}};
  const Frames simulated = simulate_frames(detour_plan(), contract);
  ASSERT_EQ(simulated.rows.size(), 6u);
  EXPECT_EQ(simulated.rows[0].buffer, Buffer::input);
  EXPECT_EQ(simulated.rows[4].buffer, scratch(0));
  ASSERT_EQ(simulated.frames.size(), 2u);
  ASSERT_EQ(simulated.frames[0].arrows.size(), 1u) << "messages of one pair are one arrow";
  EXPECT_EQ(simulated.frames[0].arrows[0].messages, 2u);
  EXPECT_THAT(simulated.frames[0].arrows[0].contents, ElementsAre(0, 1));
  EXPECT_EQ(simulated.frames[0].cells[1][4].change, Change::received);
  EXPECT_TRUE(simulated.frames[1].arrows.empty());
  EXPECT_EQ(simulated.frames[1].cells[1][2].content, 0);
  EXPECT_EQ(simulated.frames[1].cells[1][2].change, Change::copied);
  EXPECT_EQ(simulated.frames[1].cells[1][4].change, Change::kept);
}

TEST(Frames, SaysWhyAPlanCannotBeDrawn) {
  Plan plan = ring_plan(3);
  Builder builder;
  builder.begin(3, 2);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, 3);
  plan[2] = builder.finish();
  try {
    simulate_frames(plan, ring_contract(3));
    FAIL() << "two messages have no receiver";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be drawn"));
  }
}

TEST(Frames, OriginsNameRankAndPart) {
  Contract contract(2);
  contract[0].input = {0, 1};
  contract[1].output = {nothing, nothing, 2, 3};
  const std::vector<Origin> found = origins(contract);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[1].rank, 0u);
  EXPECT_EQ(found[1].part, 1u);
  EXPECT_EQ(found[2].rank, 1u);
  EXPECT_EQ(found[2].part, 0u);
  EXPECT_EQ(found[3].parts, 2u);
}

std::vector<Arrow> shift(Rank procs, Rank distance) {
  std::vector<Arrow> arrows;
  for (Rank rank = 0; rank < procs; ++rank) arrows.push_back({rank, (rank + distance) % procs, 1, {}});
  return arrows;
}

// The Sparbit work, section 5.2: the messages of a round are g disjoint rings of k ranks, and g·k = P.
TEST(Rings, ShiftsFormEqualRings) {
  for (Rank procs = 2; procs <= 64; ++procs)
    for (Rank distance = 1; distance < procs; ++distance) {
      const Rings rings = find_rings(shift(procs, distance), procs);
      const Rank expected = std::gcd(procs, distance);
      ASSERT_EQ(rings.sizes.size(), expected);
      EXPECT_THAT(rings.sizes, Each(procs / expected));
      for (Rank rank = 0; rank < procs; ++rank)
        EXPECT_EQ(rings.ring_of[rank], rings.ring_of[(rank + distance) % procs])
            << "an arrow leaves its ring";
    }
}

TEST(Rings, SeveralPortsAreSeveralSets) {
  std::vector<Arrow> arrows;
  for (Rank rank = 0; rank < 6; ++rank)
    for (Rank distance : {1u, 2u}) arrows.push_back({rank, (rank + distance) % 6, 1, {}});
  EXPECT_THAT(find_rings(arrows, 6).sizes, ElementsAre(6u, 3u, 3u));
}

TEST(Rings, RanksThatDoNotTakePartAreNoMatter) {
  const std::vector<Arrow> pair = {{1, 4, 1, {}}, {4, 1, 1, {}}};
  EXPECT_THAT(find_rings(pair, 6).sizes, ElementsAre(2u));
}

TEST(Rings, TreesHaveNone) {
  const std::vector<Arrow> gather = {{1, 0, 1, {}}, {2, 0, 1, {}}};
  EXPECT_TRUE(find_rings(gather, 3).ring_of.empty());
  const std::vector<Arrow> chain = {{0, 1, 1, {}}, {1, 2, 1, {}}};
  EXPECT_TRUE(find_rings(chain, 3).ring_of.empty());
}

}  // namespace
}  // namespace convene::schedule
