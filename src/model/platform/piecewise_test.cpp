// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/piecewise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace convene::model {
namespace {

using testing::HasSubstr;

template <class Function>
std::string complaint(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Piecewise, IsStraightBetweenPointsAndGoesOnBehindThem) {
  const Piecewise function({{10, 1}, {20, 3}, {40, 4}});
  EXPECT_DOUBLE_EQ(function(0), 1);
  EXPECT_DOUBLE_EQ(function(15), 2);
  EXPECT_DOUBLE_EQ(function(20), 3);
  EXPECT_DOUBLE_EQ(function(30), 3.5);
  EXPECT_DOUBLE_EQ(function(80), 6);
  EXPECT_DOUBLE_EQ(Piecewise(7)(1e9), 7);
  EXPECT_DOUBLE_EQ(Piecewise::line(2, 0.5)(100), 52);
}

TEST(Piecewise, TwoPointsOfOneSizeAreAStep) {
  const Piecewise function({{0, 1}, {100, 1}, {100, 5}});
  EXPECT_DOUBLE_EQ(function(99), 1);
  EXPECT_DOUBLE_EQ(function(100), 5);
  EXPECT_DOUBLE_EQ(function(1000), 5);
}

TEST(Piecewise, RefusesWhatIsNoFunction) {
  EXPECT_THAT(complaint([] { Piecewise(std::vector<Piecewise::Point>{}); }), HasSubstr("no points"));
  EXPECT_THAT(complaint([] { Piecewise({{1, 1}, {0, 1}}); }), HasSubstr("sizes must ascend"));
  EXPECT_THAT(complaint([] { Piecewise({{0, -1}}); }), HasSubstr("0 or larger"));
}

}  // namespace
}  // namespace convene::model
