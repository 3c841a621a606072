// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/predictor.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "arrival/random.hpp"

namespace convene::arrival {
namespace {

std::optional<double> after(std::unique_ptr<Predictor> predictor, const std::vector<double>& values) {
  for (const double value : values) predictor->observe(value);
  return predictor->predict();
}

TEST(Predictor, KnownSequences) {
  EXPECT_EQ(after(make_last_value(), {1, 2, 5}), 5);
  EXPECT_EQ(after(make_moving_average(2), {1, 2, 5}), 3.5);
  EXPECT_EQ(after(make_moving_average(5), {1, 2, 6}), 3);
  EXPECT_EQ(after(make_exponential_average(0.5), {4, 8, 8}), 7);
  EXPECT_EQ(after(make_seasonal(4), {1, 5, 9, 1, 5, 9, 1}), 5);
  EXPECT_EQ(after(make_seasonal(4), {1, 5, 9}), std::nullopt);  // less than two periods
}

TEST(Predictor, SaysNothingBeforeTheFirstValue) {
  for (const auto& predictor : all_predictors()) EXPECT_FALSE(predictor->predict()) << predictor->name();
  EXPECT_FALSE(BestPredictor().predict());
  EXPECT_EQ(BestPredictor().chosen(), "");
}

TEST(Predictor, AConstantIsForetoldByAll) {
  for (const auto& predictor : all_predictors()) {
    for (int i = 0; i < 100; ++i) predictor->observe(3.25);
    ASSERT_TRUE(predictor->predict());
    EXPECT_DOUBLE_EQ(*predictor->predict(), 3.25) << predictor->name();
  }
}

TEST(Predictor, RefusesWhatIsNoNumber) {
  for (const auto& predictor : all_predictors()) {
    predictor->observe(1);
    const auto before = predictor->predict();
    EXPECT_THROW(predictor->observe(std::nan("")), std::invalid_argument);
    EXPECT_THROW(predictor->observe(std::numeric_limits<double>::infinity()), std::invalid_argument);
    EXPECT_EQ(predictor->predict(), before);
  }
  EXPECT_THROW(BestPredictor().observe(std::nan("")), std::invalid_argument);
  EXPECT_THROW(make_moving_average(0), std::invalid_argument);
  EXPECT_THROW(make_exponential_average(0), std::invalid_argument);
  EXPECT_THROW(make_exponential_average(std::nan("")), std::invalid_argument);
  EXPECT_THROW(make_seasonal(1), std::invalid_argument);
  EXPECT_THROW(make_autoregressive(0), std::invalid_argument);
}

// Autocovariances of x(t) = 0.5 x(t−1) + noise fall by half with each lag; of an AR(2), by the Yule-Walker
// equations.
TEST(LevinsonDurbin, FindsTheCoefficientsBehindCovariances) {
  const auto first = levinson_durbin({1, 0.5, 0.25, 0.125});
  ASSERT_EQ(first.size(), 3u);
  EXPECT_NEAR(first[0], 0.5, 1e-12);
  EXPECT_NEAR(first[1], 0, 1e-12);
  EXPECT_NEAR(first[2], 0, 1e-12);
  const double a = 0.6, b = -0.3, lag1 = a / (1 - b), lag2 = a * lag1 + b;
  const auto second = levinson_durbin({1, lag1, lag2});
  EXPECT_NEAR(second[0], a, 1e-12);
  EXPECT_NEAR(second[1], b, 1e-12);
  EXPECT_TRUE(levinson_durbin({0, 0}).empty());
  EXPECT_TRUE(levinson_durbin({}).empty());
}

TEST(Autoregressive, IsNearerThanTheLastValueOnItsOwnKindOfSeries) {
  const auto own = make_autoregressive(2, 200);
  const auto last = make_last_value();
  Random random(1, 1);
  double before = 0, value = 0, own_error = 0, last_error = 0;
  for (int i = 0; i < 3000; ++i) {
    const double next = 10 + 1.2 * (value - 10) - 0.8 * (before - 10) + random.normal();
    if (i > 500) {
      own_error += std::abs(*own->predict() - next);
      last_error += std::abs(*last->predict() - next);
    }
    own->observe(next);
    last->observe(next);
    before = value;
    value = next;
  }
  // The noise alone has a mean size of √(2/π).
  EXPECT_LT(own_error / 2500, 1.1 * std::sqrt(2 / std::acos(-1)));
  EXPECT_GT(last_error, 1.5 * own_error);
}

TEST(BestPredictor, ChoosesWhatFits) {
  BestPredictor constant, period, noise;
  Random random(2, 2);
  for (int i = 0; i < 200; ++i) {
    constant.observe(4);
    period.observe(i % 7 == 3 ? 10 : i % 7);
    noise.observe(random.normal());
  }
  EXPECT_EQ(constant.chosen(), "last");  // the first of equals
  EXPECT_EQ(constant.error(), 0);
  EXPECT_EQ(period.chosen(), "seasonal");
  EXPECT_EQ(period.predict(), 200 % 7);
  EXPECT_LT(*period.error(), 1e-6);   // the remaining error of the first two periods
  EXPECT_NE(noise.chosen(), "last");  // an average is nearer
}

TEST(BestPredictor, ChangesItsMindWithTheSeries) {
  BestPredictor best;
  for (int i = 0; i < 100; ++i) best.observe(i % 5);
  EXPECT_EQ(best.chosen(), "seasonal");
  for (int i = 0; i < 100; ++i) best.observe(1000.0 * i * i);
  EXPECT_EQ(best.chosen(), "last");
}

TEST(BestPredictor, TellsASeason) {
  BestPredictor period, constant, noise;
  EXPECT_TRUE(period.season().empty());
  Random random(5, 5);
  for (int i = 0; i < 200; ++i) {
    period.observe(i % 7);
    constant.observe(4);
    noise.observe(random.uniform());
  }
  EXPECT_EQ(period.season(), (std::vector<double>{4, 5, 6, 0, 1, 2, 3}));  // 200 = 28 · 7 + 4
  EXPECT_EQ(constant.season(), std::vector<double>{4});
  EXPECT_EQ(noise.season().size(), 1u);
}

TEST(BestPredictor, NoiseDoesNotMakeASeasonLonger) {
  // Every multiple of the season fits as well, and by chance one of them a little better.
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const std::size_t period : {3u, 4u, 5u}) {
      BestPredictor predictor;
      Random random(seed, 7);
      for (std::size_t i = 0; i < 48; ++i)
        predictor.observe((i % period == 0 ? 3e-3 : 1e-3) + 2e-5 * random.uniform());
      EXPECT_EQ(predictor.season().size(), period) << seed;
    }
}

TEST(SiteForecast, ALateRankIsForecast) {
  SiteForecast site;
  EXPECT_EQ(site.delay(), 0);
  for (std::size_t i = 0; i < SiteForecast::calls_needed; ++i) {
    EXPECT_FALSE(site.is_forecastable());
    site.observe(5);
  }
  EXPECT_TRUE(site.is_forecastable());
  EXPECT_EQ(site.delay(), 5);
}

TEST(SiteForecast, WhatCannotBeForecastIsBalanced) {
  SiteForecast erratic, punctual;
  Random random(3, 3);
  int forecast = 0;
  for (int i = 0; i < 2000; ++i) {
    erratic.observe(random.uniform() < 0.1 ? 1 : 0);  // occasionally late, without a rule
    punctual.observe(0);
    forecast += erratic.is_forecastable();
  }
  EXPECT_LT(forecast, 20);
  EXPECT_FALSE(punctual.is_forecastable());
  EXPECT_EQ(punctual.delay(), 0);
}

TEST(SiteForecast, IsNeverBelowZero) {
  SiteForecast site;
  for (int i = 0; i < 50; ++i) site.observe(i % 2 == 0 ? -1e-9 : -2e-9);  // clocks are not exact
  EXPECT_GE(site.delay(), 0);
}

TEST(Progress, Extrapolates) {
  Progress phase(10);
  EXPECT_FALSE(phase.end());
  phase.edge(0.5, 12);
  EXPECT_EQ(phase.end(), 14);
  phase.edge(0.8, 14);  // slower since
  EXPECT_EQ(phase.end(), 15);
  phase.edge(1, 16);
  EXPECT_EQ(phase.end(), 16);
  EXPECT_THROW(phase.edge(0, 17), std::invalid_argument);
  EXPECT_THROW(phase.edge(1.5, 17), std::invalid_argument);
  EXPECT_THROW(phase.edge(0.5, 9), std::invalid_argument);
  EXPECT_THROW(phase.edge(std::nan(""), 17), std::invalid_argument);
  EXPECT_THROW(phase.edge(0.5, std::nan("")), std::invalid_argument);
}

RC_GTEST_PROP(Predictor, FiniteValuesGiveFiniteForecasts, ()) {
  BestPredictor best;
  for (const int value : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1'000'000, 1'000'000))) {
    best.observe(value);
    RC_ASSERT(std::isfinite(*best.predict()));
  }
}

}  // namespace
}  // namespace convene::arrival
