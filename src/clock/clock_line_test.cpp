// SPDX-License-Identifier: BSD-3-Clause
#include "clock/clock_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace convene::clock {
namespace {

constexpr Nanoseconds second = 1'000'000'000;

TEST(RoundTrips, TheShortestCountsAndHalfOfItIsTheError) {
  RoundTrips trips;
  EXPECT_FALSE(trips.best().is_known());
  trips.add(1000, 5000, 1400);
  trips.add(2000, 6050, 2100);
  trips.add(3000, 7900, 4000);
  EXPECT_EQ(trips.best().error, 50);
  EXPECT_EQ(trips.best().offset, 2050 - 6050);
  EXPECT_EQ(trips.best().at, 2100);
}

TEST(RoundTrips, TheTrueOffsetIsWithinTheErrorHoweverUnequalTheWays) {
  std::mt19937 random(7);
  std::uniform_int_distribution<Nanoseconds> way(100, 5000);
  for (int run = 0; run < 200; ++run) {
    const Nanoseconds offset = way(random) * 1000 - 2'500'000;  // own clock minus the other
    RoundTrips trips;
    Nanoseconds now = 0;
    for (int trip = 0; trip < 10; ++trip) {
      const Nanoseconds before = now, there = before + way(random), back = there + way(random);
      trips.add(before, there - offset, back);
      now = back + 10;
    }
    EXPECT_LE(std::abs(trips.best().offset - offset), trips.best().error);
  }
}

TEST(ClockLine, KnowsNothingAtFirst) {
  const ClockLine line;
  EXPECT_FALSE(line.is_known());
  EXPECT_LT(line.error_at(0), 0);
}

TEST(ClockLine, TakesTheSurestOfLooksThatAreCloseInTime) {
  ClockLine line;
  line.add({.at = 1000, .offset = 500, .error = 90});
  line.add({.at = 2000, .offset = 470, .error = 10});
  line.add({.at = 3000, .offset = 440, .error = 50});
  EXPECT_EQ(line.drift(), 0);  // their errors could look like a drift
  EXPECT_EQ(line.to_other(5000), 4530);
  EXPECT_EQ(line.to_own(4530), 5000);
  EXPECT_EQ(line.error_at(2000), 10);
}

TEST(ClockLine, AnUnknownDriftWidensTheError) {
  ClockLine line;
  line.add({.at = 0, .offset = 0, .error = 10});
  EXPECT_EQ(line.error_at(second), 10 + 50'000);
  EXPECT_EQ(line.error_at(-2 * second), 10 + 100'000);
  // Also between measurements that are too close for a drift: the most precise one is the first.
  line.add({.at = second / 2, .offset = 0, .error = 1000});
  EXPECT_EQ(line.error_at(second / 2), 10 + 25'000);
}

/// Measurements of a clock that gains `drift`, with errors up to ±`error`.
ClockLine looks(double drift, Nanoseconds offset, Nanoseconds error, int count, Nanoseconds every) {
  std::mt19937 random(11);
  std::uniform_int_distribution<Nanoseconds> off(-error, error);
  ClockLine line;
  for (int i = 0; i < count; ++i) {
    const Nanoseconds at = 77 * second + i * every;
    const auto drifted = static_cast<Nanoseconds>(std::llround(drift * static_cast<double>(i * every)));
    line.add({.at = at, .offset = offset + drifted + off(random), .error = error});
  }
  return line;
}

TEST(ClockLine, FindsTheDrift) {
  for (const double drift : {0.0, 3e-6, -40e-6, 150e-6}) {
    const ClockLine line = looks(drift, 123'456'789, 0, 8, 5 * second);
    EXPECT_NEAR(line.drift(), drift, 1e-11);
    const Nanoseconds later = 77 * second + 100 * second;
    const auto offset = 123'456'789 + static_cast<Nanoseconds>(std::llround(drift * 100e9));
    EXPECT_NEAR(static_cast<double>(line.to_other(later)), static_cast<double>(later - offset), 3);
  }
}

TEST(ClockLine, TheTruthIsWithinItsErrorAlsoAfterTheLastLook) {
  constexpr double drift = -20e-6;
  for (const int count : {2, 3, 9, 200}) {
    const ClockLine line = looks(drift, -5'000'000, 4000, count, 3 * second);
    for (Nanoseconds passed = 0; passed < count * 4 * second; passed += second) {
      const auto truth =
          -5'000'000 + static_cast<Nanoseconds>(std::llround(drift * static_cast<double>(passed)));
      EXPECT_LE(std::abs(line.offset_at(77 * second + passed) - truth), line.error_at(77 * second + passed));
    }
  }
}

TEST(ClockLine, ThereAndBack) {
  const ClockLine line = looks(80e-6, 1'000'000'000, 100, 20, second);
  for (Nanoseconds own = 0; own < 1000 * second; own += 37 * second + 11)
    EXPECT_NEAR(static_cast<double>(line.to_own(line.to_other(own))), static_cast<double>(own), 2);
}

TEST(ClockLine, AStepShowsInTheError) {
  ClockLine line;
  for (int i = 0; i < 10; ++i) line.add({.at = i * second, .offset = i < 5 ? 0 : 1'000'000, .error = 100});
  EXPECT_GT(line.error_at(5 * second), 200'000);
}

}  // namespace
}  // namespace convene::clock
