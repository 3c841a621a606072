// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/call_statistics.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace convene::experiment {
namespace {

TEST(CallStatistics, HaveOneFigureForEachCall) {
  const CallStatistics found = call_statistics({{0, 2}, {1, 1}}, {{3, 3}, {2, 4}});
  EXPECT_EQ(found.imbalance, (std::vector<double>{2, 0}));
  EXPECT_EQ(found.run_time, (std::vector<double>{3, 3}));
  EXPECT_EQ(found.mean_elapsed, (std::vector<double>{2, 2}));
  EXPECT_EQ(found.last_arrival_to_last_exit, (std::vector<double>{1, 3}));
  EXPECT_THROW(call_statistics({{0}}, {}), std::invalid_argument);
}

TEST(CallStatistics, DelaysAreAsManyAsDiffer) {
  EXPECT_EQ(delays_of_calls("none", 3, 10, 1).size(), 1u);
  EXPECT_EQ(delays_of_calls("uniform:1ms", 3, 10, 1).size(), 10u);
  EXPECT_EQ(delays_of_calls("uniform:1ms", 3, 10, 1), delays_of_calls("uniform:1ms", 3, 10, 1));
  EXPECT_NE(delays_of_calls("uniform:1ms", 3, 10, 1), delays_of_calls("uniform:1ms", 3, 10, 2));
}

TEST(CallStatistics, PatternsHaveAShortestForm) {
  EXPECT_EQ(shortest_pattern("uniform:1000us", 4), "uniform:1ms");
  EXPECT_THROW(shortest_pattern("late:4:1ms", 4), Error);
}

}  // namespace
}  // namespace convene::experiment
