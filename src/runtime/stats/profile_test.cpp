// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/stats/profile.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace convene::runtime {
namespace {

/// A program whose calls last as long as `lasts` says, in ticks, with `pause` ticks between them.
struct Program {
  std::function<std::uint64_t(std::uint64_t call)> lasts;
  std::uint64_t pause = 100;
  CallStats stats = {};
  std::uint64_t now = 1'000'000, total = 0;

  void run(std::uint64_t calls) {
    for (std::uint64_t call = 0; call < calls; ++call) {
      const std::uint64_t start = now += pause, took = lasts(call);
      now += took;
      total += took;
      if (stats.is_due())
        stats.add(start, now, 8);
      else
        stats.count(8);
    }
  }
  double estimate() const { return stats.all_ticks() / static_cast<double>(total); }
};

TEST(CallStats, CountsEachCall) {
  Program program{[](auto) { return 1'000; }};
  program.run(12'345);
  EXPECT_EQ(program.stats.calls, 12'345u);
  EXPECT_EQ(program.stats.bytes, 8u * 12'345u);
  EXPECT_DOUBLE_EQ(program.estimate(), 1);
}

TEST(CallStats, TimesFewCallsInQuickSuccession) {
  Program program{[](auto) { return 1'000; }};
  program.run(100);
  EXPECT_GE(program.stats.timed, 12u);
  program.run(99'900);
  EXPECT_LE(program.stats.timed, 100'000u / 30);
}

TEST(CallStats, TimesAllCallsThatAreLongOrRare) {
  Program lasting{[](auto) { return 30'000; }};
  lasting.run(1'000);
  EXPECT_EQ(lasting.stats.timed, 1'000u);
  Program rare{[](auto) { return 1'000; }, 200'000};
  rare.run(1'000);
  EXPECT_EQ(rare.stats.timed, 1'000u);
}

TEST(CallStats, FirstCallStandsForItself) {
  Program program{[](auto call) { return call == 0 ? 3'000'000 : 1'000; }};
  program.run(1'000);
  EXPECT_NEAR(program.estimate(), 1, 0.01);
}

TEST(CallStats, ShortCallsAreNotCountedAsLongOnes) {
  Program program{[](auto call) { return call % 5'500 < 500 ? 60'000 : 1'000; }};
  program.run(55'000);
  EXPECT_NEAR(program.estimate(), 1, 0.05);
}

TEST(CallStats, ExtrapolatesLoopsOfAnyLength) {
  for (const std::uint64_t loop : {2, 3, 5, 8, 10, 16, 32, 64, 100}) {
    Program program{[&](auto call) { return call % loop == 0 ? 8'000 : 1'000; }};
    program.run(100'000);
    EXPECT_NEAR(program.estimate(), 1, 0.15) << loop;
    EXPECT_LT(program.stats.timed, 20'000u) << loop;
  }
}

TEST(CallStats, MergesEstimates) {
  Program one{[](auto) { return 1'000; }}, other{[](auto) { return 50'000; }};
  one.run(10'000);
  other.run(100);
  one.stats.merge(other.stats);
  EXPECT_NEAR(one.stats.all_ticks() / static_cast<double>(one.total + other.total), 1, 0.01);
}

}  // namespace
}  // namespace convene::runtime
