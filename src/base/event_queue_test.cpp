// SPDX-License-Identifier: BSD-3-Clause
#include "base/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <random>
#include <set>

namespace convene::base {
namespace {

TEST(EventQueue, TakesEventsInTheOrderOfTimeAndThenOfComing) {
  EventQueue queue;
  queue.push(2.0, 0);
  queue.push(1.0, 1);
  queue.push(2.0, 2);
  queue.push(0.0, 3);
  std::vector<std::uint32_t> order;
  while (!queue.empty()) order.push_back(queue.pop().what);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 1, 0, 2}));
}

TEST(EventQueue, KnowsWhenAMomentIsOver) {
  EventQueue queue;
  queue.push(1.0, 0);
  queue.push(1.0, 1);
  queue.push(2.0, 2);
  queue.pop();
  EXPECT_FALSE(queue.moment_is_over());
  queue.pop();
  EXPECT_TRUE(queue.moment_is_over());
  EXPECT_FALSE(queue.empty());
}

/// Few or many distinct times, near or far: covers sorted lists, lists that grow too long, and buckets that
/// are distributed.
RC_GTEST_PROP(EventQueue, IsAStableSortWhileEventsAreAdded, ()) {
  EventQueue queue;
  std::set<std::pair<double, std::uint32_t>> waiting;
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const auto below = [&](std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random);
  };
  const std::uint64_t moments = *rc::gen::element(3, 50, 1'000'000);
  queue.look_ahead(*rc::gen::element(0, 13, 200));
  const double apart = *rc::gen::element(1e-12, 1e-7, 1e-3);
  double now = 0;
  std::uint32_t next = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const bool grows = turn / 500 % 2 == 0;
    if (waiting.empty() || below(4) < (grows ? 3u : 1u)) {
      const double time = now + static_cast<double>(below(moments)) * apart;
      queue.push(time, next);
      waiting.emplace(time, next++);
    } else {
      const auto first = waiting.begin();
      const TimedEvent event = queue.pop();
      RC_ASSERT(event.what == first->second);
      RC_ASSERT(event.seconds() == first->first);
      now = first->first;
      waiting.erase(first);
      RC_ASSERT(queue.moment_is_over() == (waiting.empty() || waiting.begin()->first != now));
    }
    RC_ASSERT(queue.empty() == waiting.empty());
  }
}

}  // namespace
}  // namespace convene::base
