// SPDX-License-Identifier: BSD-3-Clause
// Schedules of algorithms that use forecasts, as text.
#include <gtest/gtest.h>

#include "collective/core/algorithm.hpp"
#include "collective/parts/forecasts_for_test.hpp"
#include "schedule/print/print.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::collective {
namespace {

std::string text_of(Collective collective, std::string_view algorithm_name, const Arrivals& forecast,
                    std::int64_t segments_given = 0) {
  const Call call = call_of(collective, algorithm_name, forecast, segments_given);
  const std::uint32_t per_block = segments(algorithm(collective, algorithm_name), call);
  const PlanInfo info{.collective = std::string(name(collective)),
                      .algorithm = std::string(algorithm_name),
                      .procs = call.procs,
                      .segments = per_block,
                      .naming = collective == Collective::barrier ? Naming::empty : Naming::source};
  return to_text(plan_of(collective, algorithm_name, forecast, segments_given), info,
                 contract(call, per_block));
}

TEST(Slt, ExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::allreduce, "slt", {0, 5, 0, 0}, 2),
      R"(allreduce by slt, 4 processes: 7 rounds, 12 messages, 12 segments; the busiest rank sends 4 segments in 4 messages

round 0
  rank  sends     receives
     0  0.0 to 2
     2            0.0 from 0

round 1
  rank  sends         receives
     0  0.1 to 2
     2  (0,2).0 to 3  0.1 from 0
     3                (0,2).0 from 2

round 2
  rank  sends           receives
     1                  (0,2,3).0 from 3
     2  (0,2).1 to 3
     3  (0,2,3).0 to 1  (0,2).1 from 2

round 3
  rank  sends           receives
     1  (0-3).0 to 3    (0,2,3).1 from 3
     3  (0,2,3).1 to 1  (0-3).0 from 1

round 4
  rank  sends         receives
     1  (0-3).1 to 3
     2                (0-3).0 from 3
     3  (0-3).0 to 2  (0-3).1 from 1

round 5
  rank  sends         receives
     0                (0-3).0 from 2
     2  (0-3).0 to 0  (0-3).1 from 3
     3  (0-3).1 to 2

round 6
  rank  sends         receives
     0                (0-3).1 from 2
     2  (0-3).1 to 0
)");
}

TEST(Prr, ExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::allreduce, "prr", {0, 5, 0, 0}, 1),
      R"(allreduce by prr, 4 processes: 11 rounds, 24 messages, 24 segments; the busiest rank sends 7 segments in 7 messages

round 0
  rank  sends     receives
     0  0.2 to 2  3.1 from 3
     2  2.0 to 3  0.2 from 0
     3  3.1 to 0  2.0 from 2

round 1
  rank  sends         receives
     0  (0,3).1 to 2  (2,3).0 from 3
     2  2.3 to 3      (0,3).1 from 0
     3  (2,3).0 to 0  2.3 from 2

round 2
  rank  sends           receives
     0  (0,2,3).0 to 1  (2,3).3 from 3
     1                  (0,2,3).0 from 0
     2  (0,2).2 to 3
     3  (2,3).3 to 0    (0,2).2 from 2

round 3
  rank  sends           receives
     0  (0,2,3).3 to 1
     1                  (0,2,3).3 from 0

round 4
  rank  sends           receives
     1                  (0,2,3).2 from 3
     3  (0,2,3).2 to 1

round 5
  rank  sends           receives
     0                  (0-3).2 from 1
     1  (0-3).2 to 0    (0,2,3).1 from 2
     2  (0,2,3).1 to 1

round 6
  rank  sends         receives
     0  (0-3).2 to 2
     1  (0-3).1 to 3
     2                (0-3).2 from 0
     3                (0-3).1 from 1

round 7
  rank  sends         receives
     0                (0-3).1 from 3
     1  (0-3).3 to 2
     2  (0-3).2 to 3  (0-3).3 from 1
     3  (0-3).1 to 0  (0-3).2 from 2

round 8
  rank  sends         receives
     1  (0-3).0 to 2
     2  (0-3).3 to 3  (0-3).0 from 1
     3                (0-3).3 from 2

round 9
  rank  sends         receives
     0  (0-3).1 to 2  (0-3).3 from 3
     2  (0-3).0 to 3  (0-3).1 from 0
     3  (0-3).3 to 0  (0-3).0 from 2

round 10
  rank  sends         receives
     0                (0-3).0 from 3
     3  (0-3).0 to 0
)");
}

TEST(AdaptiveTree, AllreduceExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::allreduce, "adaptive_tree", {0, 5, 1, 0}),
      R"(allreduce by adaptive_tree, 4 processes: 5 rounds, 6 messages, 6 blocks; the busiest rank sends 2 blocks in 2 messages

round 0
  rank  sends   receives
     2          3 from 3
     3  3 to 2

round 1
  rank  sends   receives
     0  0 to 2
     2          0 from 0

round 2
  rank  sends         receives
     1                (0,2,3) from 2
     2  (0,2,3) to 1

round 3
  rank  sends       receives
     1  (0-3) to 3
     3              (0-3) from 1

round 4
  rank  sends       receives
     0              (0-3) from 3
     1  (0-3) to 2
     2              (0-3) from 1
     3  (0-3) to 0
)");
}

TEST(AdaptiveTree, BarrierExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::barrier, "adaptive_tree", {0, 5, 1, 0}),
      R"(barrier by adaptive_tree, 4 processes: 4 rounds, 6 messages, 12 empty blocks; the busiest rank sends 5 empty blocks in 2 messages

round 0
  rank  sends   receives
     0  0 to 3
     1          2 from 2
     2  2 to 1
     3          0 from 0

round 1
  rank  sends     receives
     1            3,0 from 3
     3  3,0 to 1

round 2
  rank  sends     receives
     1  1,2 to 3
     3            1,2 from 1

round 3
  rank  sends       receives
     0              1-3 from 3
     1  3,0,1 to 2
     2              3,0,1 from 1
     3  1-3 to 0
)");
}

TEST(Bsls, ExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::gather, "bsls", {0, 0, 5, 1}, 2),
      R"(gather by bsls, 4 processes: 6 rounds, 8 messages, 10 segments; the busiest rank sends 3 segments in 2 messages

round 0
  rank  sends     receives
     0            1.0 from 1
     1  1.0 to 0

round 1
  rank  sends     receives
     0  1.0 to 3  1.1 from 1
     1  1.1 to 0
     3            1.0 from 0

round 2
  rank  sends         receives
     0                1.0,3.0 from 3
     3  1.0,3.0 to 0

round 3
  rank  sends     receives
     0  3.0 to 2  3.1 from 3
     2            3.0 from 0
     3  3.1 to 0

round 4
  rank  sends         receives
     0                3.0,2.0 from 2
     2  3.0,2.0 to 0

round 5
  rank  sends     receives
     0            2.1 from 2
     2  2.1 to 0
)");
}

TEST(SortedBinomial, GatherExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::gather, "bsbn", {0, 5, 0, 0}),
      R"(gather by bsbn, 4 processes: 2 rounds, 3 messages, 4 blocks; the busiest rank sends 2 blocks in 1 message

round 0
  rank  sends   receives
     0          1 from 1
     1  1 to 0
     2          3 from 3
     3  3 to 2

round 1
  rank  sends     receives
     0            2,3 from 2
     2  2,3 to 0
)");
}

TEST(SortedBinomial, ScatterExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::scatter, "sbn", {0, 5, 0, 1}),
      R"(scatter by sbn, 4 processes: 2 rounds, 3 messages, 4 blocks; the busiest rank sends 3 blocks in 2 messages

round 0
  rank  sends     receives
     0  2,1 to 2
     2            2,1 from 0

round 1
  rank  sends   receives
     0  3 to 3
     1          1 from 2
     2  1 to 1
     3          3 from 0
)");
}

TEST(SortedLinear, ScatterExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::scatter, "sln", {0, 5, 0, 1}),
      R"(scatter by sln, 4 processes: 3 rounds, 3 messages, 3 blocks; the busiest rank sends 3 blocks in 3 messages

round 0
  rank  sends   receives
     0  2 to 2
     2          2 from 0

round 1
  rank  sends   receives
     0  3 to 3
     3          3 from 0

round 2
  rank  sends   receives
     0  1 to 1
     1          1 from 0
)");
}

TEST(ListScheduledBcast, ExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::bcast, "list_scheduled", {0, 0, 5, 0}),
      R"(bcast by list_scheduled, 4 processes: 2 rounds, 3 messages, 3 blocks; the busiest rank sends 2 blocks in 2 messages

round 0
  rank  sends   receives
     0  0 to 1
     1          0 from 0

round 1
  rank  sends   receives
     0  0 to 3
     1  0 to 2
     2          0 from 1
     3          0 from 0
)");
}

TEST(ListScheduledAllreduce, ExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::allreduce, "list_scheduled", {0, 0, 0, 9}, 2),
      R"(allreduce by list_scheduled, 4 processes: 7 rounds, 12 messages, 12 segments; the busiest rank sends 4 segments in 4 messages

round 0
  rank  sends     receives
     0            1.0 from 1
     1  1.0 to 0  2.1 from 2
     2  2.1 to 1

round 1
  rank  sends     receives
     0            2.0 from 2
     2  2.0 to 0

round 2
  rank  sends         receives
     0                (1,2).1 from 1
     1  (1,2).1 to 0

round 3
  rank  sends     receives
     0            3.0 from 3
     3  3.0 to 0

round 4
  rank  sends         receives
     0  (0-3).0 to 1  3.1 from 3
     1                (0-3).0 from 0
     3  3.1 to 0

round 5
  rank  sends         receives
     0  (0-3).1 to 2
     1  (0-3).0 to 3
     2                (0-3).1 from 0
     3                (0-3).0 from 1

round 6
  rank  sends         receives
     0  (0-3).1 to 1
     1  (0-3).0 to 2  (0-3).1 from 0
     2  (0-3).1 to 3  (0-3).0 from 1
     3                (0-3).1 from 2
)");
}

TEST(Stragglar, ExampleAsText) {
  EXPECT_EQ(
      text_of(Collective::allreduce, "stragglar", {0, 0, 0, 9}),
      R"(allreduce by stragglar, 4 processes: 6 rounds, 18 messages, 18 segments; the busiest rank sends 6 segments in 6 messages

round 0
  rank  sends     receives
     0  0.2 to 2  1.0 from 1
     1  1.0 to 0  2.1 from 2
     2  2.1 to 1  0.2 from 0

round 1
  rank  sends     receives
     0  0.1 to 1  2.0 from 2
     1  1.2 to 2  0.1 from 0
     2  2.0 to 0  1.2 from 1

round 2
  rank  sends         receives
     0  (0-2).0 to 3  3.0 from 3
     3  3.0 to 0      (0-2).0 from 0

round 3
  rank  sends         receives
     0  (0-3).0 to 2
     1  (0-2).1 to 3  3.1 from 3
     2                (0-3).0 from 0
     3  3.1 to 1      (0-2).1 from 1

round 4
  rank  sends         receives
     0  (0-3).0 to 1  (0-3).1 from 1
     1  (0-3).1 to 0  (0-3).0 from 0
     2  (0-2).2 to 3  3.2 from 3
     3  3.2 to 2      (0-2).2 from 2

round 5
  rank  sends         receives
     0  (0-3).1 to 2  (0-3).2 from 2
     1                (0-3).2 from 3
     2  (0-3).2 to 0  (0-3).1 from 0
     3  (0-3).2 to 1
)");
}

}  // namespace
}  // namespace convene::collective
