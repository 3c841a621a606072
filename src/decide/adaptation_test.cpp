// SPDX-License-Identifier: BSD-3-Clause
#include "decide/adaptation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace convene::decide {
namespace {

using testing::ElementsAre;

/// All ranks of a program that alternates computation and calls.
class Program {
 public:
  /// `computes(rank, call)`: seconds. `in_call(candidate)`: seconds that the last rank to arrive is in a
  /// call.
  Program(std::uint32_t procs, std::uint32_t candidates, std::function<double(std::uint32_t, int)> computes,
          std::function<double(std::optional<std::uint32_t>)> in_call)
      : computes_(std::move(computes)), in_call_(std::move(in_call)) {
    for (std::uint32_t rank = 0; rank < procs; ++rank) ranks_.emplace_back(procs, candidates);
  }

  void run(int calls) {
    for (int i = 0; i < calls; ++i, ++call_) {
      double last = 0;
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
        last = std::max(last, computes_(rank, call_));
      uses_[ranks_[0].candidate() ? *ranks_[0].candidate() + 1 : 0] += 1;
      for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        const double own = computes_(rank, call_);
        ranks_[rank].note(own, last - own + in_call_(ranks_[rank].candidate()));
      }
      exchange();
    }
  }

  /// The forecasts of the next calls.
  std::vector<std::vector<std::int32_t>> forecasts(int calls) {
    std::vector<std::vector<std::int32_t>> result;
    for (int i = 0; i < calls; ++i) {
      result.push_back(ranks_[0].arrivals());
      run(1);
    }
    return result;
  }

  SiteAdaptation& operator[](std::size_t rank) { return ranks_[rank]; }
  /// Number of calls by the regular algorithm, then by each candidate.
  int uses(std::size_t which) const { return uses_[which]; }
  int exchanges() const { return exchanges_; }
  /// Number of exchanges whose answers arrived some calls later.
  int answers_awaited() const { return answers_awaited_; }

 private:
  void exchange() {
    const bool due = ranks_[0].is_due(), needed = ranks_[0].needs_answers();
    for (const SiteAdaptation& rank : ranks_) {
      ASSERT_EQ(rank.is_due(), due);
      ASSERT_EQ(rank.needs_answers(), needed);
    }
    if (needed) agree();
    if (!ranks_[0].is_due()) return;
    ++exchanges_;
    reports_.clear();
    for (SiteAdaptation& rank : ranks_) reports_.push_back(rank.report());
    if (ranks_[0].needs_answers())
      agree();
    else
      ++answers_awaited_;
  }

  void agree() {
    for (SiteAdaptation& rank : ranks_) rank.agree(reports_, round_ns_);
    if (ranks_[0].wants_round()) round_ns_ = 1'000'000;
    for (const SiteAdaptation& rank : ranks_) {
      ASSERT_EQ(rank.candidate(), ranks_[0].candidate());
      ASSERT_EQ(rank.arrivals(), ranks_[0].arrivals());
    }
  }

  std::function<double(std::uint32_t, int)> computes_;
  std::function<double(std::optional<std::uint32_t>)> in_call_;
  std::vector<SiteAdaptation> ranks_;
  int uses_[4] = {};
  std::vector<SiteReport> reports_;
  int call_ = 0, exchanges_ = 0, answers_awaited_ = 0;
  std::int64_t round_ns_ = 0;
};

double one_late(std::uint32_t rank, int) { return rank == 1 ? 0.030 : 0.010; }

TEST(SiteAdaptation, keeps_what_is_faster_where_one_rank_is_always_late) {
  Program program(4, 2, one_late, [](std::optional<std::uint32_t> candidate) {
    return !candidate ? 0.020 : *candidate == 0 ? 0.018 : 0.008;
  });
  program.run(200);
  EXPECT_TRUE(program[0].is_kept());
  EXPECT_EQ(program[0].candidate(), 1u);
  EXPECT_THAT(program[0].arrivals(), ElementsAre(0, 20, 0, 0));
  EXPECT_GT(program.uses(2), 120);
  EXPECT_GT(program[1].forecasts(), 100u);
  EXPECT_NEAR(program[1].error_seconds(), 0, 1e-6);
}

TEST(SiteAdaptation, drops_what_brings_nothing_and_tries_ever_more_seldom) {
  Program program(4, 1, one_late, [](std::optional<std::uint32_t>) { return 0.005; });
  program.run(5000);
  EXPECT_FALSE(program[0].candidate());
  EXPECT_LT(program.uses(1), 200);
  EXPECT_LT(program.exchanges(), 200);
}

TEST(SiteAdaptation, leaves_balanced_programs_alone) {
  Program program(
      4, 1, [](std::uint32_t, int) { return 0.010; },
      [](std::optional<std::uint32_t> candidate) { return candidate ? 0.001 : 0.005; });
  program.run(2000);
  EXPECT_EQ(program.uses(1), 0);
  EXPECT_LT(program.exchanges(), 20);
  EXPECT_EQ(program.answers_awaited(), program.exchanges());  // no rank waits for another
}

TEST(SiteAdaptation, leaves_alone_what_cannot_be_foretold) {
  std::mt19937 random(3);
  std::vector<double> drawn(4 * 3000);
  for (double& value : drawn) value = 0.010 + std::uniform_real_distribution<>(0, 0.020)(random);
  Program program(
      4, 1, [&](std::uint32_t rank, int call) { return drawn[4 * static_cast<std::size_t>(call) + rank]; },
      [](std::optional<std::uint32_t>) { return 0.005; });
  program.run(3000);
  EXPECT_LT(program.uses(1), 60);
  EXPECT_FALSE(program[0].candidate());
}

TEST(SiteAdaptation, follows_a_program_that_changes) {
  Program program(
      4, 1, [](std::uint32_t rank, int call) { return rank == (call < 300 ? 1u : 2u) ? 0.030 : 0.010; },
      [](std::optional<std::uint32_t> candidate) { return candidate ? 0.008 : 0.020; });
  program.run(800);
  EXPECT_TRUE(program[0].is_kept());
  EXPECT_THAT(program[0].arrivals(), ElementsAre(0, 0, 20, 0));
}

TEST(SiteAdaptation, does_not_try_where_little_can_be_saved) {
  // A spread of a millisecond, and 20 ms in the call.
  Program program(
      4, 1, [](std::uint32_t rank, int) { return rank == 1 ? 0.011 : 0.010; },
      [](std::optional<std::uint32_t> candidate) { return candidate ? 0.019 : 0.020; });
  program.run(2000);
  EXPECT_EQ(program.uses(1), 0);
}

TEST(SiteAdaptation, ends_a_hopeless_trial_early) {
  Program program(4, 2, one_late,
                  [](std::optional<std::uint32_t> candidate) { return candidate ? 0.040 : 0.005; });
  program.run(90);
  EXPECT_EQ(program.uses(1), static_cast<int>(SiteAdaptation::trial_stretch));
  EXPECT_EQ(program.uses(2), static_cast<int>(SiteAdaptation::trial_stretch));
}

TEST(SiteAdaptation, foretells_each_call_of_a_season) {
  // Another rank is late in each call.
  Program program(
      4, 1, [](std::uint32_t rank, int call) { return static_cast<int>(rank) == call % 4 ? 0.030 : 0.010; },
      [](std::optional<std::uint32_t> candidate) { return candidate ? 0.008 : 0.020; });
  program.run(200);
  ASSERT_TRUE(program[0].is_kept());
  EXPECT_EQ(program[0].seasons(), 4u);
  EXPECT_GT(program.uses(1), 100);
  EXPECT_THAT(program.forecasts(80), testing::Each(testing::UnorderedElementsAre(0, 0, 0, 20)));
  program.run(3 - 280 % 4 + 1);  // rank 0 is late in the next call
  EXPECT_THAT(program.forecasts(4), ElementsAre(ElementsAre(20, 0, 0, 0), ElementsAre(0, 20, 0, 0),
                                                ElementsAre(0, 0, 20, 0), ElementsAre(0, 0, 0, 20)));
  EXPECT_NEAR(program[1].error_seconds(), 0, 0.5);
}

TEST(SiteAdaptation, keeps_the_phase_of_a_season_while_answers_are_on_their_way) {
  // Seasons of three calls, which do not divide stretches of 64.
  Program program(
      4, 1, [](std::uint32_t rank, int call) { return static_cast<int>(rank) == call % 3 ? 0.030 : 0.010; },
      [](std::optional<std::uint32_t> candidate) { return candidate ? 0.008 : 0.020; });
  program.run(600);
  ASSERT_TRUE(program[0].is_kept());
  for (int call = 600; call < 900; ++call) {
    EXPECT_EQ(program[0].arrivals()[static_cast<std::size_t>(call % 3)], 20) << call;
    program.run(1);
  }
}

TEST(SiteAdaptation, makes_one_season_of_all_ranks) {
  // Rank 1 is late in every third call, rank 2 in every fourth: the pattern repeats after twelve.
  const auto computes = [](std::uint32_t rank, int call) {
    return (rank == 1 && call % 3 == 0) || (rank == 2 && call % 4 == 0) ? 0.080 : 0.010;
  };
  Program program(4, 1, computes,
                  [](std::optional<std::uint32_t> candidate) { return candidate ? 0.008 : 0.020; });
  program.run(400);
  ASSERT_TRUE(program[0].is_kept());
  EXPECT_EQ(program[0].seasons(), 12u);
  for (int i = 0; i < 24; ++i) {
    const int call = 400 + i;
    const std::vector<std::int32_t> now = program[0].arrivals();
    EXPECT_EQ(now[1] > now[0], call % 3 == 0);
    EXPECT_EQ(now[2] > now[0], call % 4 == 0);
    program.run(1);
  }
}

TEST(SiteAdaptation, takes_no_season_that_is_too_long) {
  // Seasons of 7 and 5 repeat after 35 calls.
  const auto computes = [](std::uint32_t rank, int call) {
    return (rank == 1 && call % 7 == 0) || (rank == 2 && call % 5 == 0) ? 0.080 : 0.010;
  };
  Program program(4, 1, computes,
                  [](std::optional<std::uint32_t> candidate) { return candidate ? 0.008 : 0.020; });
  program.run(400);
  EXPECT_FALSE(program[0].candidate());
}

TEST(SiteAdaptation, first_calls_before_which_nothing_is_known_do_no_harm) {
  SiteAdaptation site(2, 1);
  for (std::uint32_t i = 0; i < SiteAdaptation::first_stretch; ++i) site.note(std::nullopt, 0.001);
  ASSERT_TRUE(site.is_due());
  const SiteReport report = site.report();
  EXPECT_EQ(report.computes[0], 0);
  EXPECT_EQ(report.season, 1);
  const SiteReport both[] = {report, report};
  for (std::uint32_t i = 0; i < SiteAdaptation::calls_meanwhile; ++i) {
    EXPECT_FALSE(site.needs_answers());
    site.note(0.001, 0.001);
  }
  ASSERT_TRUE(site.needs_answers());
  site.agree(both, 0);
  EXPECT_FALSE(site.needs_answers());
  EXPECT_FALSE(site.candidate());
}

}  // namespace
}  // namespace convene::decide
