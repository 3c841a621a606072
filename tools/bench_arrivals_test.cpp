// SPDX-License-Identifier: BSD-3-Clause
#include "bench_arrivals.hpp"

#include <gtest/gtest.h>

namespace convene::bench {
namespace {

TEST(BenchArrivals, TracesAreJoinedFromPieces) {
  EXPECT_EQ(join_traces({"0,1ms/2", "us,0;0", ",0"}), (std::vector<std::string>{"0,1ms\n2us,0", "0,0"}));
  EXPECT_TRUE(join_traces({}).empty());
}

}  // namespace
}  // namespace convene::bench
