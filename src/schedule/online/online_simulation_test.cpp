// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/online/online_simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "schedule/check/checker.hpp"
#include "schedule/core/builder.hpp"
#include "schedule/online/incremental_schedule.hpp"

namespace convene::schedule {
namespace {

using testing::HasSubstr;

/// A gather to rank 0 in the order of arrivals: a rank notifies the root when it has arrived, and sends its
/// block; the root posts the receive after the notice.
class ArrivalGather : public OnlineAlgorithm {
 public:
  ArrivalGather(Rank procs, Rank rank) : missing_(rank == 0 ? procs - 1 : 0), rank_(rank) {}

  std::unique_ptr<OnlineAlgorithm> copy() const override { return std::make_unique<ArrivalGather>(*this); }
  bool is_listening() const override { return missing_ > 0; }
  void on(const Event& event, OnlineSteps& steps) override {
    if (event.kind == Event::Kind::noticed) {
      --missing_;
      steps.recv(event.peer, Range(Buffer::output, event.peer));
    }
    if (event.kind != Event::Kind::begun) return;
    if (rank_ == 0) return steps.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
    steps.tell(0, {.rank = rank_});
    steps.send(0, Range(Buffer::input, 0));
  }

 private:
  Rank missing_, rank_;
};

/// Rank 1 sends a block that rank 0 never receives.
class LostMessage : public OnlineAlgorithm {
 public:
  explicit LostMessage(Rank rank) : rank_(rank) {}
  std::unique_ptr<OnlineAlgorithm> copy() const override { return std::make_unique<LostMessage>(*this); }
  bool is_listening() const override { return false; }
  void on(const Event& event, OnlineSteps& steps) override {
    if (rank_ == 1 && event.kind == Event::Kind::begun) steps.send(0, Range(Buffer::input, 0));
  }

 private:
  Rank rank_;
};

Schedule empty_schedule(Rank procs, Rank rank) {
  Builder builder;
  builder.begin(procs, rank);
  builder.buffer(Buffer::input, 1);
  builder.buffer(Buffer::output, procs);
  return builder.finish();
}

OnlineSimulation gather(Rank procs, OnlineSimulation::Options options = {}) {
  std::vector<Runnable> ranks;
  for (Rank rank = 0; rank < procs; ++rank)
    ranks.push_back({empty_schedule(procs, rank), std::make_unique<ArrivalGather>(procs, rank)});
  return OnlineSimulation(std::move(ranks), std::move(options));
}

Contract gather_contract(Rank procs) {
  Contract contract(procs);
  for (Rank rank = 0; rank < procs; ++rank) {
    contract[rank].input = {static_cast<Content>(rank)};
    contract[rank].output.assign(procs, nothing);
    contract[rank].wanted.assign(procs, nothing);
  }
  for (Rank rank = 0; rank < procs; ++rank) contract[0].wanted[rank] = static_cast<Content>(rank);
  return contract;
}

TEST(OnlineSimulation, GivesACorrectPlan) {
  for (Rank procs = 1; procs <= 9; ++procs)
    for (const bool eager : {false, true})
      EXPECT_EQ(check(simulate_to_end(gather(procs, {.eager = eager})), gather_contract(procs)).why, "");
}

TEST(OnlineSimulation, GivesACorrectPlanForAnyOrderOfEvents) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    OnlineSimulation simulation = gather(5, {.in_background = seed % 2 == 1, .eager = seed % 3 == 1});
    for (auto choices = simulation.choices(); !choices.empty(); choices = simulation.choices())
      simulation.take(choices[random() % choices.size()]);
    EXPECT_EQ(simulation.unfinished(), "");
    EXPECT_EQ(check(simulation.plan(), gather_contract(5)).why, "") << seed;
  }
}

/// Rank 1 arrives last, so the root receives its block last.
TEST(OnlineSimulation, FollowsTheArrivals) {
  const Plan plan = simulate_to_end(gather(4, {.arrivals = {0, 30, 20, 10}}));
  std::vector<Rank> senders;
  for (const Step& step : plan[0].steps())
    if (step.kind == StepKind::recv && step.touches != 0) senders.push_back(step.peer);
  EXPECT_EQ(senders, (std::vector<Rank>{3, 2, 1}));
  EXPECT_EQ(check(plan, gather_contract(4)).why, "");
}

TEST(OnlineSimulation, ACopyIsIndependent) {
  const OnlineSimulation original = gather(3);
  OnlineSimulation copy(original);
  while (const auto next = copy.earliest()) copy.take(*next);
  EXPECT_EQ(copy.unfinished(), "");
  EXPECT_NE(original.unfinished(), "");
  EXPECT_EQ(original.plan()[0].size(), 0u);
  EXPECT_EQ(check(simulate_to_end(original), gather_contract(3)).why, "");
}

TEST(OnlineSimulation, NamesAMessageWithoutReceive) {
  std::vector<Runnable> ranks;
  for (Rank rank = 0; rank < 2; ++rank)
    ranks.push_back({empty_schedule(2, rank), std::make_unique<LostMessage>(rank)});
  OnlineSimulation simulation(std::move(ranks), {});
  while (const auto next = simulation.earliest()) simulation.take(*next);
  EXPECT_THAT(simulation.unfinished(), HasSubstr("rank 1 sends 1 messages to rank 0, which receives 0"));
}

TEST(OnlineSimulation, NamesARankThatListens) {
  EXPECT_THAT(gather(2).unfinished(), HasSubstr("rank 0 waits for a notice"));
}

TEST(IncrementalSchedule, HasStepsAndDependenciesAsAdded) {
  IncrementalSchedule schedule(empty_schedule(4, 0));
  const StepId recv =
      schedule.add(OnlineStep{.kind = StepKind::recv, .peer = 2, .to = Range(Buffer::output, 2)}, 1);
  const StepId copy = schedule.add(
      OnlineStep{.kind = StepKind::copy, .from = Range(Buffer::input, 0), .to = Range(Buffer::output, 0)});
  const StepId join = schedule.add_join(3);
  schedule.order(recv, join);
  schedule.order(copy, join);
  schedule.order(recv, join);  // once is enough
  const Schedule made = schedule.finish();
  made.validate();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[recv].match, 1u);
  EXPECT_EQ(made[copy].from_ranges, 1u);
  EXPECT_EQ(made[join].kind, StepKind::join);
  EXPECT_EQ(made[join].predecessors, 2u);
  EXPECT_EQ(made.rounds(), 4u);
  EXPECT_TRUE(schedule.schedule().successors(recv).empty());
}

}  // namespace
}  // namespace convene::schedule
