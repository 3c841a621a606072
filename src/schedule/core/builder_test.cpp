// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/builder.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "schedule/check/hazards.hpp"
#include "schedule/core/order.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::schedule {
namespace {

constexpr Rank procs = 4;
constexpr std::uint32_t sizes[] = {3, 7, 5, 1, 4};
constexpr Buffer names[] = {Buffer::input, Buffer::output, scratch(0), scratch(1), Buffer::shared};
constexpr auto buffers = static_cast<int>(std::size(sizes)), shared_places = buffers - 1;

std::uint32_t size_of(Buffer buffer) {
  return sizes[std::find(std::begin(names), std::end(names), buffer) - std::begin(names)];
}

/// A copy that outlives the temporary.
std::vector<StepId> predecessors(const Schedule& schedule, StepId id) {
  const Predecessors all = schedule.predecessors();
  return {all[id].begin(), all[id].end()};
}

/// A random call of the builder.
struct Wish {
  enum Kind { send, recv, copy, combine, join } kind;
  Rank peer;
  std::vector<Range> from, to;
};

/// A range without repeated places: its stride may wrap around the buffer any number of times.
rc::Gen<Range> range_in(int buffer) {
  return rc::gen::exec([buffer] {
    const std::uint32_t places = sizes[buffer];
    const auto first = *rc::gen::inRange(0u, 3 * places);
    const auto stride = *rc::gen::inRange(1u, 3 * places);
    const std::uint32_t distinct = places / std::gcd(places, stride);
    return Range(names[buffer], first, *rc::gen::inRange(0u, distinct + 1), stride);
  });
}

/// Ranges of different buffers, so that no place occurs twice: of shared places (then it is a signal) or of
/// others.
std::vector<Range> some_ranges(int first_buffer) {
  std::vector<Range> ranges;
  if (*rc::gen::inRange(0, 4) == 0) return {*range_in(shared_places)};
  for (int buffer = first_buffer; buffer < shared_places; ++buffer)
    if (*rc::gen::inRange(0, 3) == 0) ranges.push_back(*range_in(buffer));
  return ranges;
}

rc::Gen<Wish> any_wish() {
  return rc::gen::exec([] {
    Wish wish{*rc::gen::element(Wish::send, Wish::recv, Wish::copy, Wish::combine, Wish::join),
              *rc::gen::inRange(1u, procs),
              {},
              {}};
    switch (wish.kind) {
      case Wish::send:
        wish.from = some_ranges(0);
        break;
      case Wish::recv:
        wish.to = some_ranges(1);
        break;
      case Wish::copy:
      case Wish::combine: {
        const Range from = *range_in(*rc::gen::inRange(0, 2)),
                    to = *range_in(*rc::gen::element(2, shared_places));
        const std::uint32_t count = std::min(from.count(), to.count());
        wish.from.emplace_back(from.buffer(), from.first, count, from.stride);
        wish.to.emplace_back(to.buffer(), to.first, count, to.stride);
        break;
      }
      case Wish::join:
        wish.from.push_back(*range_in(*rc::gen::inRange(1, buffers)));
        break;
    }
    return wish;
  });
}

void begin(Builder& builder) {
  builder.begin(procs, 0);
  for (int b = 0; b < shared_places; ++b) builder.buffer(names[b], sizes[b]);
  builder.share(sizes[shared_places]);
}

Schedule build(Builder& builder, const std::vector<Wish>& wishes) {
  begin(builder);
  for (const Wish& wish : wishes) switch (wish.kind) {
      case Wish::send:
        builder.send(wish.peer, wish.from);
        break;
      case Wish::recv:
        builder.recv(wish.peer, wish.to);
        break;
      case Wish::copy:
        builder.copy(wish.from, wish.to);
        break;
      case Wish::combine:
        builder.combine(wish.from, wish.to);
        break;
      case Wish::join:
        builder.join(wish.from[0]);
        break;
    }
  return builder.finish();
}

std::vector<Wish> any_wishes() { return *rc::gen::container<std::vector<Wish>>(any_wish()); }

RC_GTEST_PROP(Builder, OrdersWhatMustBeOrdered, ()) {
  Builder builder;
  const Schedule schedule = build(builder, any_wishes());
  schedule.validate();  // numbers grow along dependencies, predecessors are counted right
  RC_ASSERT(find_hazard(schedule) == "");
  RC_ASSERT(orders_everything(schedule));
}

RC_GTEST_PROP(Builder, OrdersNothingElse, ()) {
  Builder builder;
  std::vector<Wish> wishes = any_wishes();
  std::erase_if(wishes, [](const Wish& wish) { return wish.kind == Wish::join; });
  const Schedule schedule = build(builder, wishes);
  const auto conflicts = all_hazards(schedule);
  const auto predecessors = schedule.predecessors();
  for (StepId id = 0; id < schedule.size(); ++id)
    for (StepId before : predecessors[id]) {
      if (schedule[id].kind == StepKind::join) continue;
      // Through a join: each of its predecessors.
      const bool joined = schedule[before].kind == StepKind::join;
      for (StepId cause : joined ? predecessors[before] : std::span<const StepId>(&before, 1))
        RC_ASSERT(conflicts.contains({cause, id}));
    }
}

RC_GTEST_PROP(Builder, CheckerAndJudgeAgreeOnLostDependencies, ()) {
  Builder builder;
  const Schedule schedule = build(builder, any_wishes());
  const auto predecessors = schedule.predecessors();
  for (StepId id = 0; id < schedule.size(); ++id)
    for (StepId before : predecessors[id]) {
      Mutation mutation(schedule);
      mutation.drop_dependency(before, id);
      const Schedule mutant = mutation.schedule();
      RC_ASSERT((find_hazard(mutant) == "") == orders_everything(mutant));
    }
}

RC_GTEST_PROP(Builder, KeepsEverySlotInItsOrder, ()) {
  Builder builder;
  std::vector<Wish> wishes = any_wishes();
  std::erase_if(wishes, [](const Wish& wish) { return wish.kind == Wish::join; });
  const Schedule schedule = build(builder, wishes);
  using Slots = std::vector<std::pair<Buffer, std::uint64_t>>;
  std::vector<Slots> wanted, found;
  for (const Wish& wish : wishes) {
    Slots slots;
    for (const auto* ranges : {&wish.from, &wish.to})
      for (const Range& range : *ranges)
        for (std::uint64_t i = 0; i < range.count(); ++i)
          slots.emplace_back(range.buffer(), (range.first + i * range.stride) % size_of(range.buffer()));
    if (!slots.empty()) wanted.push_back(slots);  // an empty set of slots makes no step
  }
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].kind == StepKind::join) continue;
    Slots& slots = found.emplace_back();
    for (const Range& range : schedule.ranges(id))
      for_each_place(range, schedule.places(range.buffer()),
                     [&](Place place) { slots.emplace_back(range.buffer(), place); });
  }
  RC_ASSERT(found == wanted);
}

RC_GTEST_PROP(Builder, NumbersMessagesByPeer, ()) {
  Builder builder;
  const Schedule schedule = build(builder, any_wishes());
  std::uint32_t next[2][procs] = {};
  for (const Step& step : schedule.steps())
    if (step.is_message()) RC_ASSERT(step.match == next[step.kind == StepKind::send][step.peer]++);
}

RC_GTEST_PROP(Builder, ForgetsWhatItBuiltBefore, ()) {
  Builder fresh, used;
  build(used, any_wishes());
  const std::vector<Wish> wishes = any_wishes();
  const Schedule a = build(fresh, wishes), b = build(used, wishes);
  RC_ASSERT(a.size() == b.size());
  RC_ASSERT(a.predecessors() == b.predecessors());
}

RC_GTEST_PROP(Order, IssuesEveryStepOnceAndInOrder, ()) {
  Builder builder;
  const Schedule schedule = build(builder, any_wishes());
  const Limits limits{*rc::gen::inRange(1u, 5u), *rc::gen::inRange(1u, 5u)};
  const auto before = schedule.predecessors();
  std::vector<bool> issued(schedule.size(), false), complete(schedule.size(), false);
  // A join is complete when all its predecessors are; ids grow, so one look back is enough.
  const auto is_complete = [&](auto& self, StepId id) -> bool {
    if (schedule[id].kind != StepKind::join) return complete[id];
    return std::all_of(before[id].begin(), before[id].end(), [&](StepId b) { return self(self, b); });
  };
  for (const Op op : compile_order(schedule, limits)) {
    if (op.action() == Action::wait_all) {
      for (StepId id = 0; id < schedule.size(); ++id) complete[id] = complete[id] || issued[id];
    } else if (op.action() == Action::wait) {
      // A signal is only waited for.
      if (schedule[op.step()].is_shm_signal())
        for (StepId b : before[op.step()]) RC_ASSERT(is_complete(is_complete, b));
      else
        RC_ASSERT(issued[op.step()]);
      RC_ASSERT(!complete[op.step()]);
      complete[op.step()] = true;
    } else {
      RC_ASSERT(!issued[op.step()]);
      issued[op.step()] = true;
      complete[op.step()] = !schedule[op.step()].is_in_flight();
      for (StepId b : before[op.step()]) RC_ASSERT(is_complete(is_complete, b));
    }
  }
  for (StepId id = 0; id < schedule.size(); ++id) RC_ASSERT(is_complete(is_complete, id));
}

TEST(Builder, PutsAnAliasedInputIntoTheOutput) {
  Builder builder;
  begin(builder);
  builder.alias(Buffer::input, Buffer::output, 4);
  builder.copy(Range(Buffer::input, 0, 3), Range(Buffer::output, 4, 3));  // a copy onto itself makes no step
  builder.send(1, Range(Buffer::input, 1));
  builder.recv(1, Range(Buffer::output, 5));
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_EQ(schedule.ranges(0)[0], Range(Buffer::output, 5, 1, 1));
  EXPECT_EQ(predecessors(schedule, 1), (std::vector<StepId>{0}));
}

TEST(Builder, JoinsLargeSetsThatManyStepsShare) {
  constexpr Rank many = 200;
  Builder builder;
  builder.begin(many, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, many);
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
  for (Rank peer = 1; peer < many; ++peer) builder.recv(peer, Range(Buffer::output, peer));
  for (Rank peer = 1; peer < many; ++peer) builder.send(peer, Range(Buffer::output, 0, many));
  const Schedule schedule = builder.finish();
  EXPECT_EQ(find_hazard(schedule), "");
  EXPECT_LT(schedule.edges(), 4 * many);
}

TEST(Builder, KeepsMessagesWithTheSameTagApart) {
  Builder builder;
  begin(builder);
  for (std::uint32_t i = 0; i < 2 * match_window + 3; ++i) builder.send(1, Range(Buffer::input, 0));
  const Schedule schedule = builder.finish();
  schedule.validate();
  const auto predecessors = schedule.predecessors();
  for (StepId id = 0; id < schedule.size(); ++id) {
    const std::vector<StepId> wanted =
        id < match_window ? std::vector<StepId>{} : std::vector{id - match_window};
    EXPECT_TRUE(std::ranges::equal(predecessors[id], wanted));
  }
}

/// A step counts the ranges that it copies from in 8 bits.
TEST(Builder, CutsACopyFromManyRanges) {
  constexpr Place many = 3 * most_from_ranges;
  Builder builder;
  builder.begin(procs, 0);
  builder.buffer(Buffer::input, 2 * many);
  builder.buffer(Buffer::output, 2 * many);
  std::vector<Range> from;  // two places each, in an order that no stride describes
  for (Place i = 0; i < many; ++i) from.emplace_back(Buffer::input, 2 * (i ^ 1) % (2 * many), 2);
  const Range to(Buffer::output, 0, 2 * many);
  builder.copy(from, std::span(&to, 1));
  builder.send(1, from);
  const Schedule schedule = builder.finish();
  schedule.validate();
  std::vector<Place> source, target;
  StepId copies = 0;
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].kind == StepKind::send) {
      EXPECT_EQ(schedule.ranges(id).size(), many);
      continue;
    }
    ++copies;
    for (const Range& range : schedule.from(id))
      for_each_place(range, 2 * many, [&](Place place) { source.push_back(place); });
    for (const Range& range : schedule.to(id))
      for_each_place(range, 2 * many, [&](Place place) { target.push_back(place); });
  }
  EXPECT_EQ(copies, 3u);
  ASSERT_EQ(source.size(), 2 * many);
  ASSERT_EQ(target.size(), 2 * many);
  for (Place i = 0; i < 2 * many; ++i) {
    EXPECT_EQ(source[i], from[i / 2].first + i % 2);
    EXPECT_EQ(target[i], i);
  }
}

TEST(Builder, PacedMessagesWaitForEarlierRounds) {
  Builder builder;
  begin(builder);
  builder.send(1, Range(Buffer::input, 0));  // step 0: before the pace is set
  builder.pace_rounds();
  builder.send(2, Range(Buffer::input, 1));                         // step 1
  builder.recv(2, Range(Buffer::output, 1));                        // step 2
  builder.round(3);                                                 // step 3: a join
  builder.send(3, Range(Buffer::input, 2));                         // step 4
  builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));  // step 5: no message
  builder.round(4);
  builder.round(5);                           // a round without messages before it
  builder.recv(3, Range(Buffer::output, 2));  // step 6
  const Schedule schedule = builder.finish();
  ASSERT_EQ(schedule.size(), 7u);
  EXPECT_EQ(schedule[3].kind, StepKind::join);
  EXPECT_EQ(predecessors(schedule, 3), (std::vector<StepId>{1, 2}));
  EXPECT_EQ(predecessors(schedule, 4), (std::vector<StepId>{3}));
  EXPECT_EQ(predecessors(schedule, 5), (std::vector<StepId>{}));
  EXPECT_EQ(predecessors(schedule, 6), (std::vector<StepId>{4}));
}

TEST(Builder, PaceEndsWithTheInnermostSchedule) {
  Builder builder;
  for (int times = 0; times < 2; ++times) {  // nothing is left of the first schedule
    begin(builder);
    builder.enter({.ranks = {0, 1, 2, 3}, .input = {{Range(Buffer::input, 0)}}, .output = {}});
    builder.pace_rounds();
    builder.send(1, Range(Buffer::input, 0));
    EXPECT_THROW(builder.enter({}), std::logic_error);
    builder.leave();
    builder.round(1);
    builder.send(2, Range(Buffer::input, 1));
    builder.pace_rounds();
    builder.send(3, Range(Buffer::input, 1));
    EXPECT_THROW(builder.round(0), std::logic_error);
    const Schedule schedule = builder.finish();
    ASSERT_EQ(schedule.size(), 3u);
    EXPECT_EQ(predecessors(schedule, 1), (std::vector<StepId>{}));
  }
}

TEST(Builder, RefusesWhatCannotBe) {
  Builder builder;
  begin(builder);
  EXPECT_THROW(builder.send(0, Range(Buffer::input, 0)), std::logic_error);
  EXPECT_THROW(builder.recv(procs, Range(Buffer::output, 0)), std::logic_error);
  EXPECT_THROW(builder.send(1, Range(scratch(5), 0)), std::logic_error);
  EXPECT_THROW(builder.copy(Range(Buffer::input, 0, 2), Range(Buffer::output, 0, 1)), std::logic_error);
  EXPECT_THROW(builder.combine(Range(Buffer::input, 0, 2), Range(Buffer::output, 0, 1)), std::logic_error);
  EXPECT_THROW(builder.combine(Range(Buffer::output, 1), Range(Buffer::output, 1)), std::logic_error);
}

TEST(Builder, MessagesAreOfSharedPlacesOrOfOthers) {
  Builder builder;
  builder.begin(2, 0);
  builder.buffer(Buffer::input, 1);
  builder.share(1);
  EXPECT_THROW(builder.send(1, {Range(Buffer::input, 0), Range(Buffer::shared, 0)}), std::logic_error);
}

TEST(Builder, SharedPlacesOfAnInnerScheduleAreAsManyAsItsBlocks) {
  Builder builder;
  builder.begin(4, 3);
  builder.buffer(Buffer::output, 4);
  Embedding view;
  view.rank = 1;
  view.ranks = {2, 3};
  view.output = view.blocks = {{Range(Buffer::output, 0, 2)}, {Range(Buffer::output, 2, 2)}};
  builder.enter(view);
  builder.share(3);
  builder.recv(0, Range(Buffer::shared, 1));
  builder.copy(Range(Buffer::shared, 1), Range(Buffer::output, 1));
  builder.leave();
  const Schedule schedule = builder.finish();
  EXPECT_EQ(schedule.places(Buffer::shared), 6u);
  EXPECT_EQ(schedule.first_sharer(), 2u);
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_TRUE(schedule[0].is_shm_signal());
  EXPECT_EQ(schedule[0].peer, 2u);
  EXPECT_EQ(schedule.ranges(0)[0], Range(Buffer::shared, 2, 2));
  EXPECT_EQ(schedule.from(1)[0], Range(Buffer::shared, 2, 2));
  EXPECT_EQ(schedule.to(1)[0], Range(Buffer::output, 2, 2));
}

}  // namespace
}  // namespace convene::schedule
