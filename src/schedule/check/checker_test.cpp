// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/check/deadlock.hpp"
#include "schedule/check/hazards.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/testing/mutation.hpp"
#include "schedule/testing/ring_for_test.hpp"

namespace convene::schedule {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Range in(Place place) { return Range(Buffer::input, place); }
constexpr Range out(Place first, std::uint32_t count = 1) { return Range(Buffer::output, first, count); }

/// A plan for two ranks from the steps of each.
template <class... Write>
Plan plan_of(std::uint32_t places, Write... write) {
  Plan plan;
  const auto add = [&](auto& steps) {
    Builder builder;
    builder.begin(sizeof...(write), static_cast<Rank>(plan.size()));
    builder.buffer(Buffer::input, 2);
    builder.buffer(Buffer::output, places);
    steps(builder);
    plan.push_back(builder.finish());
  };
  (add(write), ...);
  return plan;
}

/// Rank r holds blocks 2r and 2r + 1 at first; nothing is wanted.
Contract anything(const Plan& plan) {
  Contract contract;
  for (const Schedule& schedule : plan) {
    RankContract& mine = contract.emplace_back();
    mine.input = {static_cast<Content>(2 * schedule.rank()), static_cast<Content>(2 * schedule.rank() + 1)};
    mine.output.assign(schedule.places(Buffer::output), nothing);
    mine.wanted = mine.output;
  }
  return contract;
}

std::string why(const Plan& plan) { return check(plan, anything(plan)).why; }

TEST(Checker, PassesRings) {
  for (Rank procs = 1; procs <= 40; ++procs)
    for (bool in_place : {false, true})
      EXPECT_EQ(check(ring_plan(procs, in_place), ring_contract(procs, in_place)).why, "") << procs;
}

TEST(Checker, CountsWhatARingSends) {
  const Statistics counts = check(ring_plan(5), ring_contract(5)).statistics;
  EXPECT_EQ(counts.rounds, 4u);
  EXPECT_EQ(counts.messages, 20u);
  EXPECT_EQ(counts.blocks, 20u);
  EXPECT_EQ(counts.most_messages_sent, 4u);
  EXPECT_EQ(counts.most_blocks_sent, 4u);
  EXPECT_EQ(counts.most_messages_received, 4u);
  EXPECT_EQ(counts.most_blocks_received, 4u);
  EXPECT_EQ(counts.scratch, 0u);
  EXPECT_EQ(counts.steps, 45u);
  EXPECT_GT(counts.memory, 45 * sizeof(Step));
}

TEST(Checker, CatchesEveryMutantOfARing) {
  int caught = 0;
  for (Rank procs : {2, 3, 5})
    for (bool in_place : {false, true}) {
      const Contract contract = ring_contract(procs, in_place);
      const Plan plan = ring_plan(procs, in_place);
      Mutants(plan, 1).each([&](const Mutant& mutant) {
        caught += !mutant.equivalent;
        EXPECT_EQ(check(mutant.plan, contract).ok(), mutant.equivalent)
            << mutant.what << " at step " << mutant.step << " of " << procs << " ranks";
      });
    }
  EXPECT_GT(caught, 200);
  RecordProperty("caught", caught);
}

TEST(Checker, NamesAMessageWithoutReceive) {
  const auto send_two = [](Builder& b) { b.send(1, in(0)), b.send(1, in(1)); };
  const auto take_one = [](Builder& b) { b.recv(0, out(0)); };
  EXPECT_THAT(why(plan_of(2, send_two, take_one)),
              AllOf(HasSubstr("rank 0, step 1"), HasSubstr("remains"), HasSubstr("rank 1")));
}

TEST(Checker, NamesAReceiveWithoutMessage) {
  const auto send = [](Builder& b) { b.send(1, in(0)); };
  const auto take_two = [](Builder& b) { b.recv(0, out(0)), b.recv(0, out(1)); };
  EXPECT_THAT(why(plan_of(2, send, take_two)), AllOf(HasSubstr("rank 1, step 1"), HasSubstr("never sent")));
}

TEST(Checker, ComparesSizesOfBothEnds) {
  const auto send = [](Builder& b) { b.send(1, {in(0), in(1)}); };
  const auto take = [](Builder& b) { b.recv(0, out(0)); };
  EXPECT_THAT(why(plan_of(2, send, take)),
              AllOf(HasSubstr("rank 1, step 0"), HasSubstr("takes 1 blocks"), HasSubstr("sends 2")));
}

TEST(Checker, NamesAWrongBlockAndItsWriter) {
  const auto send = [](Builder& b) { b.send(1, in(1)); };
  const auto take = [](Builder& b) { b.recv(0, out(0)); };
  const Plan plan = plan_of(1, send, take);
  Contract contract = anything(plan);
  contract[1].wanted = {0};
  EXPECT_THAT(check(plan, contract).why,
              AllOf(HasSubstr("rank 1: output place 0 should hold block 0 but holds block 1"),
                    HasSubstr("rank 1, step 0")));
}

TEST(Checker, ForbidsASecondDelivery) {
  const auto send = [](Builder& b) { b.send(1, in(0)), b.send(1, in(0)); };
  const auto take = [](Builder& b) { b.recv(0, out(0)), b.recv(0, out(0)); };
  EXPECT_THAT(why(plan_of(1, send, take)),
              AllOf(HasSubstr("rank 1, step 1"), HasSubstr("block 0 is delivered twice to output place 0")));
}

TEST(Checker, ForbidsSendingWhatIsNotThere) {
  const auto send = [](Builder& b) { b.round(3), b.send(1, out(1)); };
  const auto take = [](Builder& b) { b.round(3), b.recv(0, out(0)); };
  EXPECT_THAT(why(plan_of(2, send, take)),
              AllOf(HasSubstr("rank 0, step 0 (round 3"), HasSubstr("output place 1 holds nothing")));
}

TEST(Checker, ForbidsWritingTheInput) {
  const auto send = [](Builder& b) { b.send(1, in(0)); };
  const auto take = [](Builder& b) { b.recv(0, in(0)); };
  EXPECT_THAT(why(plan_of(1, send, take)), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("input")));
}

TEST(Checker, ForbidsOnePlaceTwiceInAReceive) {
  const auto send = [](Builder& b) { b.send(1, {in(0), in(1)}); };
  const auto take = [](Builder& b) { b.recv(0, {out(0), out(0)}); };
  EXPECT_THAT(why(plan_of(1, send, take)), AllOf(HasSubstr("rank 1, step 0"), HasSubstr("twice")));
}

TEST(Checker, ForbidsACopyOntoItsOwnSource) {
  const auto shift = [](Builder& b) {
    b.copy(Range(Buffer::input, 0, 2), out(0, 2));
    b.copy(out(0, 2), out(1, 2));
  };
  EXPECT_THAT(why(plan_of(3, shift)), AllOf(HasSubstr("rank 0, step 1"), HasSubstr("twice")));
}

TEST(Checker, FollowsACircleOfWaiting) {
  // Each of three ranks forwards a block that it has yet to receive.
  const auto forward = [](Rank rank) {
    return [rank](Builder& b) {
      b.round(2);
      b.recv((rank + 2) % 3, out(0));
      b.send((rank + 1) % 3, out(0));
    };
  };
  EXPECT_THAT(
      why(plan_of(1, forward(0), forward(1), forward(2))),
      AllOf(HasSubstr("rank 0, step 0 (round 2, recv message 0 from rank 2"), HasSubstr("waits for rank 2"),
            HasSubstr("waits for rank 1, which never completes rank 1, step 0")));
}

TEST(Checker, FindsAMissingDependency) {
  Plan plan = ring_plan(4);
  Mutation mutation(plan[2]);
  for (Mutation::MutableStep& entry : mutation.steps) entry.after.clear();
  plan[2] = mutation.schedule();
  EXPECT_THAT(find_hazard(plan[2]),
              AllOf(HasSubstr("rank 2, step"), HasSubstr("output place"), HasSubstr("not ordered")));
  EXPECT_NE(check(plan, ring_contract(4)).why, "");
}

TEST(Checker, LooksThroughChainsAndJoins) {
  // Step 0 writes, 1 copies the place, 2 copies that copy, and 3 overwrites the first place: 0 → 1 → 2 → 3
  // connects them all.
  const auto chain = [](Builder& b) {
    b.copy(in(0), out(0));
    b.copy(out(0), out(1));
    b.copy(out(1), out(2));
    b.copy(in(1), out(0));
  };
  Mutation mutation(plan_of(3, chain)[0]);
  mutation.steps[3].after = {2};
  EXPECT_EQ(find_hazard(mutation.schedule()), "");
  mutation.steps[2].after = {0};
  EXPECT_NE(find_hazard(mutation.schedule()), "");
}

TEST(Checker, OrdersMessagesThatMayShareATag) {
  constexpr std::uint32_t messages = match_window + 2;
  const auto send = [](Builder& b) {
    for (std::uint32_t i = 0; i < messages; ++i) b.send(1, in(0));
  };
  const auto take = [](Builder& b) {
    for (std::uint32_t i = 0; i < messages; ++i) b.recv(0, out(i));
  };
  const Plan plan = plan_of(messages, send, take);
  EXPECT_EQ(why(plan), "");
  for (Rank rank : {0u, 1u}) {
    Plan broken = plan;
    Mutation mutation(plan[rank]);
    ASSERT_EQ(mutation.steps[match_window].after.size(), 1u);
    mutation.steps[match_window].after.clear();
    broken[rank] = mutation.schedule();
    EXPECT_THAT(why(broken),
                AllOf(HasSubstr("step 0 "), HasSubstr("step " + std::to_string(match_window) + " "),
                      HasSubstr("same tag")));
  }
}

TEST(Checker, RefusesAPlanThatDoesNotFitItsContract) {
  EXPECT_THAT(check(ring_plan(3), ring_contract(4)).why, HasSubstr("a plan of 3 ranks, but a contract of 4"));
  Contract contract = ring_contract(3);
  contract[1].output.push_back(nothing);
  EXPECT_THAT(check(ring_plan(3), contract).why, HasSubstr("rank 1: the schedule's output has 3 places"));
  Plan plan = ring_plan(3);
  std::swap(plan[0], plan[1]);
  EXPECT_THAT(check(plan, ring_contract(3)).why, HasSubstr("rank 0: its schedule is that of rank 1"));
}

// Sends complete only when their receive is posted. Two ranks that send to each other first are fine while
// sends do not block, and stuck when a send is waited for before the receive is issued.
TEST(Deadlock, SimulatesSendsAsRendezvous) {
  const auto swap = [](Rank peer) {
    return [peer](Builder& b) { b.send(peer, in(0)), b.recv(peer, out(0)); };
  };
  const Plan plan = plan_of(1, swap(1), swap(0));
  const MessageMatching links = link(plan);
  const Order patient{{Action::issue, 0}, {Action::issue, 1}, {Action::wait, 1}, {Action::wait_all, 0}};
  const Order hasty{{Action::issue, 0}, {Action::wait, 0}, {Action::issue, 1}, {Action::wait, 1}};
  EXPECT_EQ(simulate_compiled(plan, links, {patient, patient}, {}), "");
  EXPECT_EQ(simulate_compiled(plan, links, {hasty, patient}, {}), "");
  EXPECT_THAT(
      simulate_compiled(plan, links, {hasty, hasty}, {}),
      AllOf(HasSubstr("rank 0, step 0"), HasSubstr("never completes"), HasSubstr("rank 1 waits for")));
}

TEST(Deadlock, ChecksTheOrderItself) {
  const Plan plan = ring_plan(3);
  const MessageMatching links = link(plan);
  std::vector<Order> orders;
  for (const Schedule& schedule : plan) orders.push_back(compile_order(schedule));
  ASSERT_EQ(simulate_compiled(plan, links, orders, {}), "");
  const auto with_first = [&](Order order) {
    std::vector<Order> changed = orders;
    changed[0] = std::move(order);
    return simulate_compiled(plan, links, changed, {});
  };
  EXPECT_THAT(with_first({{Action::issue, 1}}), HasSubstr("before what it depends on"));
  EXPECT_THAT(with_first({{Action::issue, 0}, {Action::issue, 0}}), HasSubstr("second time"));
  EXPECT_THAT(with_first({{Action::wait, 2}}), HasSubstr("before it is issued"));
  EXPECT_THAT(with_first({{Action::issue, 0}, {Action::issue, 1}}), HasSubstr("not complete at the end"));
  EXPECT_THAT(simulate_compiled(plan, links, orders, {.receives = 1, .sends = 64}),
              HasSubstr("exceeds the limit"));
}

TEST(Deadlock, KeepsToTheLimits) {
  for (const Limits limits : {Limits{1, 1}, Limits{2, 1}, Limits{1, 2}, Limits{16, 64}})
    EXPECT_EQ(check(ring_plan(6), ring_contract(6), limits).why, "")
        << limits.receives << ", " << limits.sends;
  EXPECT_THAT(check(ring_plan(6), ring_contract(6), {0, 0}).why, HasSubstr("limits"));
}

// Rank 0 sends first what rank 1 receives last: with one receive and one send at a time both deadlock.
TEST(Deadlock, FindsADeadlockThatOnlyTheLimitsMake) {
  const auto up = [](Builder& b) { b.send(1, in(0)), b.send(2, in(1)); };
  const auto middle = [](Builder& b) { b.recv(2, out(0)), b.recv(0, out(1)); };
  const auto down = [](Builder& b) { b.recv(0, out(0)), b.send(1, out(0)); };
  const Plan plan = plan_of(2, up, middle, down);
  EXPECT_EQ(check(plan, anything(plan), {3, 3}).why, "");
  const std::string stuck = simulate_dynamic(plan, link(plan), {1, 1}, Timing::oldest_first);
  EXPECT_THAT(stuck, AllOf(HasSubstr("rank 0, step 0"), HasSubstr("rank 1, step 1"), HasSubstr("never")));
}

constexpr Range shared(Place first, std::uint32_t count = 1) { return Range(Buffer::shared, first, count); }

/// Rank 0 writes a block where rank 1 reads it, and then another one.
Plan passing_on(bool tells, bool waits, Place about = 0) {
  return plan_of(
      2,
      [=](Builder& b) {
        b.share(2);
        b.copy(in(0), shared(0));
        if (tells) b.send(1, shared(0));
        if (waits) b.recv(1, shared(about));
        b.copy(in(1), shared(0));
      },
      [=](Builder& b) {
        b.share(2);
        if (tells) b.recv(0, shared(0));
        b.copy(shared(0), out(0));
        if (waits) b.send(0, shared(0));
      });
}

TEST(Checker, SignalsPassSharedPlacesOn) {
  const Verdict verdict = check(passing_on(true, true), anything(passing_on(true, true)));
  EXPECT_EQ(verdict.why, "");
  EXPECT_EQ(verdict.statistics.messages, 0u);
  EXPECT_EQ(verdict.statistics.signals, 2u);
  EXPECT_EQ(verdict.statistics.scratch, 0u);
}

TEST(Checker, FindsAReadThatNoSignalOrders) {
  EXPECT_THAT(why(passing_on(true, false)),
              AllOf(HasSubstr("copy shared 0 to output 0"), HasSubstr("copy input 1 to shared 0"),
                    HasSubstr("both access shared place 0, one as a write, but no signal orders them")));
}

TEST(Checker, FindsAWriteThatNoSignalOrders) { EXPECT_NE(why(passing_on(false, true)), ""); }

TEST(Checker, FindsASignalAboutAnotherPlace) {
  EXPECT_THAT(why(passing_on(true, true, 1)), HasSubstr("which has other places"));
}

TEST(Checker, AMessageOrdersNothingInSharedMemory) {
  const Plan plan = plan_of(
      2,
      [](Builder& b) {
        b.share(1);
        b.copy(in(0), shared(0));
        b.join({shared(0), in(1)});
        b.send(1, in(1));
      },
      [](Builder& b) {
        b.share(1);
        b.recv(0, out(1));
        b.join({out(1), shared(0)});
        b.copy(shared(0), out(0));
      });
  EXPECT_NE(why(plan), "");
}

TEST(Checker, FindsSignalsInNoOrder) {
  Plan plan = plan_of(
      2,
      [](Builder& b) {
        b.share(2);
        b.send(1, shared(0));
        b.send(1, shared(1));
      },
      [](Builder& b) {
        b.share(2);
        b.recv(0, shared(0));
        b.recv(0, shared(1));
      });
  EXPECT_EQ(why(plan), "");
  Mutation mutation(plan[0]);
  mutation.drop_dependency(0, 1);
  plan[0] = mutation.schedule();
  EXPECT_THAT(why(plan), HasSubstr("signals to one rank, but not ordered"));
}

/// Rank 1 awaits a signal that rank 0 gives when it has a message of a later round.
TEST(Checker, RoundsHoldNothingBackWhereMemoryIsShared) {
  const Plan plan = plan_of(
      1,
      [](Builder& b) {
        b.sends_empty_messages();
        b.share(1);
        b.round(1);
        b.recv(1, out(0));
        b.join({out(0), shared(0)});
        b.send(1, shared(0));
      },
      [](Builder& b) {
        b.sends_empty_messages();
        b.share(1);
        b.round(1);
        b.send(0, in(0));
        b.recv(0, shared(0));
      });
  EXPECT_EQ(why(plan), "");
}

TEST(Checker, FindsABarrierWhoseRoundsDiffer) {
  const Plan plan = plan_of(
      1, [](Builder& b) { b.sends_empty_messages(), b.send(1, in(0)); },
      [](Builder& b) { b.sends_empty_messages(), b.round(1), b.recv(0, out(0)); });
  EXPECT_THAT(why(plan), AllOf(HasSubstr("has round 1"), HasSubstr("has round 0")));
}

TEST(Deadlock, BarriersGoRoundByRoundWithinAnyLimits) {
  // The message of the later round precedes.
  const auto swap = [](Rank peer) {
    return [peer](Builder& b) {
      b.sends_empty_messages();
      for (const Place round : {1u, 0u}) b.round(round), b.send(peer, in(round)), b.recv(peer, out(round));
    };
  };
  const Plan plan = plan_of(2, swap(1), swap(0));
  for (const Limits limits : {Limits{1, 1}, Limits{2, 1}, Limits{16, 64}}) {
    EXPECT_EQ(check(plan, anything(plan), limits).why, "") << limits.receives << ", " << limits.sends;
    const Order order = compile_order(plan[0], limits);
    EXPECT_EQ(plan[0][order.front().step()].round, 0u);
    EXPECT_EQ(plan[0][order.at(2).step()].round, 0u);
  }
}

TEST(Checker, FindsRanksThatShareDifferently) {
  const Plan plan = plan_of(
      2, [](Builder& b) { b.share(2); }, [](Builder& b) { b.share(3); });
  EXPECT_EQ(why(plan), "rank 1: shares 3 places with rank 0, which has 2");
}

}  // namespace
}  // namespace convene::schedule
