// SPDX-License-Identifier: BSD-3-Clause
// Allgather algorithms that use a forecast of arrivals: their speed if the forecast is correct.
// (forecasts_test.cpp checks for all collectives that they deliver with any forecast.)
#include <gtest/gtest.h>

#include <bit>

#include "collective/core/algorithm.hpp"
#include "collective/parts/forecasts_for_test.hpp"
#include "collective/parts/lock_step_for_test.hpp"
#include "schedule/print/print.hpp"

namespace convene::collective {
namespace {

const Algorithm& algorithm(std::string_view name) {
  for (const Algorithm* each : catalogue())
    if (each->name == name) return *each;
  throw std::logic_error("no such algorithm");
}

Plan plan_of(const Algorithm& algorithm, Rank procs, const Arrivals& forecast, bool in_place = false) {
  return build_plan(algorithm, {.procs = procs,
                                .in_place = in_place,
                                .parameters = algorithm.default_parameters(),
                                .arrivals = forecast});
}
Plan plan_of(std::string_view name, const Arrivals& forecast) {
  return plan_of(algorithm(name), static_cast<Rank>(forecast.size()), forecast);
}

LockStep simulate_lock_step(std::string_view name, const Arrivals& forecast, const Arrivals& truth) {
  return LockStep(plan_of(name, forecast), truth);
}
LockStep simulate_lock_step(std::string_view name, const Arrivals& arrivals) {
  return simulate_lock_step(name, arrivals, arrivals);
}

/// The contract of an allgather, in the places into which the algorithm cuts its blocks.
Contract contract_of(const Algorithm& algorithm, Rank procs, bool in_place = false) {
  return contract({.procs = procs, .in_place = in_place},
                  segments(algorithm, procs, algorithm.default_parameters()));
}

std::string text_of(std::string_view name, const Arrivals& forecast) {
  const auto procs = static_cast<Rank>(forecast.size());
  const PlanInfo info{.collective = "allgather",
                      .algorithm = std::string(name),
                      .procs = procs,
                      .segments = segments(algorithm(name), procs, algorithm(name).default_parameters())};
  return to_text(plan_of(name, forecast), info, contract_of(algorithm(name), procs));
}

TEST(LockStep, RingOfTheSourcesExample) {
  const LockStep ring = simulate_lock_step("ring", {2, 0, 0, 0});
  EXPECT_EQ(ring.elapsed(), (std::vector<std::int64_t>{3, 5, 5, 5}));
  EXPECT_EQ(ring.mean_elapsed(), 4.5);
}

// The source's figure 4, recomputed: (1, 4, 5, 5), where the text has a mean of 4.
TEST(Bdr, SourcesExample) {
  const LockStep bdr = simulate_lock_step("bdr", {2, 0, 0, 0});
  EXPECT_EQ(bdr.elapsed(), (std::vector<std::int64_t>{1, 4, 5, 5}));
  EXPECT_EQ(bdr.mean_elapsed(), 3.75);

  const Plan plan = plan_of("bdr", {2, 0, 0, 0});
  std::vector<int> sent_ahead(4, 0);  // in the two pre-steps
  for (const Schedule& schedule : plan) {
    EXPECT_LE(schedule.rounds(), 5u);
    for (const Step& step : schedule.steps())
      sent_ahead[schedule.rank()] += step.kind == StepKind::send && step.round < 2;
  }
  EXPECT_EQ(sent_ahead, (std::vector<int>{0, 2, 2, 2}));
}

// The source gives (P − 2)τ if the slowest rank is taken for the first. Its listing, simulated in lock step,
// gives one more: that rank alone sends in the P − 1 pre-steps, none of them ends before it arrives, and the
// ring has P − 1 rounds left.
TEST(Bdr, CostsTheRingsRoundsOnceMoreWhenTheLastIsTakenForTheFirst) {
  for (Rank procs = 2; procs <= 20; ++procs)
    for (Rank late = 0; late < procs; ++late) {
      const auto delay = static_cast<std::int32_t>(procs + late);
      Arrivals forecast(procs, delay), truth(procs, 0);
      forecast[late] = 0;
      truth[late] = delay;
      const LockStep bdr = simulate_lock_step("bdr", forecast, truth),
                     ring = simulate_lock_step("ring", truth);
      EXPECT_EQ(bdr.last_exit() - ring.last_exit(), procs - 1);
      EXPECT_LE(bdr.total_elapsed() - ring.total_elapsed(), std::int64_t{procs} * (procs - 1));
    }
}

// With any forecast and any arrivals: at most its own pre-steps more than the ring.
TEST(Bdr, CostsAtMostItsPreStepsMoreThanTheRing) {
  Forecasts forecasts(3);
  for (int i = 0; i < 3000; ++i) {
    const auto procs = static_cast<Rank>(2 + forecasts.below(19));
    Arrivals forecast(procs), truth(procs);
    const std::int32_t expected = 1 + forecasts.below(40), true_spread = 1 + forecasts.below(40);
    for (std::int32_t& each : forecast) each = forecasts.below(expected);
    for (std::int32_t& each : truth) each = forecasts.below(true_spread);
    const Plan plan = plan_of("bdr", forecast);
    const std::int64_t pre_steps = std::int64_t{statistics(plan).rounds} - (procs - 1);
    const LockStep bdr(plan, truth), ring = simulate_lock_step("ring", truth);
    ASSERT_LE(bdr.last_exit() - ring.last_exit(), std::max<std::int64_t>(pre_steps, 0)) << in_words(forecast);
  }
}

TEST(Bdr, SourcesExampleAsText) {
  EXPECT_EQ(
      text_of("bdr", {2, 0, 0, 0}),
      R"(allgather by bdr, 4 processes: 5 rounds, 12 messages, 12 blocks; the busiest rank sends 4 blocks in 4 messages

round 0
  rank  sends   receives
     0          1 from 1
     1  1 to 0  2 from 2
     2  2 to 1  3 from 3
     3  3 to 2

round 1
  rank  sends   receives
     0          2 from 2
     1  1 to 3  3 from 3
     2  2 to 0
     3  3 to 1  1 from 1

round 2
  rank  sends   receives
     0  0 to 1  3 from 3
     1  1 to 2  0 from 0
     2  2 to 3  1 from 1
     3  3 to 0  2 from 2

round 3
  rank  sends   receives
     1  0 to 2
     2          0 from 1

round 4
  rank  sends   receives
     2  0 to 3
     3          0 from 2
)");
}

TEST(Bslb, OmitsWhatRanksHaveInEveryBroadcast) {
  for (const Rank procs : {2u, 5u, 8u, 13u}) {
    const Arrivals forecast = Forecasts(procs).any(procs);
    for (const std::int64_t bcast : {0, 1, 2}) {
      const Algorithm& bslb = algorithm("bslb");
      const Call call{.procs = procs, .parameters = {bcast}, .arrivals = forecast};
      const Plan plan = build_plan(bslb, call);
      ASSERT_EQ(check(plan, contract(call, 2)).why, "") << "P=" << procs << ", bcast " << bcast;
      // Each rank receives each place of the others once: P − 1 of them with the gather, the rest afterwards.
      for (const Schedule& schedule : plan) {
        std::uint32_t received = 0;
        for (StepId id = 0; id < schedule.size(); ++id)
          if (schedule[id].kind == StepKind::recv)
            for (const Range& range : schedule.ranges(id)) received += range.count();
        EXPECT_EQ(received, 2 * (procs - 1))
            << "P=" << procs << ", bcast " << bcast << ", rank " << schedule.rank();
      }
    }
  }
}

TEST(Bslb, ExampleAsText) {
  EXPECT_EQ(
      text_of("bslb", {0, 0, 5, 1}),
      R"(allgather by bslb, 4 processes: 8 rounds, 11 messages, 24 segments; the busiest rank sends 13 segments in 4 messages

round 0
  rank  sends     receives
     0            1.0 from 1
     1  1.0 to 0

round 1
  rank  sends     receives
     0  1.0 to 3  1.1 from 1
     1  1.1 to 0
     3            1.0 from 0

round 2
  rank  sends     receives
     0            3.0 from 3
     3  3.0 to 0

round 3
  rank  sends     receives
     0  3.0 to 2  3.1 from 3
     2            3.0 from 0
     3  3.1 to 0

round 4
  rank  sends     receives
     0            2.0 from 2
     2  2.0 to 0

round 5
  rank  sends     receives
     0            2.1 from 2
     2  2.1 to 0

round 6
  rank  sends                     receives
     0  3.1,0.0,0.1,1.0,1.1 to 2
     2                            3.1,0.0,0.1,1.0,1.1 from 0

round 7
  rank  sends                         receives
     0  2.0,2.1,3.0,3.1,0.0,0.1 to 1
     1                                2.0,2.1,3.0,3.1,0.0,0.1 from 0
     2  0.0,0.1,1.1,2.0,2.1 to 3
     3                                0.0,0.1,1.1,2.0,2.1 from 2
)");
}

// Neither part of a rank's block is sent before the root's signal has arrived, in place or not.
TEST(Bslb, AnswersItsSignal) {
  for (const bool in_place : {false, true})
    for (Rank rank = 1; rank < 6; ++rank) {
      const Schedule mine =
          plan_of(algorithm("bslb"), 6, {0, 5, 2, 0, 9, 1}, in_place)[rank];  // rank 3 receives the first
                                                                              // signal
      std::vector<bool> after_signal(mine.size(), false);
      for (StepId id = 0; id < mine.size(); ++id) {
        const bool is_shm_signal = mine[id].kind == StepKind::recv && mine[id].match == 0 && rank != 3;
        if (after_signal[id] || is_shm_signal)
          for (StepId next : mine.successors(id)) after_signal[next] = true;
        if (mine[id].kind == StepKind::send && mine[id].peer == 0) {
          EXPECT_EQ(after_signal[id], rank != 3) << "rank " << rank << ", step " << id;
        }
      }
    }
}

// The root's part of the gather does not depend on its input: it runs before the root arrives.
TEST(Bslb, TheRootGathersBeforeItComes) {
  const Schedule root = plan_of("bslb", {9, 5, 2, 0, 9, 1})[0];
  for (StepId id = 0; id < root.size(); ++id)
    if (root[id].round < 10) {
      EXPECT_TRUE(root[id].kind == StepKind::copy || (root[id].touches & 1) == 0);
    }
}

TEST(ListScheduled, ExampleAsText) {
  EXPECT_EQ(
      text_of("list_scheduled", {3, 0, 0, 0}),
      R"(allgather by list_scheduled, 4 processes: 5 rounds, 12 messages, 12 blocks; the busiest rank sends 4 blocks in 4 messages

round 0
  rank  sends   receives
     0          3 from 3
     1  1 to 2
     2  2 to 3  1 from 1
     3  3 to 0  2 from 2

round 1
  rank  sends   receives
     0  3 to 1  2 from 2
     1  1 to 3  3 from 0
     2  2 to 0  3 from 3
     3  3 to 2  1 from 1

round 2
  rank  sends   receives
     0  2 to 1  1 from 1
     1  1 to 0  2 from 0

round 3
  rank  sends   receives
     0  0 to 1
     1          0 from 0

round 4
  rank  sends   receives
     0  0 to 2
     1  0 to 3
     2          0 from 0
     3          0 from 1
)");
}

TEST(ListScheduled, OneLateRank) {
  for (Rank late = 0; late < 28; ++late) {
    Arrivals arrivals(28, 0);
    arrivals[late] = 40;
    EXPECT_EQ(simulate_lock_step("list_scheduled", arrivals).last_arrival_to_last_exit(), 5);
    EXPECT_EQ(simulate_lock_step("bdr", arrivals).last_arrival_to_last_exit(), 27);
    EXPECT_EQ(simulate_lock_step("ring", arrivals).last_arrival_to_last_exit(), 27);
  }
}

TEST(ListScheduled, DoublesTheLastBlocksHoldersInEveryRound) {
  for (Rank procs = 2; procs <= 70; ++procs) {
    Arrivals arrivals(procs, 0);
    arrivals[procs / 3] = static_cast<std::int32_t>(2 * procs);
    EXPECT_EQ(simulate_lock_step("list_scheduled", arrivals).last_arrival_to_last_exit(),
              std::bit_width(procs - 1))
        << procs;
  }
}

// Delays uniform in 0 … 100 rounds. A prototype needed 9.5 rounds with a mean elapsed time of 57; BDR 47 and
// 89.
TEST(ListScheduled, UniformDelays) {
  Forecasts forecasts(4);
  constexpr int samples = 100;
  double list_after = 0, list_elapsed = 0, bdr_elapsed = 0, ring_elapsed = 0;
  for (int i = 0; i < samples; ++i) {
    Arrivals arrivals(48);
    for (std::int32_t& each : arrivals) each = forecasts.below(101);
    const LockStep list = simulate_lock_step("list_scheduled", arrivals),
                   bdr = simulate_lock_step("bdr", arrivals), ring = simulate_lock_step("ring", arrivals);
    list_after += static_cast<double>(list.last_arrival_to_last_exit()) / samples;
    list_elapsed += list.mean_elapsed() / samples;
    bdr_elapsed += bdr.mean_elapsed() / samples;
    ring_elapsed += ring.mean_elapsed() / samples;
    ASSERT_GE(list.last_arrival_to_last_exit(), 6);  // ⌈log₂48⌉ is the lower bound
    ASSERT_EQ(bdr.last_arrival_to_last_exit(), 47);
  }
  RecordProperty("rounds_after_last_arrival", std::to_string(list_after));
  RecordProperty(
      "mean_elapsed_list_bdr_ring",
      std::to_string(list_elapsed) + " " + std::to_string(bdr_elapsed) + " " + std::to_string(ring_elapsed));
  EXPECT_LT(list_after, 7);
  EXPECT_LT(list_elapsed, 56);
  EXPECT_GT(bdr_elapsed, 80);
}

TEST(ListScheduled, IsNeverLongerThanTheRing) {
  Forecasts forecasts(5);
  for (int i = 0; i < 3000; ++i) {
    const auto procs = static_cast<Rank>(2 + forecasts.below(39));
    Arrivals arrivals(procs);
    const std::int32_t spread = 1 + forecasts.below(2 * static_cast<std::int32_t>(procs));
    for (std::int32_t& each : arrivals) each = forecasts.below(spread);
    const LockStep list = simulate_lock_step("list_scheduled", arrivals),
                   ring = simulate_lock_step("ring", arrivals);
    ASSERT_LE(list.last_exit(), ring.last_exit()) << in_words(arrivals);
  }
}

// Without late ranks it is Sparbit: the fewest rounds and blocks possible.
TEST(ListScheduled, IsSparbitWhereNobodyIsLate) {
  for (Rank procs = 1; procs <= 64; ++procs) {
    const Plan list = plan_of("list_scheduled", Arrivals(procs, 3)),
               sparbit = plan_of("sparbit", Arrivals(procs, 3));
    for (Rank rank = 0; rank < procs; ++rank) ASSERT_TRUE(same(list[rank], sparbit[rank]));
  }
}

}  // namespace
}  // namespace convene::collective
