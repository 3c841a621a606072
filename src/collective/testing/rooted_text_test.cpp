// SPDX-License-Identifier: BSD-3-Clause
// Schedules of collectives with a root, of alltoall and of barriers, as text.
#include <gtest/gtest.h>

#include "collective/core/algorithm.hpp"
#include "collective/parts/named_for_test.hpp"
#include "schedule/print/print.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::collective {
namespace {

std::string text_of(Collective collective, std::string_view name, Rank procs, Rank root,
                    const std::vector<Value>& parameters) {
  const Algorithm& chosen = algorithm(collective, name);
  const PlanInfo info{.collective = std::string(convene::collective::name(collective)),
                      .algorithm = std::string(name),
                      .procs = procs,
                      .root = root,
                      .segments = segments(chosen, procs, parameters)};
  const Call call{.collective = collective, .procs = procs, .root = root, .parameters = parameters};
  return "\n" + to_text(build_plan(chosen, call), info, contract(call, info.segments));
}

TEST(Golden, BinomialGatherOf5) {
  EXPECT_EQ(text_of(Collective::gather, "binomial", 5, 1, {}), R"(
gather by binomial, 5 processes: 3 rounds, 4 messages, 5 blocks; the busiest rank sends 2 blocks in 1 message

round 0
  rank  sends   receives
     1          2 from 2
     2  2 to 1
     3          4 from 4
     4  4 to 3

round 1
  rank  sends     receives
     1            3,4 from 3
     3  3,4 to 1

round 2
  rank  sends   receives
     0  0 to 1
     1          0 from 0
)");
}

TEST(Golden, LinearSyncGatherOf3) {
  EXPECT_EQ(text_of(Collective::gather, "linear_sync", 3, 1, {2, 1}), R"(
gather by linear_sync, 3 processes: 2 rounds, 4 messages, 6 segments; the busiest rank sends 2 segments in 2 messages

round 0
  rank  sends               receives
     0                      1.0 from 1
     1  1.0 to 2, 1.0 to 0
     2                      1.0 from 1

round 1
  rank  sends         receives
     0  0.0,0.1 to 1
     1                2.0,2.1 from 2, 0.0,0.1 from 0
     2  2.0,2.1 to 1
)");
}

TEST(Golden, LinearSyncGathervOf3) {
  EXPECT_EQ(text_of(Collective::gatherv, "linear_sync", 3, 1, {2, 1}), R"(
gatherv by linear_sync, 3 processes: 3 rounds, 6 messages, 8 segments; the busiest rank sends 3 segments in 2 messages

round 0
  rank  sends     receives
     0  0.0 to 1
     1            2.0 from 2, 0.0 from 0
     2  2.0 to 1

round 1
  rank  sends               receives
     0                      0.0 from 1
     1  2.0 to 2, 0.0 to 0
     2                      2.0 from 1

round 2
  rank  sends         receives
     0  0.0,0.1 to 1
     1                2.0,2.1 from 2, 0.0,0.1 from 0
     2  2.0,2.1 to 1
)");
}

TEST(Golden, TernaryScatterOf5) {
  EXPECT_EQ(text_of(Collective::scatter, "nway_binomial", 5, 0, {2}), R"(
scatter by nway_binomial, 5 processes: 2 rounds, 4 messages, 5 blocks; the busiest rank sends 4 blocks in 3 messages

round 0
  rank  sends             receives
     0  2,3 to 2, 4 to 4
     2                    2,3 from 0
     4                    4 from 0

round 1
  rank  sends   receives
     0  1 to 1
     1          1 from 0
     2  3 to 3
     3          3 from 2
)");
}

TEST(Golden, LogGPOptimalScatterOf5) {
  EXPECT_EQ(text_of(Collective::scatter, "loggp_optimal", 5, 0, {4500, 1750, 3000, 1000, 1, 0}), R"(
scatter by loggp_optimal, 5 processes: 3 rounds, 4 messages, 5 blocks; the busiest rank sends 4 blocks in 3 messages

round 0
  rank  sends     receives
     0  3,4 to 3
     3            3,4 from 0

round 1
  rank  sends   receives
     0  2 to 2
     2          2 from 0
     3  4 to 4
     4          4 from 3

round 2
  rank  sends   receives
     0  1 to 1
     1          1 from 0
)");
}

TEST(Golden, SplitBinaryBcastOf5) {
  EXPECT_EQ(text_of(Collective::bcast, "split_binary", 5, 0, {2}), R"(
bcast by split_binary, 5 processes: 3 rounds, 8 messages, 8 segments; the busiest rank sends 2 segments in 2 messages

round 0
  rank  sends               receives
     0  0.0 to 1, 0.1 to 3
     1                      0.0 from 0
     3                      0.1 from 0

round 1
  rank  sends     receives
     1  0.0 to 2
     2            0.0 from 1
     3  0.1 to 4
     4            0.1 from 3

round 2
  rank  sends     receives
     1  0.0 to 3  0.1 from 3
     2  0.0 to 4  0.1 from 4
     3  0.1 to 1  0.0 from 1
     4  0.1 to 2  0.0 from 2
)");
}

TEST(Golden, ScatterAndAllgatherBcastOf4) {
  EXPECT_EQ(text_of(Collective::bcast, "scatter_allgather", 4, 0, {0}), R"(
bcast by scatter_allgather, 4 processes: 4 rounds, 8 messages, 12 segments; the busiest rank sends 6 segments in 4 messages

round 0
  rank  sends         receives
     0  0.2,0.3 to 2
     2                0.2,0.3 from 0

round 1
  rank  sends     receives
     0  0.1 to 1
     1            0.1 from 0
     2  0.3 to 3
     3            0.3 from 2

round 2
  rank  sends     receives
     0  0.0 to 1
     1            0.0 from 0
     2  0.2 to 3
     3            0.2 from 2

round 3
  rank  sends         receives
     0  0.0,0.1 to 2
     1  0.0,0.1 to 3  0.2,0.3 from 3
     2                0.0,0.1 from 0
     3  0.2,0.3 to 1  0.0,0.1 from 1
)");
}

TEST(Golden, BruckAlltoallOf4) {
  EXPECT_EQ(text_of(Collective::alltoall, "bruck", 4, 0, {2}), R"(
alltoall by bruck, 4 processes: 2 rounds, 8 messages, 16 blocks; the busiest rank sends 4 blocks in 2 messages

round 0
  rank  sends       receives
     0  1,3 to 1    12,14 from 3
     1  6,4 to 2    1,3 from 0
     2  11,9 to 3   6,4 from 1
     3  12,14 to 0  11,9 from 2

round 1
  rank  sends      receives
     0  2,14 to 2  8,4 from 2
     1  7,3 to 3   13,9 from 3
     2  8,4 to 0   2,14 from 0
     3  13,9 to 1  7,3 from 1
)");
}

TEST(Golden, TreeBarrierOf4) {
  EXPECT_EQ(text_of(Collective::barrier, "tree", 4, 0, {2}), R"(
barrier by tree, 4 processes: 4 rounds, 6 messages, 12 blocks; the busiest rank sends 5 blocks in 2 messages

round 0
  rank  sends   receives
     1          2 from 2
     2  2 to 1

round 1
  rank  sends     receives
     0            1,2 from 1, 3 from 3
     1  1,2 to 0
     3  3 to 0

round 2
  rank  sends               receives
     0  3,0 to 1, 0-2 to 3
     1                      3,0 from 0
     3                      0-2 from 0

round 3
  rank  sends       receives
     1  3,0,1 to 2
     2              3,0,1 from 1
)");
}

}  // namespace
}  // namespace convene::collective
