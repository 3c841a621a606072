// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"
#include "simulate/engine/simulated_plans_for_test.hpp"

namespace convene::simulate {
namespace {

constexpr double tiny = 1e-11;  // seconds: a few ticks of the simulation's clock

using testing::DoubleNear;
using testing::Each;
using testing::HasSubstr;

class BothModes : public testing::TestWithParam<Contention> {
 protected:
  SimulationOptions mode() const { return {.contention = GetParam()}; }
};
std::string mode_name(const testing::TestParamInfo<Contention>& tested) {
  return tested.param == Contention::equal_share ? "fast" : "exact";
}
INSTANTIATE_TEST_SUITE_P(Simulator, BothModes,
                         testing::Values(Contention::equal_share, Contention::max_min_fair), mode_name);

TEST_P(BothModes, OneMessageTakesLatencyAndBytesOverBandwidth) {
  // 2 × 1 µs of latency, 1000 bytes at 1 GB/s.
  const SimulationResult result = run_simulation(all_to_one(2, {0}, 1), cluster(2), 1000, {}, mode());
  EXPECT_NEAR(result.exits[1], 3e-6, tiny);
  EXPECT_EQ(result.exits[0], 0);  // a small message is sent without waiting for another rank
  EXPECT_EQ(result.messages, 1u);
  EXPECT_EQ(result.bytes, 1000);
}

TEST_P(BothModes, ProcessorsAddTheirTimes) {
  SimulatedPlatform platform = cluster(2);
  platform.cpu = {.send = 5e-7, .recv = 3e-7};
  const SimulationResult result = run_simulation(all_to_one(2, {0}, 1), platform, 1000, {}, mode());
  EXPECT_NEAR(result.exits[0], 5e-7, tiny);
  EXPECT_NEAR(result.exits[1], 5e-7 + 3e-6 + 3e-7, tiny);
  EXPECT_NEAR(result.waiting[0], 0, tiny);
  EXPECT_NEAR(result.waiting[1], 5e-7 + 3e-6, tiny);
}

TEST_P(BothModes, NoiseHoldsUpEveryPieceOfWork) {
  // Noise with probability 1, 1 µs each time: once at the sender, once at the receiver.
  SimulationOptions options = mode();
  options.noise = {.kind = NoiseKind::bernoulli, .mean = 1e-6, .shape = 1};
  const SimulationResult result = run_simulation(all_to_one(2, {0}, 1), cluster(2), 1000, {}, options);
  EXPECT_NEAR(result.exits[0], 1e-6, tiny);
  EXPECT_NEAR(result.exits[1], 1e-6 + 3e-6 + 1e-6, tiny);
  EXPECT_NEAR(result.waiting[1], 4e-6, tiny);
}

TEST_P(BothModes, NoiseOfASeedIsAlwaysTheSame) {
  SimulationOptions options = mode();
  options.noise = {.kind = NoiseKind::pareto, .mean = 1e-6, .shape = 1.5, .seed = 3};
  const auto exits = [&] { return run_simulation(ring(7), cluster(7), 1000, {}, options).exits; };
  const std::vector<double> first = exits();
  EXPECT_EQ(first, exits());
  options.noise.seed = 4;
  EXPECT_NE(first, exits());
}

TEST_P(BothModes, ARankThatBeginsBeforeItArrivesPassesOnWhatIsNotItsOwn) {
  // Rank 1 is 10 µs late. Rank 0's block takes 3 µs to it and 3 µs on to rank 2, by way of rank 1's
  // background.
  const std::vector<double> arrivals{0, 1e-5, 0};
  SimulationOptions options = mode();
  const Plan pass_on = make_plan(3, 3, [](Rank rank, Builder& builder) {
    if (rank == 0) builder.send(1, Range(Buffer::input, 0));
    if (rank == 1) builder.recv(0, Range(Buffer::output, 0));
    if (rank == 1) builder.send(2, Range(Buffer::output, 0));
    if (rank == 2) builder.recv(1, Range(Buffer::output, 0));
    if (rank == 1) builder.send(2, Range(Buffer::input, 0));
    if (rank == 2) builder.recv(1, Range(Buffer::output, 1));
  });
  EXPECT_NEAR(run_simulation(pass_on, cluster(3), 1000, arrivals, options).exits[2], 1e-5 + 4e-6, tiny);
  options.begins = {0, 0, 0};
  const SimulationResult background = run_simulation(pass_on, cluster(3), 1000, arrivals, options);
  EXPECT_NEAR(background.exits[2], 1e-5 + 3e-6, tiny);  // only rank 1's own block is missing
  EXPECT_NEAR(background.exits[1], 1e-5, tiny);
  options.begins = {4e-6, 0, 0};  // rank 0 starts after it has arrived
  EXPECT_NEAR(run_simulation(pass_on, cluster(3), 1000, {0, 0, 0}, options).exits[2], 4e-6 + 6e-6, tiny);
}

TEST_P(BothModes, CombiningCostsWhatThePlatformSays) {
  const Plan plan = make_plan(1, 1, [](Rank, Builder& builder) {
    builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
    builder.combine(Range(Buffer::input, 0), Range(Buffer::output, 0));
  });
  SimulatedPlatform platform = cluster(1);
  platform.cpu = {.copy = 1e-9, .combine = 3e-9};
  EXPECT_NEAR(run_simulation(plan, platform, 1000, {}, mode()).exits[0], 4e-6, tiny);
}

TEST_P(BothModes, TwoMessagesToOneNodeShareItsLink) {
  // Each needs 1 µs alone, both 2 µs together; then the latency.
  const SimulationResult result = run_simulation(all_to_one(3, {0, 1}, 2), cluster(3), 1000, {}, mode());
  EXPECT_NEAR(result.exits[2], 4e-6, tiny);
}

TEST_P(BothModes, AMessageThatComesLaterTakesHalfFromThenOn) {
  // The first is alone for 0.5 µs, then both have half: the first's other 500 bytes take 1 µs, until 1.5 µs;
  // the second then has 500 bytes left, until 2 µs. The latency is 2 µs.
  Plan plan = all_to_one(4, {0, 1}, 2);
  SimulationOptions options = mode();
  options.critical_path = true;
  const SimulationResult result = run_simulation(plan, cluster(4), 1000, {0, 5e-7, 0, 0}, options);
  EXPECT_NEAR(result.exits[2], 4e-6, tiny);
  std::vector<double> landed;
  for (const CriticalStep& step : result.critical_path)
    if (step.kind == StepKind::recv) landed.push_back(step.finished);
  EXPECT_EQ(landed.size(), 1u);
  const SimulationResult first =
      run_simulation(all_to_one(4, {0}, 2), cluster(4), 1000, {0, 5e-7, 0, 0}, mode());
  EXPECT_NEAR(first.exits[2], 3e-6, tiny);
}

TEST_P(BothModes, TheTwoWaysOfALinkDoNotContendUnlessItSaysSo) {
  const Plan exchange = doubling(2);
  SimulatedPlatform platform = cluster(2);
  EXPECT_THAT(run_simulation(exchange, platform, 1000, {}, mode()).exits, Each(DoubleNear(3e-6, tiny)));
  platform.network.node.shared = Shared::both_ways;
  EXPECT_THAT(run_simulation(exchange, platform, 1000, {}, mode()).exits, Each(DoubleNear(4e-6, tiny)));
  platform.network.node.shared = Shared::no;
  EXPECT_THAT(run_simulation(exchange, platform, 1000, {}, mode()).exits, Each(DoubleNear(3e-6, tiny)));
}

TEST_P(BothModes, ARingTakesOneMessageARound) {
  for (const Rank procs : {2u, 3u, 7u, 16u}) {
    const SimulationResult result = run_simulation(ring(procs), cluster(procs), 1000, {}, mode());
    EXPECT_THAT(result.exits, Each(DoubleNear((procs - 1) * 3e-6, procs * tiny)));
    EXPECT_EQ(result.messages, procs * (procs - 1));
  }
}

TEST_P(BothModes, DoublingTakesLogarithmicLatency) {
  // log₂16 times the latency, 15 blocks.
  const SimulationResult result = run_simulation(doubling(16), cluster(16), 1000, {}, mode());
  EXPECT_THAT(result.exits, Each(DoubleNear(4 * 2e-6 + 15e-6, 16 * tiny)));
}

TEST_P(BothModes, MessagesWithinANodeDoNotUseTheNetwork) {
  // Round 0 within the nodes (0.1 µs, 2 × 1000 bytes at 10 GB/s together), round 1 between them, where both
  // ranks of a node send 2000 bytes each over one link.
  const SimulationResult result = run_simulation(doubling(4), cluster(2, 2), 1000, {}, mode());
  EXPECT_THAT(result.exits, Each(DoubleNear(1e-7 + 2e-7 + 2e-6 + 4e-6, 16 * tiny)));
}

TEST_P(BothModes, PlacementDecidesWhoIsNear) {
  // In cyclic mapping ranks 0 and 2 share a node: now round 0 crosses.
  const SimulationResult result = run_simulation(doubling(4), cluster(2, 2), 1000, {}, mode(), "cyclic");
  EXPECT_THAT(result.exits, Each(DoubleNear(2e-6 + 2e-6 + 1e-7 + 4e-7, 16 * tiny)));
}

TEST_P(BothModes, RendezvousWaitsForTheReceiver) {
  SimulatedPlatform platform = cluster(2);
  platform.eager = 999;
  // Request and answer take 2 µs each; the receiver arrives at 10 µs.
  const SimulationResult together = run_simulation(all_to_one(2, {0}, 1), platform, 1000, {}, mode());
  EXPECT_NEAR(together.exits[1], 4e-6 + 3e-6, tiny);
  EXPECT_NEAR(together.exits[0], 4e-6 + 1e-6, tiny);  // complete when it has left
  const SimulationResult late = run_simulation(all_to_one(2, {0}, 1), platform, 1000, {0, 1e-5}, mode());
  EXPECT_NEAR(late.exits[1], 1e-5 + 2e-6 + 3e-6, tiny);
  EXPECT_NEAR(late.exits[0], 1e-5 + 2e-6 + 1e-6, tiny);
  platform.rendezvous_handshake = false;
  const SimulationResult unasked = run_simulation(all_to_one(2, {0}, 1), platform, 1000, {0, 1e-5}, mode());
  EXPECT_NEAR(unasked.exits[1], 1e-5 + 3e-6, tiny);
  EXPECT_NEAR(unasked.exits[0], 1e-5 + 1e-6, tiny);
  platform.eager = 1000;
  const SimulationResult eager = run_simulation(all_to_one(2, {0}, 1), platform, 1000, {0, 1e-5}, mode());
  EXPECT_EQ(eager.exits[0], 0);
  EXPECT_NEAR(eager.exits[1], 1e-5, tiny);  // it was delivered long before
}

TEST_P(BothModes, WhatComesBeforeItsReceiveIsCopiedOnceMore) {
  SimulatedPlatform platform = cluster(2);
  platform.cpu.copy = 1e-9;
  EXPECT_NEAR(run_simulation(all_to_one(2, {0}, 1), platform, 1000, {0, 1e-5}, mode()).exits[1], 1e-5 + 1e-6,
              tiny);
  EXPECT_NEAR(run_simulation(all_to_one(2, {0}, 1), platform, 1000, {}, mode()).exits[1], 3e-6, tiny);
}

TEST_P(BothModes, ScatteredBlocksArePackedAndUnpacked) {
  const Plan plan = make_plan(2, 4, [](Rank rank, Builder& builder) {
    if (rank == 0) builder.send(1, Range(Buffer::output, 0, 2, 2));
    if (rank == 1) builder.recv(0, Range(Buffer::output, 0, 2, 2));
  });
  SimulatedPlatform platform = cluster(2);
  platform.cpu.copy = 1e-9;
  EXPECT_NEAR(run_simulation(plan, platform, 500, {}, mode()).exits[1], 1e-6 + 3e-6 + 1e-6, tiny);
}

TEST_P(BothModes, OnePortSendsOneMessageAfterTheOther) {
  const Plan plan = make_plan(3, 3, [](Rank rank, Builder& builder) {
    if (rank == 0) builder.send(1, Range(Buffer::input, 0));
    if (rank == 0) builder.send(2, Range(Buffer::input, 0));
    if (rank > 0) builder.recv(0, Range(Buffer::output, 0));
  });
  SimulatedPlatform platform = cluster(3);
  const SimulationResult free = run_simulation(plan, platform, 1000, {}, mode());
  EXPECT_NEAR(free.exits[1], 4e-6, tiny);  // both at half the bandwidth
  EXPECT_NEAR(free.exits[2], 4e-6, tiny);
  platform.ports = 1;
  const SimulationResult one = run_simulation(plan, platform, 1000, {}, mode());
  EXPECT_NEAR(one.exits[1], 3e-6, tiny);
  EXPECT_NEAR(one.exits[2], 4e-6, tiny);
  platform.ports = 0;
  platform.gap = 5e-6;
  const SimulationResult gap = run_simulation(plan, platform, 1000, {}, mode());
  EXPECT_NEAR(gap.exits[1], 3e-6, tiny);
  EXPECT_NEAR(gap.exits[2], 5e-6 + 3e-6, tiny);
}

TEST_P(BothModes, MessagesThatWaitAtAPortFollowEachOther) {
  const Plan plan = make_plan(2, 3, [](Rank rank, Builder& builder) {
    for (Place place = 0; place < 3; ++place) {
      if (rank == 0) builder.send(1, Range(Buffer::output, place, place == 0 ? 2 : 1));
      if (rank == 1) builder.recv(0, Range(Buffer::output, place, place == 0 ? 2 : 1));
    }
  });
  SimulatedPlatform platform = cluster(2);
  platform.ports = 1;
  const SimulationResult result = run_simulation(plan, platform, 1000, {}, mode());
  EXPECT_NEAR(result.exits[1], 2e-6 + 4e-6, tiny);
  ASSERT_EQ(result.channels.size(), 2u);
  EXPECT_NEAR(result.channels[0].seconds, 4e-6, tiny);
}

TEST_P(BothModes, RanksOfOneCoreWorkOneAfterTheOther) {
  SimulatedPlatform platform = cluster(2, 1);
  platform.cpu.recv = 1e-6;
  // Ranks 0 and 1 on node 0, 2 and 3 on node 1, two to a core: both messages arrive at 2 µs + 2 × 1000 bytes,
  // and then one receive waits for the other.
  const Plan plan = make_plan(4, 1, [](Rank rank, Builder& builder) {
    if (rank < 2) builder.send(rank + 2, Range(Buffer::input, 0));
    if (rank >= 2) builder.recv(rank - 2, Range(Buffer::output, 0));
  });
  const SimulationResult result = run_simulation(plan, platform, 1000, {}, mode());
  EXPECT_NEAR(std::min(result.exits[2], result.exits[3]), 4e-6 + 1e-6, tiny);
  EXPECT_NEAR(std::max(result.exits[2], result.exits[3]), 4e-6 + 2e-6, tiny);
}

TEST_P(BothModes, ABusyProcessorLooksAtMessagesInTheOrderInWhichTheyLand) {
  // Rank 3 copies for 10 µs. Meanwhile rank 0's message, which leaves its node at 1 µs, arrives at 3 µs; rank
  // 2's, which starts at 1.5 µs but on the same node, at 1.7 µs. Both are answered, after 2 µs of work for
  // them.
  const Plan plan = make_plan(4, 6, [](Rank rank, Builder& builder) {
    if (rank == 3) builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 5));
    for (const Rank from : {0u, 2u}) {
      if (rank == from) builder.send(3, Range(Buffer::input, 0));
      if (rank == from) builder.recv(3, Range(Buffer::output, 4));
      if (rank == 3) builder.recv(from, Range(Buffer::output, from));
      if (rank == 3) builder.send(from, Range(Buffer::output, from));
    }
  });
  SimulatedPlatform platform = cluster(2, 2);
  platform.cpu = {.recv = 2e-6, .copy = 1e-8};
  const SimulationResult result = run_simulation(plan, platform, 1000, {0, 0, 1.5e-6, 0}, mode());
  EXPECT_NEAR(result.exits[2], 12e-6 + 0.2e-6 + 2e-6, tiny);
  EXPECT_NEAR(result.exits[0], 14e-6 + 3e-6 + 2e-6, tiny);
}

TEST_P(BothModes, EmptyMessagesTakeTheLatency) {
  EXPECT_NEAR(run_simulation(all_to_one(2, {0}, 1), cluster(2), 0, {}, mode()).exits[1], 2e-6, tiny);
}

TEST_P(BothModes, SendsDoNotStartBeforeWhatTheyDependOn) {
  // 0 → 1 → 2: the second message carries the data of the first.
  const Plan chain = make_plan(3, 1, [](Rank rank, Builder& builder) {
    if (rank == 1) builder.recv(0, Range(Buffer::output, 0));
    if (rank < 2) builder.send(rank + 1, rank == 0 ? Range(Buffer::input, 0) : Range(Buffer::output, 0));
    if (rank == 2) builder.recv(1, Range(Buffer::output, 0));
  });
  const SimulationResult result = run_simulation(chain, cluster(3), 1000, {7e-6, 0, 0}, mode());
  EXPECT_NEAR(result.exits[1], 7e-6 + 3e-6, tiny);
  EXPECT_NEAR(result.exits[2], 7e-6 + 6e-6, tiny);
}

TEST_P(BothModes, ChannelsSayWhatTheyCarriedAndForHowLong) {
  const SimulationResult result = run_simulation(all_to_one(3, {0, 1}, 2), cluster(3), 1000, {}, mode());
  ASSERT_EQ(result.channels.size(), 3u);  // two outgoing channels, one incoming
  double bytes = 0, seconds = 0;
  for (const ChannelUse& use : result.channels) {
    bytes += use.bytes;
    seconds = std::max(seconds, use.seconds);
  }
  EXPECT_EQ(bytes, 4000);
  EXPECT_NEAR(seconds, 2e-6, tiny);
}

TEST_P(BothModes, TheCriticalPathLeadsFromAnArrivalToTheEnd) {
  SimulationOptions options = mode();
  options.critical_path = true;
  const SimulationResult result = run_simulation(ring(5), cluster(5), 1000, {0, 0, 2e-5, 0, 0}, options);
  ASSERT_FALSE(result.critical_path.empty());
  EXPECT_EQ(result.critical_path.front().rank, 2u);  // the late rank
  EXPECT_NEAR(result.critical_path.front().ready, 2e-5, tiny);
  EXPECT_EQ(result.critical_path.back().finished, result.end);
  for (std::size_t i = 1; i < result.critical_path.size(); ++i)
    EXPECT_GE(result.critical_path[i].finished, result.critical_path[i - 1].ready);
}

TEST_P(BothModes, RanksThatWaitForEachOtherAreAnError) {
  const Plan plan = make_plan(2, 2, [](Rank rank, Builder& builder) {
    builder.recv(1 - rank, Range(Buffer::output, 0));
    builder.send(1 - rank, Range(Buffer::output, 0));
  });
  try {
    run_simulation(plan, cluster(2), 8, {}, mode());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("4 of 4 steps wait"));
  }
}

TEST(Simulator, EndsWhenItIsAskedTo) {
  std::stop_source workload;
  const SimulationOptions options{.stop = workload.get_token()};
  EXPECT_GT(run_simulation(ring(64), cluster(64), 8, {}, options).end, 0);
  workload.request_stop();
  EXPECT_THROW(run_simulation(ring(64), cluster(64), 8, {}, options), Interrupted);
}

TEST(Simulator, RefusesWhatDoesNotFit) {
  EXPECT_THROW(run_simulation(ring(4), cluster(4), 8, {0, 0, 0}), Error);
  EXPECT_THROW(run_simulation(ring(4), cluster(4), 8, {0, 0, -1, 0}), Error);
}

TEST(Simulator, FairnessGivesAwayWhatAMessageCannotUse) {
  // 0 and 1 send to 2; 1 also sends to 3. Rank 1's outgoing channel has two messages, rank 2's incoming one
  // has two: all four get half in both modes. With a third message into rank 2 (from 4), those into 2 get a
  // third; then, in max-min fairness, 1 → 3 gets two thirds.
  const Plan plan = make_plan(5, 5, [](Rank rank, Builder& builder) {
    for (const Rank from : {0u, 1u, 4u}) {
      if (rank == from) builder.send(2, Range(Buffer::input, 0));
      if (rank == 2) builder.recv(from, Range(Buffer::output, from));
    }
    if (rank == 1) builder.send(3, Range(Buffer::input, 0));
    if (rank == 3) builder.recv(1, Range(Buffer::output, 1));
  });
  const double shared = run_simulation(plan, cluster(5), 1000, {}, fast).exits[3];
  const double fair = run_simulation(plan, cluster(5), 1000, {}, exact).exits[3];
  EXPECT_NEAR(shared, 2e-6 + 2e-6, tiny);
  EXPECT_NEAR(fair, 2e-6 + 1.5e-6, tiny);
}

TEST(Simulator, ASchedulesRelabelledPlaysAsThePlan) {
  for (const Contention mode : {Contention::equal_share, Contention::max_min_fair}) {
    for (const Rank procs : {2u, 8u, 16u}) {
      for (const auto& [plan, how] : {std::pair{ring(procs), Relabelling::rotation},
                                      std::pair{doubling(procs), Relabelling::exchange}}) {
        SimulatedPlatform platform = cluster(4, 4);
        platform.cpu = {.send = 3e-7, .recv = 2e-7, .copy = 1e-10};
        platform.eager = 3000;
        Workload one = Workload::relabelled(plan[0], how);
        one.set_bytes(1000);
        std::vector<double> arrivals(procs, 0);
        arrivals[procs / 2] = 1e-6;
        const SimulationResult whole = run_simulation(plan, platform, 1000, arrivals, {.contention = mode});
        const SimulationResult relabelled = convene::simulate::run_simulation(
            one, platform, seat(platform, "sequential", procs), arrivals, {.contention = mode});
        EXPECT_EQ(whole.exits, relabelled.exits);
        EXPECT_EQ(whole.messages, relabelled.messages);
      }
    }
  }
}

TEST(Simulator, WithoutAnotherEndASchedulesIsNotRelabelled) {
  const Plan plan = all_to_one(3, {0}, 1);
  EXPECT_THROW(Workload::relabelled(plan[0], Relabelling::rotation), Error);
}

/// Rank 2 forwards to rank 3 the messages of ranks 0 and 1.
Plan relay() {
  return make_plan(4, 4, [](Rank rank, Builder& builder) {
    for (const Rank from : {0u, 1u}) {
      if (rank == from) builder.send(2, Range(Buffer::input, 0));
      if (rank == 2) builder.recv(from, Range(Buffer::output, from));
      if (rank == 2) builder.send(3, Range(Buffer::output, from));
      if (rank == 3) builder.recv(2, Range(Buffer::output, from));
    }
  });
}

TEST_P(BothModes, AnOrderWaitsForOneMessageWhereAnotherHasCome) {
  // Messages take 3 µs each, and rank 0 is 20 µs late. Without an order rank 1's data is at rank 3 after 6
  // µs, and rank 0's after 26; with an order that waits for rank 0 first both leave at 23 µs, one after the
  // other.
  const Plan plan = relay();
  const std::vector<Order> orders = orders_of(plan);
  SimulationOptions options = mode();
  options.critical_path = true;
  const SimulationResult any = run_simulation(plan, cluster(4), 1000, {2e-5, 0, 0, 0}, options);
  EXPECT_NEAR(any.exits[3], 2.6e-5, tiny);
  EXPECT_NEAR(any.exits[2], 2.3e-5, tiny);
  options.orders = orders;
  const SimulationResult ordered = run_simulation(plan, cluster(4), 1000, {2e-5, 0, 0, 0}, options);
  EXPECT_NEAR(ordered.exits[3], 2.7e-5, tiny);
  EXPECT_EQ(ordered.critical_path.front().rank, 0u);
  EXPECT_EQ(ordered.critical_path.back().rank, 3u);
  std::vector<Order> some(4);
  some[1] = orders[1];  // the other ranks receive in any order
  options.orders = some;
  EXPECT_NEAR(run_simulation(plan, cluster(4), 1000, {2e-5, 0, 0, 0}, options).exits[3], 2.6e-5, tiny);
}

TEST(Simulator, OrdersMustFitThePlan) {
  const Plan plan = ring(3);
  const std::vector<Order> two(2), three = orders_of(plan);
  EXPECT_THROW(run_simulation(plan, cluster(3), 1, {}, {.orders = two}), Error);
  EXPECT_THROW(run_simulation(plan, cluster(3), 1, {}, {.begins = {0, 0, 0}, .orders = three}), Error);
}

}  // namespace
}  // namespace convene::simulate
