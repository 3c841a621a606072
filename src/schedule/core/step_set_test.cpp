// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/step_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace convene::schedule {
namespace {

/// One, two and three levels, and the numbers of steps around which a level begins.
class StepSets : public testing::TestWithParam<std::uint32_t> {};

TEST_P(StepSets, KnowTheirEarliest) {
  const std::uint32_t steps = GetParam();
  StepSet set(steps);
  std::set<StepId> expected;
  std::mt19937 random(steps);
  for (int i = 0; i < 3000; ++i) {
    const auto id = static_cast<StepId>(random() % steps);
    if (set.contains(id))
      set.erase(id), expected.erase(id);
    else
      set.insert(id), expected.insert(id);
    ASSERT_EQ(set.size(), expected.size());
    ASSERT_EQ(set.contains(id), expected.contains(id));
    ASSERT_EQ(set.empty(), expected.empty());
    if (!expected.empty()) {
      ASSERT_EQ(set.first(), *expected.begin());
    }
    if (i % 100 == 99)
      while (!set.empty()) {
        ASSERT_EQ(set.first(), *expected.begin());
        set.erase(set.first());
        expected.erase(expected.begin());
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, StepSets, testing::Values(1, 63, 64, 65, 4095, 4096, 4097, 300000));

TEST(StepSet, OfNoSteps) { EXPECT_TRUE(StepSet(0).empty()); }

}  // namespace
}  // namespace convene::schedule
