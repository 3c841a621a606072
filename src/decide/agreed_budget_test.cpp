// SPDX-License-Identifier: BSD-3-Clause
#include "decide/agreed_budget.hpp"

#include <gtest/gtest.h>

namespace convene::decide {
namespace {

constexpr std::int64_t half_a_percent = 5000;  // millionths

TEST(AgreedBudget, AStepWaitsUntilItIsEarned) {
  AgreedBudget budget;
  budget.note(1000, 10'000, half_a_percent);  // nanoseconds; picoseconds per call
  EXPECT_EQ(budget.calls_until(1000, 0, 0), 0u);
  EXPECT_EQ(budget.calls_until(2000, 0, 0), 101u);
  budget.note(-1000, 10'000, half_a_percent);
  EXPECT_EQ(budget.calls_until(1000, 0, 0), 201u);
}

TEST(AgreedBudget, ExchangesCountByTheirMedian) {
  AgreedBudget budget;
  budget.note(0, 10'000, half_a_percent);
  for (const std::int64_t each : {1000, 1000, 4'000'000}) budget.note_exchange(each);
  EXPECT_EQ(budget.calls_until(0, 0, 0), 101u);
  for (int i = 0; i < 3; ++i) budget.note_exchange(2000);
  EXPECT_EQ(budget.calls_until(0, 0, 0), 201u);
}

TEST(AgreedBudget, SetUpMustBeWorthwhile) {
  AgreedBudget budget;
  budget.note(1'000'000'000, 10'000, half_a_percent);
  EXPECT_EQ(budget.calls_until(0, 100'000, 256), AgreedBudget::longest);  // unknown how long a call takes
  budget.note_call(2000);
  EXPECT_EQ(budget.calls_until(0, 100'000, 256), 1000u - 256u);  // 5 % of 2 ms
  EXPECT_EQ(budget.calls_until(0, 100'000, 1000), 0u);
  budget.note_set_up(100'000);
  EXPECT_EQ(budget.calls_until(0, 100'000, 1000), 1000u);
  EXPECT_EQ(budget.calls_until(0, 0, 1000), 0u);
}

TEST(AgreedBudget, HasLimits) {
  AgreedBudget budget;
  budget.note(0, 0, 0);
  EXPECT_EQ(budget.calls_until(1, 0, 0), AgreedBudget::longest);
  budget.note(0, 1, half_a_percent);
  EXPECT_EQ(budget.calls_until(1'000'000, 0, 0), AgreedBudget::longest);
  budget.note(-1'000'000, 0, 1'000'000);
  EXPECT_EQ(budget.calls_until(1'000'000, 1'000'000, 0), 0u);  // 100 %
}

}  // namespace
}  // namespace convene::decide
