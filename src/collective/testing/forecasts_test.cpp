// SPDX-License-Identifier: BSD-3-Clause
// Properties of all algorithms whose schedules depend on arrivals: they deliver for every forecast (or, if
// they learn arrivals from messages, for all arrivals), and build the same schedules on all ranks. No test
// names an algorithm.
#include <gtest/gtest.h>

#include "collective/core/served_for_test.hpp"
#include "collective/parts/forecasts_for_test.hpp"

namespace convene::collective {
namespace {

class UsesForecasts : public testing::TestWithParam<Served> {
 protected:
  const Algorithm& algorithm() const { return *GetParam().algorithm; }

  Call call(Rank procs, Arrivals forecast) const {
    return {.collective = GetParam().collective,
            .procs = procs,
            .parameters = algorithm().default_parameters(),
            .arrivals = std::move(forecast)};
  }

  /// With the samples of its parameters in turn.
  Call call(Rank procs, Arrivals forecast, std::size_t which) const {
    Call of = call(procs, std::move(forecast));
    const auto samples = algorithm().sample_parameters();
    of.parameters = samples[which % samples.size()];
    return of;
  }

  void expect_correct(const Call& of) const {
    ASSERT_EQ(check(build_plan(algorithm(), of), contract(of, segments(algorithm(), of))).why, "")
        << "P=" << of.procs << ", root " << of.root << (of.in_place ? ", in place, " : ", ")
        << in_words(of.arrivals);
  }
};

INSTANTIATE_TEST_SUITE_P(All, UsesForecasts,
                         testing::ValuesIn(all_served([](Collective, const Algorithm& algorithm) {
                           return algorithm.arrival_source != ArrivalSource::none &&
                                  !algorithm.is_composed();  // tested in composition_test.cpp
                         })),
                         test_name);

// The checker covers all timings of a schedule at once, so this holds for all actual arrivals, too.
TEST_P(UsesForecasts, IsCorrectForEveryForecast) {
  Forecasts forecasts(1);
  for (Rank procs = 1; procs <= 64; ++procs)
    for (int i = 0; i < 12; ++i) {
      Call of = call(procs, forecasts.any(procs), procs + static_cast<std::size_t>(i));
      of.in_place = i % 2 == 1;
      if (is_rooted(of.collective)) of.root = static_cast<Rank>(forecasts.below(static_cast<int>(procs)));
      expect_correct(of);
    }
}

TEST_P(UsesForecasts, IsCorrectForEveryForecastOnNodes) {
  if (!algorithm().prefers_nodes) GTEST_SKIP() << "places do not matter";
  Forecasts forecasts(3);
  for (Rank procs = 1; procs <= 64; ++procs)
    for (int i = 0; i < 12; ++i) {
      Call of = call(procs, forecasts.any(procs), procs + static_cast<std::size_t>(i));
      of.in_place = i % 2 == 1;
      if (is_rooted(of.collective)) of.root = static_cast<Rank>(forecasts.below(static_cast<int>(procs)));
      const std::int32_t nodes = 1 + forecasts.below(static_cast<int>(procs));
      for (Rank rank = 0; rank < procs; ++rank)
        of.nodes.push_back(
            static_cast<Rank>(i % 3 == 0 ? static_cast<int>(rank) / nodes : forecasts.below(nodes)));
      expect_correct(of);
    }
}

TEST_P(UsesForecasts, IsCorrectForEverySmallForecast) {
  for (Rank procs = 2; procs <= 4; ++procs) {
    Arrivals forecast(procs, 0);
    for (std::size_t at = 0; at < procs;) {
      for (Rank root = 0; root < (is_rooted(GetParam().collective) ? procs : 1); ++root) {
        Call of = call(procs, forecast);
        of.root = root;
        expect_correct(of);
      }
      for (at = 0; at < procs && ++forecast[at] == 5; ++at) forecast[at] = 0;
    }
  }
}

// Each rank builds its own schedule alone; a plan shares the common work.
TEST_P(UsesForecasts, BuildsTheSameAloneAsInAPlan) {
  Forecasts forecasts(2);
  Builder builder;
  for (int i = 0; i < 50; ++i) {
    const auto procs = static_cast<Rank>(1 + forecasts.below(20));
    Call of = call(procs, forecasts.any(procs), static_cast<std::size_t>(i));
    const Plan plan = build_plan(algorithm(), of);
    for (of.rank = 0; of.rank < procs; ++of.rank)
      ASSERT_TRUE(same(plan[of.rank], build_schedule(algorithm(), of, builder))) << in_words(of.arrivals);
  }
}

// Only differences matter, and no forecast equals one of balanced arrivals.
TEST_P(UsesForecasts, CountsFromTheEarliest) {
  const auto plan_for = [&](const Arrivals& forecast) { return build_plan(algorithm(), call(5, forecast)); };
  const Plan plan = plan_for({3, 0, 2, 0, 9}), later = plan_for({13, 10, 12, 10, 19});
  const Plan none = plan_for({}), together = plan_for({4, 4, 4, 4, 4});
  for (Rank rank = 0; rank < 5; ++rank) {
    EXPECT_TRUE(same(plan[rank], later[rank]));
    EXPECT_TRUE(same(none[rank], together[rank]));
  }
}

TEST_P(UsesForecasts, RefusesAForecastOfOthers) {
  EXPECT_ANY_THROW(build_plan(algorithm(), call(4, {0, 0, 0})));
}

}  // namespace
}  // namespace convene::collective
