// SPDX-License-Identifier: BSD-3-Clause
#include "decide/paired_ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace convene::decide {
namespace {

TEST(PairedRatio, IsSymmetric) {
  PairedRatio forth, back;
  for (const std::int64_t a : {90, 95, 80, 100, 97}) {
    forth.add(a, 100);
    back.add(100, a);
  }
  EXPECT_DOUBLE_EQ(forth.ratio(), 0.95);
  EXPECT_NEAR(back.ratio(), 1 / 0.95, 1e-12);
}

TEST(PairedRatio, HasAnInterval) {
  PairedRatio ratio;
  for (const std::int64_t a : {90, 95, 80, 100, 97}) ratio.add(a, 100);
  EXPECT_DOUBLE_EQ(ratio.ratio(), 0.95);
  // Half-width: 1.96 · 1.86 · MAD / √n, in log ratios.
  const double half = 1.96 * 1.86 * 0.0513 / std::sqrt(5.);
  EXPECT_NEAR(ratio.upper(), 0.95 * std::exp(half), 0.005);
  EXPECT_NEAR(ratio.lower(), 0.95 * std::exp(-half), 0.005);
  PairedRatio equal;
  for (int i = 0; i < 3; ++i) equal.add(50, 100);
  EXPECT_DOUBLE_EQ(equal.upper(), equal.ratio());
}

TEST(PairedRatio, DecidesBeyondItsIntervalOnly) {
  PairedRatio ratio;
  EXPECT_FALSE(ratio.is_faster_by(0));
  EXPECT_FALSE(ratio.excludes_faster_by(0));
  for (int i = 0; i < 4; ++i) ratio.add(i % 2 == 0 ? 70 : 105, 100);
  EXPECT_FALSE(ratio.is_faster_by(0.03));
  EXPECT_FALSE(ratio.excludes_faster_by(0.02));
  for (int i = 0; i < 60; ++i) ratio.add(85 + i % 3, 100);
  EXPECT_TRUE(ratio.is_faster_by(0.03));
  EXPECT_FALSE(ratio.is_faster_by(0.2));
  EXPECT_TRUE(ratio.excludes_faster_by(0.3));
}

TEST(PairedRatio, OfTwoPeaksNeedsMostPairs) {
  PairedRatio ratio;
  for (int i = 0; i < 16; ++i) ratio.add(i < 9 ? 70 : 140, 100);  // two sizes of messages, say
  EXPECT_TRUE(ratio.is_faster_by(0.03)) << "most deviations are 0";
  EXPECT_FALSE(ratio.is_mostly_faster());
}

TEST(PairedRatio, IsMostlyFasterBeyondChance) {
  const auto is_mostly_faster = [](int faster, int pairs) {
    PairedRatio ratio;
    for (int i = 0; i < pairs; ++i) ratio.add(i < faster ? 90 : 110, 100);
    return ratio.is_mostly_faster();
  };
  EXPECT_FALSE(is_mostly_faster(0, 0));
  EXPECT_FALSE(is_mostly_faster(1, 16));
  EXPECT_FALSE(is_mostly_faster(14, 16));
  EXPECT_TRUE(is_mostly_faster(15, 16));
  EXPECT_FALSE(is_mostly_faster(73, 112));
  EXPECT_TRUE(is_mostly_faster(74, 112));
}

}  // namespace
}  // namespace convene::decide
