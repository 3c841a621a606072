// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/stats/recording.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace convene::runtime {
namespace {

SiteKey site(std::uintptr_t address, Collective collective = Collective::allgather, int count = 1) {
  return {.address = reinterpret_cast<const void*>(address),
          .call = {.collective = collective, .sendcount = count},
          .is_blocking = true};
}

TEST(Recording, CallsAreNumberedAndComeBack) {
  Recording recording(8);
  CallStats record;
  EXPECT_EQ(recording.calls(), 0u);
  EXPECT_FALSE(recording.has(0));
  EXPECT_EQ(recording.begin(site(1), 100), 0u);
  EXPECT_TRUE(std::isnan(recording.timed(0).exit));
  recording.end(0, &record, 64, 150);
  EXPECT_EQ(recording.begin(site(2), 200), 1u);
  recording.end(1, nullptr, 0, 250);
  EXPECT_EQ(recording.call(0).arrival, 100u);
  EXPECT_EQ(recording.call(0).exit, 150u);
  EXPECT_EQ(recording.call(0).bytes, 64u);
  EXPECT_EQ(&recording.algorithm(recording.call(0).algorithm), &record);
  EXPECT_EQ(recording.call(1).algorithm, Recording::no_algorithm);
  EXPECT_EQ(recording.sites().size(), 2u);
}

TEST(Recording, SitesDifferByPlaceArgumentsAndForm) {
  Recording recording(64);
  SiteKey started = site(1);
  started.is_blocking = false;
  const SiteKey keys[] = {site(1), site(2), site(1, Collective::bcast), site(1, Collective::allgather, 2),
                          started};
  for (int round = 0; round < 3; ++round)
    for (const SiteKey& key : keys) recording.begin(key, 1);
  ASSERT_EQ(recording.sites().size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(recording.sites()[i].calls, 3u);
    EXPECT_EQ(recording.sites()[i].key, keys[i]);
    EXPECT_EQ(recording.call(10 + i).site, i);
    EXPECT_EQ(recording.call(10 + i).back, 5u);
    EXPECT_EQ(recording.call(i).back, 0u);
  }
}

TEST(Recording, TheOldestCallsAreOverwrittenAndNothingGrows) {
  Recording recording(8);
  for (std::uint64_t i = 0; i < 100; ++i) recording.end(recording.begin(site(1), i), nullptr, 0, i + 1);
  EXPECT_EQ(recording.calls(), 100u);
  EXPECT_EQ(recording.oldest(), 92u);
  EXPECT_FALSE(recording.has(91));
  for (std::uint64_t i = 92; i < 100; ++i) EXPECT_EQ(recording.call(i).arrival, i);
  recording.close();
  EXPECT_EQ(recording.call(93).arrival, 93u);
}

TEST(Recording, AHistoryIsOfOneSiteTheNewestFirst) {
  Recording recording(16);
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::uint64_t number = recording.begin(site(i % 3 == 0 ? 1 : 2), ticks());
    recording.end(number, nullptr, 0, ticks());
  }
  for (const std::uint64_t start = monotonic_ns(); monotonic_ns() < start + 1'000'000;) {
  }
  recording.refresh();
  std::array<TimedCall, 3> some;
  EXPECT_EQ(recording.history(0, some), 3u);
  EXPECT_EQ(some[0].number, 9u);
  EXPECT_EQ(some[1].number, 6u);
  EXPECT_EQ(some[2].number, 3u);
  EXPECT_GE(some[0].exit, some[0].arrival);
  EXPECT_GT(some[0].arrival, some[1].arrival);
  std::array<TimedCall, 20> all;
  EXPECT_EQ(recording.history(0, all), 4u);
  EXPECT_EQ(recording.history(1, all), 6u);
  EXPECT_EQ(recording.history(2, all), 0u);
}

TEST(Recording, AHistoryEndsWhereTheRingDoes) {
  Recording recording(4);
  for (std::uint64_t i = 0; i < 9; ++i)
    recording.end(recording.begin(site(1 + i % 2), i + 1), nullptr, 0, i + 2);
  std::array<TimedCall, 20> all;
  EXPECT_EQ(recording.history(0, all), 2u);
  EXPECT_EQ(recording.history(1, all), 2u);
}

TEST(Recording, TooManySitesShareTheLastOne) {
  Recording recording(4);
  for (std::uintptr_t i = 1; i <= 3000; ++i) recording.begin(site(i), i);
  EXPECT_EQ(recording.sites().size(), Recording::most_sites);
  EXPECT_EQ(recording.sites().back().key.address, nullptr);
  EXPECT_EQ(recording.sites().back().calls, 3001 - Recording::most_sites);
  EXPECT_EQ(recording.begin(site(17), 1), 3000u);
  EXPECT_EQ(recording.call(3000).site, 16u);
}

TEST(Recording, TheClockIsWantedAfterEverLongerStretches) {
  Recording recording(4);
  std::vector<std::uint64_t> when;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    recording.begin(site(1), i);
    if (recording.wants_clock()) when.push_back(recording.calls());
  }
  EXPECT_EQ(when, (std::vector<std::uint64_t>{1, 64, 128, 256, 512}));
}

TEST(Recording, ARecordingThatIsClosedEarlyKeepsItsCalls) {
  Recording recording(1 << 16);
  for (std::uint64_t i = 0; i < 5; ++i) recording.end(recording.begin(site(1), i + 1), nullptr, 7, i + 2);
  recording.close();
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(recording.call(i).arrival, i + 1);
    EXPECT_EQ(recording.call(i).bytes, 7u);
  }
}

TEST(TickLine, FollowsTheMonotonicClock) {
  TickLine line;
  const TickMoment before = TickMoment::now();
  while (monotonic_ns() < before.ns + 20'000'000) {
  }
  line.refresh();
  const TickMoment after = TickMoment::now();
  EXPECT_NEAR(static_cast<double>(line.to_ns(after.ticks)), static_cast<double>(after.ns), 20'000);
  EXPECT_NEAR(static_cast<double>(line.to_ns(before.ticks)), static_cast<double>(before.ns), 20'000);
}

}  // namespace
}  // namespace convene::runtime
