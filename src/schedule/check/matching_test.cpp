// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/matching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/testing/mutation.hpp"
#include "schedule/testing/ring_for_test.hpp"

namespace convene::schedule {
namespace {

using testing::HasSubstr;

TEST(MessageMatching, PairsBothEndsOfEveryMessage) {
  for (Rank procs = 1; procs <= 20; ++procs) {
    const Plan plan = ring_plan(procs);
    const MessageMatching matching = link(plan);
    ASSERT_EQ(matching.fault, "");
    ASSERT_EQ(matching.base.size(), procs + 1u);
    for (Rank rank = 0; rank < procs; ++rank)
      for (StepId id = 0; id < plan[rank].size(); ++id) {
        const Step& step = plan[rank][id];
        const PlanStep index = matching.at(rank, id), partner = matching.partner[index];
        EXPECT_EQ(matching.step(rank, index), id);
        if (!step.is_message()) {
          EXPECT_EQ(partner, MessageMatching::none);
          continue;
        }
        const Step& other = plan[step.peer][matching.step(step.peer, partner)];
        EXPECT_EQ(matching.partner[partner], index);
        EXPECT_EQ(other.peer, rank);
        EXPECT_EQ(other.match, step.match);
        EXPECT_NE(other.kind, step.kind);
      }
  }
}

/// The fault of a ring of three ranks after a change of one step of rank 1.
std::string fault_after(const std::function<void(Mutation&)>& change) {
  Plan plan = ring_plan(3);
  Mutation mutation(plan[1]);
  change(mutation);
  plan[1] = mutation.schedule();
  return link(plan).fault;
}

std::size_t first_of(const Mutation& mutation, StepKind kind) {
  std::size_t id = 0;
  while (mutation.steps[id].step.kind != kind) ++id;
  return id;
}

TEST(MessageMatching, NamesTheFaultyMessage) {
  EXPECT_THAT(fault_after([](Mutation& m) { m.drop(first_of(m, StepKind::recv)); }), HasSubstr("remains"));
  EXPECT_THAT(fault_after([](Mutation& m) { m.steps[first_of(m, StepKind::send)].step.match = 1; }),
              HasSubstr("has the same number as"));
  EXPECT_THAT(fault_after([](Mutation& m) { m.steps[first_of(m, StepKind::send)].step.match = 9; }),
              HasSubstr("has the number 9"));
  EXPECT_THAT(fault_after([](Mutation& m) { m.steps[first_of(m, StepKind::recv)].step.match = 1; }),
              HasSubstr("received a second time"));
  EXPECT_THAT(fault_after([](Mutation& m) { m.drop(first_of(m, StepKind::send)); }),
              HasSubstr("has the number 1"));
  EXPECT_THAT(fault_after([](Mutation& m) {
                m.steps[first_of(m, StepKind::recv)].ranges[0] = Range(Buffer::output, 0, 2);
              }),
              HasSubstr("takes 2 blocks"));
}

}  // namespace
}  // namespace convene::schedule
