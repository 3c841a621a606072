// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "simulate/engine/simulated_plans_for_test.hpp"

namespace convene::simulate {
namespace {

/// Mean of many draws, and the fraction of them above `limit`.
struct Sample {
  double mean = 0, above = 0;
};
Sample sample(const Noise& noise, double limit) {
  constexpr int count = 200000;
  NoiseSource source(noise, 3);
  Sample result;
  for (int i = 0; i < count; ++i) {
    const double drawn = source.draw(2);
    EXPECT_GE(drawn, 0);
    result.mean += drawn / count;
    result.above += (drawn > limit) / static_cast<double>(count);
  }
  return result;
}

TEST(Noise, HasItsDistribution) {
  const Sample exponential = sample({NoiseKind::exponential, 2e-6, 0, 7}, 4e-6);
  EXPECT_NEAR(exponential.mean, 2e-6, 2e-8);
  EXPECT_NEAR(exponential.above, std::exp(-2.0), 0.003);
  const Sample pareto = sample({NoiseKind::pareto, 3e-6, 3, 7}, 8e-6);  // from 2e-6 on
  EXPECT_NEAR(pareto.mean, 3e-6, 6e-8);
  EXPECT_NEAR(pareto.above, std::pow(4.0, -3.0), 0.002);
  const Sample bernoulli = sample({NoiseKind::bernoulli, 1e-4, 0.01, 7}, 0);
  EXPECT_NEAR(bernoulli.above, 0.01, 0.001);
  EXPECT_NEAR(bernoulli.mean, 1e-6, 1e-7);
}

TEST(Noise, EachRankHasItsOwn) {
  NoiseSource one({NoiseKind::exponential, 1, 0, 5}, 2), other({NoiseKind::exponential, 1, 0, 5}, 2);
  const double first = one.draw(1);
  EXPECT_NE(first, one.draw(0));
  other.draw(0);
  other.draw(0);
  EXPECT_EQ(first, other.draw(1));  // independent of rank 0's draws
  EXPECT_NE(first, NoiseSource({NoiseKind::exponential, 1, 0, 6}, 2).draw(1));
}

TEST(Noise, ImpossibleNumbersAreRefused) {
  EXPECT_THROW(NoiseSource({NoiseKind::exponential, -1, 0, 1}, 1), Error);
  EXPECT_THROW(NoiseSource({NoiseKind::pareto, 1, 1, 1}, 1), Error);
  EXPECT_THROW(NoiseSource({NoiseKind::bernoulli, 1, 2, 1}, 1), Error);
}

}  // namespace
}  // namespace convene::simulate
