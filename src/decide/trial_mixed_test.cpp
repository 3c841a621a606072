// SPDX-License-Identifier: BSD-3-Clause
// Trials whose calls are of several sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>

#include "arrival/random.hpp"
#include "decide/trial.hpp"

namespace convene::decide {
namespace {

constexpr double run_time = 2000;  // nanoseconds of a native call of the least size
constexpr int programs = 200;

/// The share of programs that change to the candidate in a round of trials. `speed`: its time, in native's;
/// `size`: the time of a call, in that of the least size, by its number. One rank: all of them are alike.
double share_of_changes(double speed, bool is_mixed, const std::function<double(std::uint64_t)>& size) {
  int changes = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    arrival::Random random(seed, 0);
    Trial trial({.seed = seed, .calls = 256, .is_mixed = is_mixed});
    double now = 256 * run_time;
    const auto agree = [&] {
      while (trial.boundary()) {
        trial.agree(
            trial.report({.elapsed = static_cast<std::int64_t>(now), .share = 1}, TrialWish::learn, 500));
        if (trial.wants_candidates()) trial.set_candidates({0}, 7);
      }
    };
    agree();
    for (std::uint64_t call = seed; call < 4096 && trial.incumbent() == Trial::native; ++call) {
      const double in_call = run_time * size(call) * (trial.next() == Trial::native ? 1 : speed) *
                             std::exp(0.03 * random.normal());
      now += in_call + 0.1 * run_time;
      if (trial.is_measuring())
        trial.record(static_cast<std::int64_t>(0.1 * run_time), static_cast<std::int64_t>(in_call));
      else
        trial.pass();
      agree();
    }
    changes += trial.incumbent() != Trial::native;
  }
  return static_cast<double>(changes) / programs;
}

/// As many calls of each size as a block has: adjacent blocks differ.
double in_steps(std::uint64_t call) { return call / 8 % 2 == 0 ? 1 : 1.6; }
double in_turn(std::uint64_t call) { return 1 + static_cast<double>(call % 48) / 64; }

TEST(MixedSizes, DoNotCauseAChange) {
  EXPECT_LE(share_of_changes(1, true, in_steps), 0.01);
  EXPECT_LE(share_of_changes(1.1, true, in_steps), 0.01);
  EXPECT_LE(share_of_changes(1, true, in_turn), 0.01);
  for (const auto& size : {in_steps, in_turn})
    EXPECT_GE(share_of_changes(1, false, size), 0.1) << "deviations from the median say too little here";
}

TEST(MixedSizes, DoNotHideALargeGain) {
  EXPECT_GE(share_of_changes(0.8, true, in_turn), 0.95);
  EXPECT_GE(share_of_changes(0.5, true, in_steps), 0.95);
}

}  // namespace
}  // namespace convene::decide
