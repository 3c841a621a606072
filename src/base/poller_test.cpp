// SPDX-License-Identifier: BSD-3-Clause
#include "base/poller.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

namespace convene::base {
namespace {

template <class Condition>
bool comes_true(Condition&& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!holds())
    if (std::chrono::steady_clock::now() > end)
      return false;
    else
      std::this_thread::yield();
  return true;
}

TEST(Poller, does_what_several_threads_give_it) {
  constexpr int threads = 4, each = 2000;
  std::atomic<int> given{0}, done{0};
  Poller poller([&] {
    const int all = given.load();
    if (done == all) return Poller::Found::nothing;
    done = all;
    return Poller::Found::moved;
  });
  std::vector<std::thread> givers;
  for (int i = 0; i < threads; ++i)
    givers.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        ++given;
        poller.wake();
      }
    });
  for (std::thread& giver : givers) giver.join();
  EXPECT_TRUE(comes_true([&] { return done == threads * each; }));
}

TEST(Poller, a_wake_just_before_it_falls_asleep_is_not_lost) {
  for (int times = 0; times < 300; ++times) {
    std::atomic<bool> given{false}, seen{false};
    Poller poller([&] {
      if (!given) return Poller::Found::nothing;
      seen = true;
      return Poller::Found::nothing;
    });
    given = true;
    poller.wake();
    ASSERT_TRUE(comes_true([&] { return seen.load(); }));
  }
}

TEST(Poller, sleeps_while_there_is_nothing_to_do) {
  Poller poller([] { return Poller::Found::nothing; });
  ASSERT_TRUE(comes_true([&] { return poller.polls() > Poller::looks_before_sleep; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(poller.polls(), 1u + Poller::looks_before_sleep);
}

TEST(Poller, rests_when_it_is_woken) {
  using Clock = std::chrono::steady_clock;
  std::atomic<Clock::time_point> looked{};
  Poller poller([&] {
    looked = Clock::now();
    return Poller::Found::nothing;
  });
  ASSERT_TRUE(comes_true([&] { return poller.polls() > Poller::looks_before_sleep; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto woken = Clock::now();
  poller.wake();
  ASSERT_TRUE(comes_true([&] { return looked.load() > woken; }));
  EXPECT_GE(looked.load() - woken, Poller::aside);
}

TEST(Poller, keeps_looking_while_something_is_outstanding) {
  Poller poller([] { return Poller::Found::waiting; });
  EXPECT_TRUE(comes_true([&] { return poller.polls() >= 20; }));
  EXPECT_GT(poller.cpu_seconds(), 0);
}

TEST(Poller, is_kept_on_a_core_that_exists) {
  Poller poller([] { return Poller::Found::nothing; });
  EXPECT_TRUE(poller.pin(sched_getcpu()));
  EXPECT_FALSE(poller.pin(-1));
  EXPECT_FALSE(poller.pin(1 << 20));
}

}  // namespace
}  // namespace convene::base
