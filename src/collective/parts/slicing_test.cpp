// SPDX-License-Identifier: BSD-3-Clause
#include "collective/parts/slicing.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace convene::collective {
namespace {

using Sizes = std::vector<Rank>;

Sizes sizes(Rank procs, const Sizes& wanted) { return radices(procs, wanted); }

TEST(Radices, AreThoseThatWereAskedFor) {
  EXPECT_EQ(sizes(128, {4, 4, 8}), (Sizes{4, 4, 8}));  // the source's example
  EXPECT_EQ(sizes(24, {2, 3, 4}), (Sizes{2, 3, 4}));
  EXPECT_EQ(sizes(1, {4}), Sizes{});
}

TEST(Radices, TheLastOneStandsForAllFurtherRounds) {
  EXPECT_EQ(sizes(64, {4}), (Sizes{4, 4, 4}));
  EXPECT_EQ(sizes(64, {8, 2}), (Sizes{8, 2, 2, 2}));
}

TEST(Radices, AreDivisors) {
  EXPECT_EQ(sizes(12, {5, 2}), (Sizes{4, 3}));
  EXPECT_EQ(sizes(13, {4}), Sizes{13});
  for (Rank procs = 1; procs <= 130; ++procs)
    for (const Sizes& wanted : {Sizes{2}, Sizes{5, 3}, Sizes{2, 7, 4}}) {
      const Sizes found = sizes(procs, wanted);
      EXPECT_EQ(std::accumulate(found.begin(), found.end(), Rank{1}, std::multiplies<>()), procs);
    }
}

}  // namespace
}  // namespace convene::collective
