// SPDX-License-Identifier: BSD-3-Clause
#include "arrival/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace convene::arrival {
namespace {

using Times = std::vector<double>;

// Proficz 2021, figure 4: process 0 two rounds late, BDR and the ring.
TEST(Statistics, SourcesExample) {
  const Times arrivals{2, 0, 0, 0}, bdr{3, 4, 5, 5}, ring{5, 5, 5, 5};
  EXPECT_EQ(imbalance(arrivals), 2);
  EXPECT_EQ(elapsed(arrivals, bdr), (Times{1, 4, 5, 5}));
  EXPECT_EQ(mean_elapsed(arrivals, bdr), 3.75);
  EXPECT_EQ(mean_elapsed(arrivals, ring), 4.5);
  EXPECT_EQ(run_time(arrivals, ring), 5);
  EXPECT_EQ(last_arrival_to_last_exit(arrivals, ring), 3);
}

TEST(Statistics, ImbalancedFromOneMessageOn) {
  EXPECT_TRUE(is_imbalanced(Times{0, 2}, 2));
  EXPECT_FALSE(is_imbalanced(Times{0, 1.99}, 2));
  EXPECT_FALSE(is_imbalanced(Times{7}, 2));
}

TEST(Statistics, Absorption) {
  EXPECT_EQ(absorption(3, 5, 2), 0);   // the delay lengthens the operation by its full length
  EXPECT_EQ(absorption(3, 3, 2), 2);   // the delay costs nothing
  EXPECT_EQ(absorption(3, 6, 2), -1);  // the delay costs more than its length
  EXPECT_EQ(normalised_absorption(4, 4, 2), 0.5);
  EXPECT_EQ(normalised_imbalance(4, 2), 0.5);
}

TEST(Statistics, RefusesWhatIsNoTime) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(imbalance(Times{}), std::invalid_argument);
  EXPECT_THROW(imbalance(Times{0, nan}), std::invalid_argument);
  EXPECT_THROW(elapsed(Times{0, 0}, Times{1, infinite}), std::invalid_argument);
  EXPECT_THROW(mean_elapsed(Times{0, 0}, Times{1}), std::invalid_argument);
  EXPECT_THROW(is_imbalanced(Times{0, 1}, 0), std::invalid_argument);
  EXPECT_THROW(normalised_absorption(0, 1, 1), std::invalid_argument);
}

TEST(Ticks, AreWholeRoundsAfterTheEarliest) {
  using Arrivals = std::vector<Nanoseconds>;
  using Ticks = std::vector<std::int32_t>;
  EXPECT_EQ(to_ticks(Arrivals{25, 10, 19, 20}, 10), (Ticks{1, 0, 0, 1}));
  EXPECT_EQ(to_ticks(Arrivals{-5, 5}, 10), (Ticks{0, 1}));
  EXPECT_EQ(to_ticks(Arrivals{3, 3, 3}, 1), (Ticks{0, 0, 0}));
  EXPECT_EQ(to_ticks(Arrivals{INT64_MIN, INT64_MAX}, 1), (Ticks{0, INT32_MAX}));
  EXPECT_EQ(to_ticks(Arrivals{}, 1), Ticks{});
  EXPECT_THROW(to_ticks(Arrivals{1}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace convene::arrival
