// SPDX-License-Identifier: BSD-3-Clause
#include "decide/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "arrival/random.hpp"

namespace convene::decide {
namespace {

using arrival::Random;

constexpr double run_time = 2000;  // nanoseconds of a native call

/// A program: how long an alternative takes, and how far apart ranks arrive.
struct Scene {
  std::vector<double> speeds = {1, 1};  // times of the alternatives, in native's
  double imbalance = 0;                 // mean of each rank's computation before a call, in run times
  double share = 1;                     // of elapsed time that trials may take
  std::uint32_t procs = 3, incumbent = Trial::native;
  double set_up = 0, exchange = 500;  // nanoseconds: of a candidate's first call; of an agreement
  bool only_observes = false;
};

/// All ranks of a program that alternates computation and calls.
class Program {
 public:
  Program(const Scene& scene, std::uint64_t seed)
      : scene_(scene), random_(seed, 0), exits_(scene.procs, before * run_time), spent_(scene.procs, 0) {
    for (std::uint32_t rank = 0; rank < scene.procs; ++rank)
      ranks_.emplace_back(Trial::Setup{.procs = scene.procs,
                                       .incumbent = scene.incumbent,
                                       .seed = seed,
                                       .calls = before,
                                       .only_observes = scene.only_observes});
    if (scene.incumbent != Trial::native) list_candidates();
    wishes.assign(scene.procs, TrialWish::learn);
    while (ranks_[0].boundary()) agree();
  }

  void run(std::uint64_t calls) {
    for (const std::uint64_t end = ranks_[0].calls() + calls; ranks_[0].calls() < end;)
      if (!skip(end - ranks_[0].calls())) call();
  }
  /// Ends with the first round, or after this number of calls.
  void run_round(std::uint64_t calls) {
    const auto is_over = [&] { return ranks_[0].is_settled() || ranks_[0].has_ended(); };
    if (is_over()) run(1);
    for (const std::uint64_t end = ranks_[0].calls() + calls; ranks_[0].calls() < end && !is_over();)
      if (!skip(end - ranks_[0].calls())) call();
  }

  const Trial& operator[](std::size_t rank) const { return ranks_[rank]; }
  Trial& rank(std::size_t rank) { return ranks_[rank]; }
  std::uint64_t uses(std::uint32_t alternative) const { return uses_[alternative]; }
  int agreements() const { return agreements_; }
  double spent() const { return static_cast<double>(spent_[0]); }
  double spent_share() const { return static_cast<double>(spent_[0]) / exits_[0]; }

  std::vector<TrialWish> wishes;
  /// Lengthens the next call.
  void delay(double nanoseconds) { delay_ = nanoseconds; }
  void set_speeds(std::vector<double> speeds) { scene_.speeds = std::move(speeds); }

 private:
  /// Lognormal with a few time slices of other processes, on a machine whose speed drifts.
  double noise() {
    drift_ = 0.98 * drift_ + 0.01 * random_.normal();
    const double slice = random_.uniform() < 0.03 ? 1 + 4 * random_.exponential() : 1;
    return std::exp(0.12 * random_.normal() + drift_) * slice;
  }

  /// Calls that are only counted: their times do not matter. False if there are none.
  bool skip(std::uint64_t most) {
    const std::uint64_t calls = std::min(most, ranks_[0].has_ended() ? most : ranks_[0].calls_to_pass());
    for (Trial& rank : ranks_) rank.pass(calls);
    for (double& exit : exits_) exit += static_cast<double>(calls) * run_time * (1.1 + scene_.imbalance);
    uses_[ranks_[0].incumbent()] += calls;
    return calls > 0;
  }

  void call() {
    const std::uint32_t alternative = ranks_[0].next();
    for (const Trial& rank : ranks_)
      if (rank.next() != alternative) FAIL() << "ranks differ";
    ++uses_[alternative];
    std::vector<double> entries;
    double last = 0;
    for (const double exit : exits_) {
      entries.push_back(exit + run_time * (0.1 + scene_.imbalance * random_.exponential()));
      last = std::max(last, entries.back());
    }
    const double set_up = uses_[alternative] == 1 && alternative != scene_.incumbent ? scene_.set_up : 0;
    const double end =
        last + run_time * scene_.speeds[alternative] * noise() + set_up + std::exchange(delay_, 0);
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const double exit = end + 0.05 * run_time * random_.exponential();
      if (ranks_[rank].is_measuring())
        ranks_[rank].record(static_cast<std::int64_t>(entries[rank] - exits_[rank]),
                            static_cast<std::int64_t>(exit - entries[rank]));
      else
        ranks_[rank].pass();
      exits_[rank] = exit;
    }
    while (ranks_[0].boundary()) agree();
  }

  void list_candidates() {
    const std::vector<std::int64_t> set_ups(scene_.speeds.size() - 1,
                                            static_cast<std::int64_t>(scene_.set_up));
    for (Trial& rank : ranks_) rank.set_candidates(set_ups, 7);
  }

  void agree() {
    const auto exchange = static_cast<std::int64_t>(scene_.exchange);
    ++agreements_;
    std::optional<TrialReport> all;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ASSERT_TRUE(ranks_[rank].boundary());
      spent_[rank] += ranks_[rank].cost() + exchange;
      const TrialReport mine = ranks_[rank].report(
          {.elapsed = static_cast<std::int64_t>(exits_[rank]), .spent = spent_[rank], .share = scene_.share},
          wishes[rank], exchange);
      if (!all) {
        all = mine;
        continue;
      }
      ASSERT_EQ(mine.greatest.size(), all->greatest.size());
      ASSERT_EQ(mine.sums.size(), all->sums.size());
      for (std::size_t i = 0; i < mine.greatest.size(); ++i)
        all->greatest[i] = std::max(all->greatest[i], mine.greatest[i]);
      for (std::size_t i = 0; i < mine.sums.size(); ++i) all->sums[i] += mine.sums[i];
    }
    for (double& exit : exits_) exit += scene_.exchange;
    for (Trial& rank : ranks_) rank.agree(*all);
    if (ranks_[0].wants_candidates()) list_candidates();
  }

  Scene scene_;
  Random random_;
  std::vector<Trial> ranks_;
  std::vector<double> exits_;
  std::vector<std::int64_t> spent_;
  std::array<std::uint64_t, 8> uses_{};
  static constexpr std::uint64_t before = 256;
  double drift_ = 0, delay_ = 0;
  int agreements_ = 0;
};

constexpr int programs = 100;

/// The share of programs that run an alternative after so many calls.
double share_with(std::uint32_t alternative, Scene scene, std::uint64_t calls = 2048) {
  scene.procs = 2;
  int found = 0;
  for (int seed = 0; seed < programs; ++seed) {
    Program program(scene, static_cast<std::uint64_t>(seed));
    program.run_round(calls);
    found += program[0].incumbent() == alternative;
  }
  return static_cast<double>(found) / programs;
}

class Imbalance : public testing::TestWithParam<double> {};

TEST_P(Imbalance, WrongChangesAreRare) {
  for (const double slower : {1., 1.05, 1.1, 1.2})
    EXPECT_LE(share_with(1, {.speeds = {1, slower}, .imbalance = GetParam()}), 0.01) << slower;
}

TEST_P(Imbalance, AGainOfTenPercentIsFound) {
  for (const double faster : {0.9, 0.8})
    EXPECT_GE(share_with(1, {.speeds = {1, faster}, .imbalance = GetParam()}), 0.95) << faster;
}

TEST_P(Imbalance, TheGuardDemotesWhatIsSlower) {
  // The first guard begins after the first agreement, with pairs that are 64 calls apart.
  for (const double slower : {1.11, 1.25})
    EXPECT_GE(
        share_with(Trial::native, {.speeds = {1, slower}, .imbalance = GetParam(), .incumbent = 1}, 7168),
        0.95)
        << slower;
}

TEST_P(Imbalance, TheGuardKeepsWhatIsNotSlower) {
  EXPECT_LE(share_with(Trial::native, {.speeds = {1, 1}, .imbalance = GetParam(), .incumbent = 1}, 7168),
            0.01);
}

INSTANTIATE_TEST_SUITE_P(InRunTimes, Imbalance, testing::Values(0., 1., 10.));

TEST(Trial, SelectsTheBestOfSeveral) {
  const Scene scene{.speeds = {1, 0.95, 0.6, 1.1}};
  EXPECT_GE(share_with(2, scene), 0.98);
}

TEST(Trial, WhatIsHopelessSitsOutAfterTwoBlocks) {
  Program program({.speeds = {1, 20, 0.7}}, 1);
  program.run(2048);
  EXPECT_EQ(program[0].incumbent(), 2u);
  EXPECT_EQ(program.uses(1), 2u * 4u);
  EXPECT_NEAR(program[0].ratio(), 0.7, 0.07);
  EXPECT_TRUE(program[0].has_decided());
}

TEST(Trial, WhatIsHopelessGetsRareSecondChances) {
  Program program({.speeds = {1, 20, 30}}, 1);
  program.run(300);
  EXPECT_EQ(program[0].incumbent(), Trial::native);
  EXPECT_EQ(program.uses(1), 2u * 4u);
  EXPECT_EQ(program.uses(2), 2u * 4u);
  program.run(20'000);
  EXPECT_EQ(program.uses(1), 4u * 4u);
  program.run(400'000);  // of two rounds, it sits out one
  EXPECT_EQ(program.uses(1), 6u * 4u);
  program.set_speeds({1, 0.5, 30});
  program.run(4'000'000);  // of three, two
  EXPECT_EQ(program[0].incumbent(), 1u);
}

TEST(Trial, EndsWithoutCandidates) {
  Program program({.speeds = {1}}, 1);
  program.run(100);
  EXPECT_TRUE(program[0].has_ended());
  const int agreements = program.agreements();
  program.run(5000);
  EXPECT_EQ(program.agreements(), agreements);
  EXPECT_EQ(program[0].next(), Trial::native);
  EXPECT_EQ(program[0].calls(), 256u + 5100u);
}

TEST(Trial, DropsACandidateThatCannotRun) {
  Program program({.speeds = {1, 0.5, 0.7}}, 1);
  while (program[0].next() != 1) program.run(1);
  for (std::size_t rank = 0; rank < 3; ++rank) program.rank(rank).drop(1);
  program.run(2048);
  EXPECT_EQ(program[0].incumbent(), 2u);
  EXPECT_EQ(program.uses(1), 0u);
}

TEST(Trial, OnlyObserves) {
  Program program({.speeds = {1, 0.7}, .only_observes = true}, 1);
  program.run(4096);
  EXPECT_EQ(program[0].incumbent(), Trial::native);
  EXPECT_EQ(program[0].preferred(), 1u);
  EXPECT_TRUE(program[0].has_decided());
  EXPECT_NEAR(program[0].ratio(), 0.7, 0.07);
  const std::uint64_t uses = program.uses(1);
  program.run(4096);
  EXPECT_EQ(program.uses(1), uses);
}

/// Calls until a candidate is chosen.
std::uint64_t calls_until_chosen(Program& program, std::uint64_t most) {
  while (program[0].incumbent() == Trial::native && program[0].calls() < most) program.run(256);
  return program[0].calls();
}

constexpr Scene with_set_up(double imbalance) {
  return {.imbalance = imbalance, .share = 0.005, .procs = 2, .set_up = 3.5e6, .exchange = 10'000};
}

TEST_P(Imbalance, TheDefaultBudgetPaysForSetUp) {
  std::vector<std::uint64_t> needed;
  for (int seed = 0; seed < programs; ++seed) {
    Scene scene = with_set_up(GetParam());
    scene.speeds = {1, 0.9};
    Program program(scene, static_cast<std::uint64_t>(seed));
    needed.push_back(calls_until_chosen(program, 3'000'000));
    EXPECT_LE(program.spent_share(), 0.006);
  }
  std::ranges::sort(needed);
  RecordProperty("median", std::to_string(needed[programs / 2]));
  RecordProperty("nineteen_of_twenty", std::to_string(needed[programs * 19 / 20]));
  EXPECT_LT(needed[programs * 19 / 20], 1'000'000u);
}

TEST(Trial, SetUpIsNoPartOfLaterCosts) {
  Scene scene = with_set_up(0);
  scene.speeds = {1, 0.2};
  Program program(scene, 1);
  while (program.uses(1) == 0) program.run(16);
  const std::uint64_t calls = program[0].calls();
  EXPECT_GT(calls, 3.5e6 / (0.005 * 1.1 * run_time));  // earned before
  EXPECT_LT(calls_until_chosen(program, 3'000'000), calls + 60'000);
  EXPECT_LE(program.spent_share(), 0.0051);
}

TEST(Trial, ASecondLookCostsNoSetUp) {
  Scene scene = with_set_up(0);
  scene.speeds = {1, 20};
  Program program(scene, 1);
  while (program.uses(1) == 0) program.run(16);
  program.run(60'000);
  EXPECT_GE(program.uses(1), 2u * 4u);
}

TEST(Trial, SlowIncumbentsRepayWhatSlowCandidatesCost) {
  Program program({.speeds = {1, 1}, .procs = 2}, 1);
  for (const std::uint32_t slow : {1u, Trial::native}) {
    while (program[0].next() != slow || !program[0].is_measuring() || program.uses(1) == 0) program.run(1);
    program.delay(4e6);
    program.run(16);
    EXPECT_GT(program.spent(), slow == 1 ? 3.9e6 : 0);
  }
  EXPECT_LT(program.spent(), 0.5e6);
}

TEST(Trial, SetUpMustBeWorthwhile) {
  // The computation between calls pays for it at once, the time in the calls does not.
  Scene scene = with_set_up(1000);
  scene.speeds = {1, 0.2};
  Program program(scene, 1);
  while (program.uses(1) == 0) program.run(16);
  EXPECT_NEAR(static_cast<double>(program[0].calls()), 3.5e6 / (0.05 * run_time), 3'500);
}

TEST(Trial, ATimeSliceDoesNotStopIt) {
  // Of another process, in the first measured block of the candidate: four milliseconds.
  Program program({.speeds = {1, 0.5}, .share = 0.005, .procs = 2, .exchange = 10'000}, 1);
  while (program.uses(1) == 0) program.run(1);
  const std::uint64_t calls = program[0].calls();
  program.delay(4e6);
  EXPECT_LT(calls_until_chosen(program, 3'000'000), calls + 4e6 / (0.005 * 1.1 * run_time) + 60'000);
}

TEST(Trial, StaysWithinItsBudget) {
  for (const double slower : {0.9, 1.1, 2.}) {
    Program program({.speeds = {1, slower}, .imbalance = 1, .share = 0.005}, 3);
    program.run(50'000);
    // The first blocks of a candidate may overdraw it, later calls make up for that.
    EXPECT_LE(program.spent_share(), 0.006) << slower;
  }
}

TEST(Trial, WithoutABudgetThereIsNone) {
  Program program({.speeds = {1, 0.5}, .share = 0}, 3);
  program.run(20'000);
  EXPECT_EQ(program.uses(1), 0u);
  EXPECT_LE(program.agreements(), 3);
}

TEST(Trial, APauseOfOneRankHoldsForAll) {
  Program program({.speeds = {1, 0.5}}, 3);
  program.run(20);
  program.wishes[2] = TrialWish::pause;
  program.run(16);
  const std::uint64_t uses = program.uses(1);
  program.run(3000);
  EXPECT_EQ(program.uses(1), uses);
  program.wishes[2] = TrialWish::learn;
  program.run(3000);
  EXPECT_EQ(program[0].incumbent(), 1u);
}

TEST(Trial, ARankThatLeavesEndsIt) {
  Program program({.speeds = {1, 0.5}}, 3);
  program.run(20);
  program.wishes[2] = TrialWish::leave;
  program.run(20);
  EXPECT_TRUE(program[0].has_ended());
}

TEST(Trial, FollowsAChangeOfTheProgram) {
  Program program({.speeds = {1, 0.7}}, 5);
  program.run(2048);
  ASSERT_EQ(program[0].incumbent(), 1u);
  program.set_speeds({1, 1.3});
  program.run(8192);
  EXPECT_EQ(program[0].incumbent(), Trial::native);
  EXPECT_NEAR(program[0].ratio(), 1.3, 0.13);
  // What the guard has demoted sits out a round.
  program.set_speeds({1, 0.7});
  program.run(10'000);
  EXPECT_EQ(program[0].incumbent(), Trial::native);
  program.run(20'000);
  EXPECT_EQ(program[0].incumbent(), 1u);
}

TEST(Trial, OtherListsOfCandidatesEndIt) {
  Trial a({.procs = 2, .incumbent = 1}), b({.procs = 2, .incumbent = 1});
  a.set_candidates({0}, 1);
  b.set_candidates({0}, 2);
  TrialReport all = a.report({}, TrialWish::learn, 0);
  const TrialReport other = b.report({}, TrialWish::learn, 0);
  for (std::size_t i = 0; i < all.greatest.size(); ++i)
    all.greatest[i] = std::max(all.greatest[i], other.greatest[i]);
  a.agree(all);
  EXPECT_TRUE(a.has_ended());
}

}  // namespace
}  // namespace convene::decide
