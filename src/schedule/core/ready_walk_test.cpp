// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/ready_walk.hpp"

#include <gtest/gtest.h>

#include <random>

#include "schedule/core/builder.hpp"

namespace convene::schedule {
namespace {

constexpr Rank procs = 8;

/// Rank 0 receives from all others, copies each block once more, joins them, and sends the whole from there
/// on.
Schedule gather_and_send() {
  Builder builder;
  builder.begin(procs, 0);
  builder.buffer(Buffer::input, procs);
  builder.buffer(Buffer::output, procs);
  for (Rank peer = 1; peer < procs; ++peer) {
    builder.recv(peer, Range(Buffer::output, peer));
    builder.copy(Range(Buffer::output, peer), Range(Buffer::input, peer));
  }
  builder.join(Range(Buffer::input, 1, procs - 1));
  for (Rank peer = 1; peer < procs; ++peer) builder.send(peer, Range(Buffer::input, 1, procs - 1));
  return builder.finish();
}

StepId join_of(const Schedule& schedule) {
  StepId id = 0;
  while (schedule[id].kind != StepKind::join) ++id;
  return id;
}

/// Completes ready steps in random order until none is left; returns them in that order.
std::vector<StepId> walk_to_end(const Schedule& schedule, std::uint32_t seed) {
  ReadyWalk walk(schedule);
  std::mt19937 random(seed);
  std::vector<StepId> ready, completed;
  const auto add = [&](StepId id) {
    EXPECT_TRUE(walk.is_ready(id));
    ready.push_back(id);
  };
  walk.start(add);
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const StepId id = ready.back();
    ready.pop_back();
    completed.push_back(id);
    walk.complete(id, add);
    EXPECT_TRUE(walk.is_complete(id));
  }
  EXPECT_EQ(walk.incomplete(), 0u);
  return completed;
}

TEST(ReadyWalk, ReportsEachStepOnceAndBehindItsPredecessors) {
  const Schedule schedule = gather_and_send();
  const auto predecessors = schedule.predecessors();
  const StepId join = join_of(schedule);
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<StepId> order = walk_to_end(schedule, seed);
    ASSERT_EQ(order.size(), schedule.size() - 1);  // all but the join
    std::vector<bool> completed(schedule.size(), false);
    for (const StepId id : order) {
      EXPECT_FALSE(completed[id]);
      for (const StepId before : predecessors[id]) EXPECT_TRUE(completed[before] || before == join);
      if (schedule[id].kind == StepKind::send) {
        for (const StepId before : predecessors[join]) EXPECT_TRUE(completed[before]);
      }
      completed[id] = true;
    }
  }
}

TEST(ReadyWalk, CompletesAJoinWithItsLastPredecessor) {
  const Schedule schedule = gather_and_send();
  const StepId join = join_of(schedule);
  ReadyWalk walk(schedule);
  std::vector<StepId> ready;
  const auto add = [&](StepId id) { ready.push_back(id); };
  walk.start(add);
  EXPECT_EQ(ready.size(), procs - 1);
  for (StepId id = 0; id < join; ++id) {
    EXPECT_FALSE(walk.is_complete(join));
    ready.clear();
    walk.complete(id, add);
  }
  EXPECT_TRUE(walk.is_complete(join));
  EXPECT_EQ(ready.size(), procs - 1);  // the sends
}

TEST(ReadyWalk, ReportsAJoinToWhoeverTreatsItAsAStep) {
  const Schedule schedule = gather_and_send();
  const StepId join = join_of(schedule);
  ReadyWalk walk(schedule);
  std::vector<StepId> ready;
  const auto add = [&](StepId id) { ready.push_back(id); };
  for (StepId id = 0; id < join; ++id) {
    ready.clear();
    walk.complete_one(id, add);
  }
  EXPECT_EQ(ready, std::vector<StepId>{join});
  EXPECT_TRUE(walk.is_ready(join));
  ready.clear();
  walk.complete_one(join, add);
  EXPECT_EQ(ready.size(), procs - 1);
}

TEST(ReadyWalk, HoldsAStepUntilItsConditionIsMet) {
  const Schedule schedule = gather_and_send();
  ReadyWalk walk(schedule);
  std::vector<StepId> ready;
  const auto add = [&](StepId id) { ready.push_back(id); };
  walk.hold(0);  // a receive without predecessors
  walk.hold(1);  // the copy that depends on it
  walk.start(add);
  EXPECT_EQ(ready.size(), procs - 2);
  ready.clear();
  walk.release(0, add);
  EXPECT_EQ(ready, std::vector<StepId>{0});
  ready.clear();
  walk.complete(0, add);
  EXPECT_TRUE(ready.empty());
  walk.release(1, add);
  EXPECT_EQ(ready, std::vector<StepId>{1});
}

TEST(ReadyWalk, AStepThatIsBegunIsNotReady) {
  const Schedule schedule = gather_and_send();
  ReadyWalk walk(schedule);
  EXPECT_TRUE(walk.is_ready(0));
  EXPECT_FALSE(walk.is_ready(1));
  walk.begin(0);
  EXPECT_FALSE(walk.is_ready(0));
  EXPECT_FALSE(walk.is_complete(0));
  walk.complete(0, [](StepId) {});
  EXPECT_TRUE(walk.is_complete(0));
  EXPECT_EQ(walk.incomplete(), schedule.size() - 1);
}

TEST(ReadyWalk, CountsInMemoryOfTheCallers) {
  const Schedule schedule = gather_and_send();
  std::vector<std::uint32_t> counters(schedule.size(), 77);
  BasicReadyWalk<std::uint32_t*> walk(schedule, counters.data());
  for (StepId id = 0; id < schedule.size(); ++id) EXPECT_EQ(counters[id], schedule[id].predecessors);
  walk.complete(0, [](StepId) {});
  EXPECT_EQ(counters[1], 0u);
}

TEST(ReadyWalk, OfNoSteps) {
  Builder builder;
  builder.begin(1, 0);
  const Schedule schedule = builder.finish();
  ReadyWalk walk(schedule);
  walk.start([](StepId) { FAIL(); });
  EXPECT_EQ(walk.incomplete(), 0u);
}

}  // namespace
}  // namespace convene::schedule
