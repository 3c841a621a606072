// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tags.hpp"

#include <gtest/gtest.h>

#include <set>

namespace convene::transport {
namespace {

TEST(Tags, DifferWithinARangeOfCollectives) {
  std::set<int> all;
  for (std::uint32_t number = 0; number < collective_range; ++number) {
    for (std::uint32_t match = 0; match < match_window; ++match) all.insert(Tags(number).of(match));
    all.insert(Tags(number).of_notices());
  }
  EXPECT_EQ(all.size(), collective_range * (match_window + 1));
  EXPECT_GE(*all.begin(), 0);
  EXPECT_LE(*all.rbegin(), 32767);
}

TEST(Tags, WrapAround) {
  EXPECT_EQ(Tags(5).of(7), Tags(5 + collective_range).of(7 + match_window));
  EXPECT_EQ(Tags(5).of(match_window - 1), Tags(5).of_number(match_window - 1));
}

TEST(Tags, PersistentOperationsHaveTheirOwn) {
  constexpr int tag_ub = (1 << 23) - 1;
  const std::uint32_t numbers = Tags::persistent_numbers(tag_ub);
  EXPECT_GT(numbers, 0u);
  EXPECT_GT(Tags(3, 1).of(0), Tags(collective_range - 1).of_notices());
  EXPECT_LE(Tags(3, numbers).of_notices(), tag_ub);
  EXPECT_EQ(Tags(3, 2).of(1), Tags(4, 2).of(1));
  EXPECT_EQ(Tags::persistent_numbers(32767), 0u);
}

}  // namespace
}  // namespace convene::transport
