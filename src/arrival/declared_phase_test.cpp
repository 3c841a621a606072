// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/declared_phase.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/error.hpp"

namespace convene::arrival {
namespace {

using testing::ElementsAre;

TEST(DeclaredPhase, is_extrapolated_from_its_first_edge) {
  DeclaredPhase phase;
  EXPECT_FALSE(phase.begin(10));
  EXPECT_DOUBLE_EQ(phase.edge(0.25, 12).value(), 18);
  EXPECT_FALSE(phase.edge(0.5, 15));  // a forecast is given once
  phase.end(19);
  EXPECT_EQ(phase.phases(), 1u);
  EXPECT_EQ(phase.forecasts(), 1u);
  EXPECT_DOUBLE_EQ(phase.error(), 1);
  EXPECT_DOUBLE_EQ(phase.duration(), 9);
}

TEST(DeclaredPhase, without_edges_earlier_durations_count) {
  DeclaredPhase phase;
  double now = 0;
  for (int i = 0; i < 6; ++i) {
    const auto forecast = phase.begin(now);
    EXPECT_EQ(forecast.has_value(), i >= 2) << i;
    EXPECT_NEAR(forecast.value_or(now + 3), now + 3, 1e-9);
    now += 3;
    phase.end(now);
  }
  // A phase with an edge gives its forecast at the edge from the next one on.
  phase.begin(now);
  phase.edge(0.5, now + 1);
  phase.end(now + 2);
  EXPECT_FALSE(phase.begin(now + 2));
}

TEST(DeclaredPhase, says_what_is_out_of_place) {
  DeclaredPhase phase;
  EXPECT_THROW(phase.edge(0.5, 1), Error);
  EXPECT_THROW(phase.end(1), Error);
  phase.begin(1);
  EXPECT_THROW(phase.begin(2), Error);
  EXPECT_THROW(phase.edge(0, 2), Error);
  EXPECT_THROW(phase.edge(1.5, 2), Error);
  EXPECT_THROW(phase.edge(50, 2), Error);
  EXPECT_TRUE(phase.is_open());
  EXPECT_DOUBLE_EQ(phase.edge(1, 3).value(), 3);
  phase.end(3);
  EXPECT_FALSE(phase.is_open());
}

TEST(ArrivalsInRounds, are_whole_rounds_after_the_earliest) {
  EXPECT_THAT(arrivals_in_rounds({700, 100, 199, 300}, 100, 1000), ElementsAre(6, 0, 0, 2));
  EXPECT_THAT(arrivals_in_rounds({5}, 100, 8), ElementsAre(0));
  EXPECT_THAT(arrivals_in_rounds_of(1, {0, 1'000'000}, 100), ElementsAre(0, 2 * 2 + 64));
  EXPECT_THAT(arrivals_in_rounds_of(500, {0, 1'000'000}, 100), ElementsAre(0, 2 * 500 + 64));
  EXPECT_THAT(arrivals_in_rounds({-250, 50}, 100, 8), ElementsAre(0, 3));
}

TEST(ArrivalsInRounds, gaps_are_no_wider_than_asked_for) {
  EXPECT_THAT(arrivals_in_rounds({0, 1'000'000, 1'000'200, 9'000'000}, 100, 8), ElementsAre(0, 8, 10, 18));
}

RC_GTEST_PROP(ArrivalsInRounds, keep_their_order_and_fit, ()) {
  const auto arrivals = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(-4'000'000'000, 4'000'000'000)));
  const auto round = *rc::gen::inRange<std::int64_t>(1, 1000);
  const auto gap = *rc::gen::inRange(1, 100);
  const auto rounds = arrivals_in_rounds(arrivals, round, gap);
  RC_ASSERT(*std::min_element(rounds.begin(), rounds.end()) == 0);
  for (std::size_t a = 0; a < arrivals.size(); ++a)
    for (std::size_t b = 0; b < arrivals.size(); ++b)
      if (arrivals[a] <= arrivals[b]) RC_ASSERT(rounds[a] <= rounds[b]);
}

}  // namespace
}  // namespace convene::arrival
