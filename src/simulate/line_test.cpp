// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/line.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace convene {
namespace {

RC_GTEST_PROP(Line, TakesWorkInTheOrderOfTimeAndThenOfComing, ()) {
  Line line;
  std::vector<Job> waiting;
  const auto turns = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-2, 8));  // below 0: takes one
  Rank next = 0;
  for (const int turn : turns) {
    RC_ASSERT(line.empty() == waiting.empty());
    if (turn >= 0) {
      const Job job{.time = static_cast<double>(turn), .rank = next++};
      line.add(job);
      waiting.push_back(job);
    } else if (!waiting.empty()) {
      const auto first = std::min_element(waiting.begin(), waiting.end(),
                                          [](const Job& a, const Job& b) { return a.time < b.time; });
      const Job taken = line.take_first();
      RC_ASSERT(taken.time == first->time);
      RC_ASSERT(taken.rank == first->rank);
      waiting.erase(first);
    }
  }
}

}  // namespace
}  // namespace convene
