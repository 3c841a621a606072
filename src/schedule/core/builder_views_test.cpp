// SPDX-License-Identifier: BSD-3-Clause
// Schedules within schedules: views of a builder.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "schedule/core/builder.hpp"

namespace convene::schedule {
namespace {

/// A pair of ranks, embedded: the inner ranks 0 and 1 are the outer ranks 3 and 0; their blocks are the
/// places 6, 7 and 0, 1.
Embedding reversed_pair() {
  Embedding view;
  view.rank = 1;
  view.ranks = {3, 0};
  view.input = {{Range(Buffer::input, 0, 2)}};
  view.output = {{Range(Buffer::output, 6, 2)}, {Range(Buffer::output, 0, 2)}};
  view.blocks = view.output;
  view.first_round = 5;
  return view;
}

TEST(BuilderViews, MapRanksPlacesRoundsAndScratch) {
  Builder builder;
  builder.begin(4, 0);
  builder.buffer(Buffer::input, 2);
  builder.buffer(Buffer::output, 8);
  builder.enter(reversed_pair());
  const Place like[] = {1, 0};
  const Buffer first = builder.scratch(like), second = builder.scratch(like);
  builder.round(1);
  builder.recv(0, Range(first, 1));
  builder.recv(0, Range(second, 0));
  builder.send(0, Range(Buffer::input, 0));
  builder.leave();
  const Schedule schedule = builder.finish();
  schedule.validate();
  ASSERT_EQ(schedule.size(), 3u);
  EXPECT_EQ(schedule[0].peer, 3u);
  EXPECT_EQ(schedule[0].round, 6u);
  const Buffer shared = scratch(0);  // both lie in one buffer of the outer schedule
  EXPECT_EQ(schedule.ranges(0)[0], Range(shared, 2, 2));
  EXPECT_EQ(schedule.ranges(1)[0], Range(shared, 4, 2));
  EXPECT_EQ(schedule.ranges(2)[0], Range(Buffer::input, 0, 2));
  const auto of_sizes = schedule.sized_like(shared);
  EXPECT_EQ(std::vector(of_sizes.begin(), of_sizes.end()), (std::vector<Place>{0, 1, 6, 7, 0, 1, 6, 7}));
}

TEST(BuilderViews, LeaveOutWhatTheReceiverHas) {
  Builder builder;
  builder.begin(4, 0);
  builder.buffer(Buffer::input, 2);
  builder.buffer(Buffer::output, 8);
  Embedding view = reversed_pair();
  view.has = [](Rank rank, const Range& places) { return rank == 0 && places.first == 6; };
  builder.enter(view);
  builder.send(0, Range(Buffer::output, 0, 2));
  builder.recv(0, Range(Buffer::output, 0, 2));
  builder.leave();
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.size(), 2u);
  ASSERT_EQ(schedule.ranges(0).size(), 1u);
  EXPECT_EQ(schedule.ranges(0)[0], Range(Buffer::output, 0, 2));
  EXPECT_EQ(schedule.ranges(1).size(), 2u);
}

/// A join delays steps in an inner schedule, too.
TEST(BuilderViews, KeepJoins) {
  Builder builder;
  builder.begin(4, 0);
  builder.buffer(Buffer::input, 2);
  builder.buffer(Buffer::output, 8);
  builder.enter(reversed_pair());
  builder.recv(0, Range(Buffer::output, 0));
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 1));
  builder.join({Range(Buffer::output, 0), Range(Buffer::output, 1)});
  builder.send(0, Range(Buffer::output, 1));
  builder.leave();
  const Schedule schedule = builder.finish();
  schedule.validate();
  ASSERT_EQ(schedule.size(), 4u);
  EXPECT_EQ(schedule[2].kind, StepKind::join);
  EXPECT_EQ(schedule[2].predecessors, 2u);
  EXPECT_TRUE(std::ranges::equal(schedule.predecessors()[3], std::vector<StepId>{2}));
}

/// The same if the places are one range around the inner schedule, of which one step has written a part.
TEST(BuilderViews, KeepJoinsOfPlacesThatFollowEachOther) {
  Builder builder;
  builder.begin(4, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, 4);
  Embedding view{.rank = 0, .ranks = {0, 1, 2, 3}};
  view.input = {{Range(Buffer::input, 0)}};
  for (Place place = 0; place < 4; ++place) view.output.push_back({Range(Buffer::output, place)});
  view.blocks = view.output;
  builder.enter(view);
  EXPECT_TRUE(builder.are_same(std::vector{Range(Buffer::output, 1, 2)},
                               std::vector{Range(Buffer::output, 1), Range(Buffer::output, 2)}));
  EXPECT_FALSE(builder.are_same(std::vector{Range(Buffer::output, 0)}, std::vector{Range(Buffer::input, 0)}));
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
  builder.join({Range(Buffer::output, 0), Range(Buffer::output, 1, 3)});
  builder.recv(2, Range(Buffer::output, 2));
  builder.leave();
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.size(), 3u);
  EXPECT_TRUE(std::ranges::equal(schedule.predecessors()[2], std::vector<StepId>{1}));
}

}  // namespace
}  // namespace convene::schedule
