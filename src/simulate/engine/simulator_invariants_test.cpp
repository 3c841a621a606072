// SPDX-License-Identifier: BSD-3-Clause
// Invariants of every simulation, over random platforms, arrivals and messages.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "simulate/engine/simulated_plans_for_test.hpp"
#include "simulate/engine/simulator.hpp"

namespace convene::simulate {
namespace {

constexpr double tiny = 1e-11;  // seconds: a few ticks of the simulation's clock
/// About a microsecond whose multiples can be added exactly: otherwise simultaneous events may occur in
/// another order elsewhere, and a message arrive before or after its receive is posted.
constexpr double tick = 0x1p-20;

struct Case {
  Plan plan;
  SimulatedPlatform platform;
  double bytes;
  std::vector<double> arrivals;
};

Case any_case() {
  const Rank procs = 1u << *rc::gen::inRange(1, 5);
  const std::uint32_t cores = 1u << *rc::gen::inRange(0, 3);
  SimulatedPlatform platform = cluster(std::max(1u, procs / cores), cores);
  platform.cpu.send = *rc::gen::inRange(0, 3) * 1e-7;
  platform.cpu.recv = *rc::gen::inRange(0, 3) * 1e-7;
  platform.cpu.copy = *rc::gen::inRange(0, 2) * 1e-10;
  platform.eager = *rc::gen::element(0.0, 1e18);
  platform.ports = *rc::gen::inRange(0u, 3u);
  platform.network.node.shared = *rc::gen::element(Shared::each_way, Shared::both_ways, Shared::no);
  std::vector<double> arrivals;
  for (Rank rank = 0; rank < procs; ++rank) arrivals.push_back(*rc::gen::inRange(0, 20) * tick);
  return {*rc::gen::arbitrary<bool>() ? ring(procs) : doubling(procs), platform,
          static_cast<double>(*rc::gen::inRange(0, 10000)), arrivals};
}

RC_GTEST_PROP(SimulatorInvariants, NobodyLeavesBeforeHeArrivesOrBeforeTheLastOneHas, ()) {
  const Case c = any_case();
  const double last = *std::max_element(c.arrivals.begin(), c.arrivals.end());
  for (const SimulationOptions& mode : {fast, exact}) {
    const SimulationResult result = run_simulation(c.plan, c.platform, c.bytes, c.arrivals, mode);
    for (const double exit : result.exits)
      RC_ASSERT(exit >= last - tiny);  // every rank needs the block of every other
    RC_ASSERT(result.end == *std::max_element(result.exits.begin(), result.exits.end()));
    for (Rank rank = 0; rank < c.plan.size(); ++rank) {
      RC_ASSERT(result.waiting[rank] >= 0);
      RC_ASSERT(result.waiting[rank] <= result.exits[rank] - c.arrivals[rank] + tiny);
    }
  }
}

RC_GTEST_PROP(SimulatorInvariants, ArrivalsThatAllShiftShiftAllExits, ()) {
  Case c = any_case();
  const double shift = *rc::gen::inRange(1, 1000) * tick;
  for (const SimulationOptions& mode : {fast, exact}) {
    const SimulationResult before = run_simulation(c.plan, c.platform, c.bytes, c.arrivals, mode);
    std::vector<double> later = c.arrivals;
    for (double& arrival : later) arrival += shift;
    const SimulationResult after = run_simulation(c.plan, c.platform, c.bytes, later, mode);
    for (Rank rank = 0; rank < c.plan.size(); ++rank)
      RC_ASSERT(std::abs(after.exits[rank] - before.exits[rank] - shift) < 100 * tiny);
  }
}

// One rank per node, balanced arrivals. (In general more bandwidth can slow a plan: a message that arrives
// earlier may delay another one, as in any system that works in the order of arrival.)
RC_GTEST_PROP(SimulatorInvariants, MoreBandwidthNeverSlowsASimplePlan, ()) {
  const Case c = any_case();
  const auto procs = static_cast<Rank>(c.plan.size());
  std::vector<Rank> senders(procs - 1);
  std::iota(senders.begin(), senders.end(), 1);
  for (const Plan& plan : {ring(procs), doubling(procs), all_to_one(procs, senders, 0)}) {
    SimulatedPlatform platform = cluster(procs);
    platform.cpu = c.platform.cpu;
    platform.eager = c.platform.eager;
    platform.network.node.shared = c.platform.network.node.shared;
    const double before = run_simulation(plan, platform, c.bytes, {}, fast).end;
    platform.network.node.bandwidth *= *rc::gen::inRange(1, 5);
    RC_ASSERT(run_simulation(plan, platform, c.bytes, {}, fast).end <= before + 1000 * tiny);
  }
}

RC_GTEST_PROP(SimulatorInvariants, TheModesAgreeWhereNothingContends, ()) {
  Case c = any_case();
  const auto procs = static_cast<Rank>(c.plan.size());
  SimulatedPlatform platform = cluster(procs);  // one node per rank, one channel per direction
  platform.cpu = c.platform.cpu;
  platform.eager = c.platform.eager;
  const SimulationResult a = run_simulation(ring(procs), platform, c.bytes, {}, fast);
  const SimulationResult b = run_simulation(ring(procs), platform, c.bytes, {}, exact);
  for (Rank rank = 0; rank < procs; ++rank) RC_ASSERT(std::abs(a.exits[rank] - b.exits[rank]) <= 100 * tiny);
}

/// Ranks forward received data to each other at random, in a sequential order of messages. No two messages
/// have the same number of places.
Plan any_messages(Rank procs, std::mt19937& random) {
  const auto below = [&](std::uint32_t end) {
    return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random);
  };
  constexpr std::uint32_t most = 60, places = most + 5;
  struct Message {
    Rank from, to;
    Range workload, target;
  };
  std::vector<Message> messages;
  for (std::uint32_t count = 1, end = 2 + below(most); count < end; ++count)
    messages.push_back({below(procs), below(procs), Range(Buffer::output, below(places - count), count),
                        Range(Buffer::output, below(places - count), count)});
  return make_plan(procs, places, [&](Rank rank, Builder& builder) {
    for (const Message& message : messages) {
      if (message.from == message.to) continue;
      if (message.from == rank) builder.send(message.to, message.workload);
      if (message.to == rank) builder.recv(message.from, message.target);
    }
  });
}

// With 1,000 ports no rank is ever delayed, but nothing is predicted; with noise of 0 seconds no processor is
// reserved. Neither may change the result.
RC_GTEST_PROP(SimulatorInvariants, ForesightChangesNothing, ()) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto procs = *rc::gen::inRange<Rank>(2, 12);
  const auto cores = *rc::gen::element(1u, 2u, 4u);
  SimulatedPlatform platform = cluster(*rc::gen::element((procs + cores - 1) / cores, 2u), cores);
  platform.within[0].shared = *rc::gen::element(Shared::both_ways, Shared::each_way, Shared::no);
  platform.network.node.shared = *rc::gen::element(Shared::both_ways, Shared::each_way, Shared::no);
  if (*rc::gen::arbitrary<bool>()) {
    platform.network.shape = NetworkShape::tree;
    platform.network.leaves = {1, platform.machine.nodes() - 1};
    platform.network.uplink = {.latency = 1e-7, .bandwidth = between(3e8, 3e9)};
    if (platform.network.leaves[1] == 0) platform.network.leaves.pop_back();
  }
  const auto cost = [&] { return *rc::gen::element(0.0, 1e-7, 2e-6) * between(0.5, 1); };
  platform.cpu = {.send = cost(), .recv = cost(), .copy = 1e-10};
  platform.eager = *rc::gen::element(1e18, 1500.0);
  std::vector<double> arrivals(procs);
  const double spread = *rc::gen::element(1e-6, 2e-5);
  for (double& arrival : arrivals) arrival = between(0, spread);
  const Plan plan = any_messages(procs, random);
  // Arbitrary sizes: simultaneous events would have no defined order.
  std::map<std::uint32_t, double> bytes;
  Workload workload = Workload::of(plan);
  workload.set_bytes([&](const Schedule&, std::span<const Range> ranges) {
    return bytes.try_emplace(ranges[0].count(), between(100, 3000)).first->second;
  });
  const Seating seating = seat(platform, "sequential", procs);
  for (SimulationOptions mode : {fast, exact}) {
    platform.ports = 0;
    const SimulationResult with =
        convene::simulate::run_simulation(workload, platform, seating, arrivals, mode);
    mode.noise = {.kind = NoiseKind::exponential, .mean = 0};
    for (const std::uint32_t ports : {0u, 1000u}) {
      platform.ports = ports;
      const SimulationResult without =
          convene::simulate::run_simulation(workload, platform, seating, arrivals, mode);
      RC_ASSERT(with.messages == without.messages);
      RC_ASSERT(with.channels.size() == without.channels.size());
      for (std::size_t i = 0; i < with.channels.size(); ++i) {
        RC_ASSERT(with.channels[i].bytes == without.channels[i].bytes);
        RC_ASSERT(std::abs(with.channels[i].seconds - without.channels[i].seconds) < 1000 * tiny);
      }
      for (Rank rank = 0; rank < procs; ++rank) {
        RC_ASSERT(std::abs(with.exits[rank] - without.exits[rank]) < tiny);
        RC_ASSERT(std::abs(with.waiting[rank] - without.waiting[rank]) < 100 * tiny);
      }
    }
  }
}

// A plan with so many steps that the simulator prefetches, made of independent groups: each ends as it does
// alone, when there are too few steps for that.
TEST(SimulatorInvariants, ManyGroupsAreEachAsOneAlone) {
  constexpr Rank groups = 8, procs = 64;
  const Plan one = ring(procs);
  const Plan all = make_plan(groups * procs, procs, [&](Rank rank, Builder& builder) {
    for (Rank round = 0; round + 1 < procs; ++round) {
      const Rank first = rank / procs * procs, at = rank % procs;
      builder.round(round);
      builder.send(first + (at + 1) % procs, round == 0
                                                 ? Range(Buffer::input, 0)
                                                 : Range(Buffer::output, (at + procs - round) % procs));
      builder.recv(first + (at + procs - 1) % procs, Range(Buffer::output, (at + procs - round - 1) % procs));
    }
  });
  std::mt19937 random(5);
  std::vector<double> arrivals(groups * procs);
  for (double& arrival : arrivals) arrival = std::uniform_real_distribution<double>(0, 2e-5)(random);
  for (const SimulationOptions& mode : {fast, exact})
    for (const double eager : {1e18, 10.0}) {
      SimulatedPlatform large = cluster(groups * procs), small = cluster(procs);
      large.eager = small.eager = eager;
      const std::vector<double> exits = run_simulation(all, large, 1000, arrivals, mode).exits;
      for (Rank first = 0; first < groups * procs; first += procs) {
        const auto begin = arrivals.begin() + first;
        const std::vector<double> alone =
            run_simulation(one, small, 1000, {begin, begin + procs}, mode).exits;
        ASSERT_TRUE(std::ranges::equal(alone, std::span(exits).subspan(first, procs))) << first;
      }
    }
}

// Waiting in order does not delay a rank whose messages arrive in that order.
RC_GTEST_PROP(SimulatorInvariants, ARingIsTheSameInItsOrder, ()) {
  const Case c = any_case();
  const auto procs = static_cast<Rank>(c.plan.size());
  const Plan plan = ring(procs);
  const std::vector<Order> orders = orders_of(plan);
  SimulatedPlatform platform = cluster(procs);
  platform.eager = c.platform.eager;
  for (SimulationOptions mode : {fast, exact}) {
    const SimulationResult any = run_simulation(plan, platform, c.bytes, c.arrivals, mode);
    mode.orders = orders;
    const SimulationResult ordered = run_simulation(plan, platform, c.bytes, c.arrivals, mode);
    RC_ASSERT(ordered.messages == any.messages);
    for (Rank rank = 0; rank < procs; ++rank)
      RC_ASSERT(std::abs(any.exits[rank] - ordered.exits[rank]) < 100 * tiny);
  }
}

RC_GTEST_PROP(SimulatorInvariants, OrdersEndWithAllMessages, ()) {
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  const auto procs = *rc::gen::inRange<Rank>(2, 12);
  const Plan plan = any_messages(procs, random);
  const std::vector<Order> orders = orders_of(plan);
  SimulatedPlatform platform = cluster(procs);
  platform.cpu = {.send = 1e-7, .recv = 2e-7};
  platform.eager = *rc::gen::element(0.0, 1e4, 1e18);
  for (SimulationOptions mode : {fast, exact}) {
    const SimulationResult any = run_simulation(plan, platform, 1000, {}, mode);
    mode.orders = orders;
    mode.critical_path = true;
    const SimulationResult ordered = run_simulation(plan, platform, 1000, {}, mode);
    RC_ASSERT(ordered.messages == any.messages);
    RC_ASSERT(ordered.bytes == any.bytes);
    if (platform.eager < 1e18) continue;  // a send may finish after the next step of its thread
    for (std::size_t i = 1; i < ordered.critical_path.size(); ++i)
      RC_ASSERT(ordered.critical_path[i - 1].finished <= ordered.critical_path[i].finished);
  }
}

RC_GTEST_PROP(SimulatorInvariants, EqualQuestionsHaveEqualAnswers, ()) {
  const Case c = any_case();
  for (const SimulationOptions& mode : {fast, exact})
    RC_ASSERT(run_simulation(c.plan, c.platform, c.bytes, c.arrivals, mode).exits ==
              run_simulation(c.plan, c.platform, c.bytes, c.arrivals, mode).exits);
}

}  // namespace
}  // namespace convene::simulate
