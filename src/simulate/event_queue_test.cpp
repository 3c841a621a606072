// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace convene {
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

RC_GTEST_PROP(EventQueue, IsAStableSortWhileEventsAreAdded, ()) {
  EventQueue queue;
  std::vector<std::pair<double, std::uint32_t>> waiting;
  double now = 0;
  std::uint32_t next = 0;
  for (int turn = *rc::gen::inRange(1, 200); turn > 0; --turn) {
    if (waiting.empty() || *rc::gen::inRange(0, 3) > 0) {
      const double time = on_grid(now + *rc::gen::inRange(0, 5) * 1e-7);
      queue.push(time, next);
      waiting.emplace_back(time, next++);
    } else {
      const auto first = std::min_element(waiting.begin(), waiting.end());
      const Event event = queue.pop();
      RC_ASSERT(event.what == first->second);
      RC_ASSERT(event.seconds() == on_grid(first->first));
      now = first->first;
      waiting.erase(first);
    }
    RC_ASSERT(queue.empty() == waiting.empty());
  }
}

}  // namespace
}  // namespace convene
