// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/order.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "schedule/builder.hpp"

namespace convene {
namespace {

/// Rank 0 of four, with a place for each of the others' blocks and for its own.
Schedule schedule_of(const std::function<void(Builder&)>& steps) {
  Builder builder;
  builder.begin(4, 0);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, 4);
  steps(builder);
  return builder.finish();
}

void recv(Builder& builder, Rank peer) { builder.recv(peer, Range(Buffer::output, peer)); }

TEST(SoonerInAnyOrder, NothingHangsOnWhatIsOnlyReceived) {
  const Schedule schedule = schedule_of([](Builder& builder) {
    for (Rank peer = 1; peer < 4; ++peer) recv(builder, peer);
  });
  EXPECT_EQ(sooner_in_any_order(schedule), Sooner::nothing);
}

TEST(SoonerInAnyOrder, OneMessageARoundHasNoOther) {
  const Schedule schedule = schedule_of([](Builder& builder) {
    for (Rank peer = 1; peer < 4; ++peer) {
      builder.round(peer - 1);
      recv(builder, peer);
      builder.combine(Range(Buffer::output, peer), Range(Buffer::output, 0));
    }
  });
  EXPECT_EQ(sooner_in_any_order(schedule), Sooner::nothing);
}

TEST(SoonerInAnyOrder, CombinesAtTheRootAreLocal) {
  const Schedule schedule = schedule_of([](Builder& builder) {
    for (Rank peer = 1; peer < 4; ++peer) {
      recv(builder, peer);
      builder.combine(Range(Buffer::output, peer), Range(Buffer::output, 0));
    }
  });
  EXPECT_EQ(sooner_in_any_order(schedule), Sooner::local_steps);
}

TEST(SoonerInAnyOrder, ASumOfAllIsSentNoSooner) {
  const Schedule schedule = schedule_of([](Builder& builder) {
    for (Rank peer = 1; peer < 4; ++peer) {
      recv(builder, peer);
      builder.combine(Range(Buffer::output, peer), Range(Buffer::output, 0));
    }
    builder.round(1);
    builder.send(1, Range(Buffer::output, 0));
  });
  EXPECT_EQ(sooner_in_any_order(schedule), Sooner::local_steps);
}

TEST(SoonerInAnyOrder, APartThatIsSentOnIsAMessage) {
  for (const bool at_once : {true, false}) {
    const Schedule schedule = schedule_of([at_once](Builder& builder) {
      recv(builder, 1);
      recv(builder, 2);
      if (!at_once) builder.combine(Range(Buffer::output, 1), Range(Buffer::output, 0));
      builder.round(1);
      builder.send(3, Range(Buffer::output, at_once ? 1 : 0));
    });
    EXPECT_EQ(sooner_in_any_order(schedule), Sooner::messages) << at_once;
  }
}

}  // namespace
}  // namespace convene
