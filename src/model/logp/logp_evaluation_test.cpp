// SPDX-License-Identifier: BSD-3-Clause
// Evaluated plans, compared with closed forms derived on paper, for all P up to 64.
#include "model/logp/logp_evaluation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "model/logp/hockney.hpp"
#include "model/logp/logfp.hpp"
#include "model/logp/loggp.hpp"
#include "model/logp/lognp.hpp"
#include "model/logp/plogp.hpp"
#include "model/platform/model_plans_for_test.hpp"

namespace convene::model {
namespace {

constexpr Rank most = 64;
constexpr double close = 1e-9;  // relative to times of about 1 to 10,000

/// One channel with all parameters; o_s + L + o_r is larger than g, as on most machines.
ModelPlatform platform() {
  ModelPlatform result;
  result.name = "test";
  ModelChannel channel;
  channel.name = "all";
  channel.add(Hockney{.alpha = 5, .beta = 0.25});
  channel.add(LogGP{.L = 40, .send_overhead = 2, .recv_overhead = 1.5, .g = 3, .G = 0.125});
  channel.add(LogfP{.L = 5,
                    .g = 3,
                    .free = 2,
                    .send_overhead = Piecewise({{1, 2}, {4, 0.5}, {5, 0.5}}),
                    .recv_overhead = Piecewise({{1, 1.5}, {4, 0.5}, {5, 0.5}})});
  channel.add(PLogP{.L = 7,
                    .send_overhead = Piecewise::line(1, 0.125),
                    .recv_overhead = Piecewise::line(0.5, 0.125),
                    .gap = Piecewise::line(2, 0.25)});
  channel.add(LogNP{{Piecewise::line(1, 0.5), Piecewise::line(1, 0.5)}});
  result.channels = {channel};
  return result;
}

Mapping on_one_node(Rank procs) {
  return Mapping::sequential(Machine::parse("node:1 core:" + std::to_string(procs)), procs);
}

double makespan(const Plan& plan, const ModelPlatform& machine, const CostModel& model, double bytes) {
  const auto done = evaluate_logp_plan(plan, on_one_node(static_cast<Rank>(plan.size())), machine, model,
                                       MessageSizes::uniform(bytes));
  return *std::max_element(done.begin(), done.end());
}

unsigned ceil_log2(Rank procs) {
  unsigned rounds = 0;
  while ((Rank{1} << rounds) < procs) ++rounds;
  return rounds;
}
bool is_power_of_two(Rank n) { return (n & (n - 1)) == 0; }

/// o_s + (m − 1)G + L + o_r
double loggp_message(const LogGP& p, double bytes) {
  return p.send_overhead + (bytes - 1) * p.G + p.L + p.recv_overhead;
}
/// The least time from one start of a send to the next.
double loggp_interval(const LogGP& p, double bytes) {
  return std::max(p.send_overhead, p.g + (bytes - 1) * p.G);
}

TEST(LogGPEvaluation, RingWhereTheMessageTakesLongerThanTheGap) {
  const ModelPlatform machine = platform();
  for (Rank procs = 2; procs <= most; ++procs)
    EXPECT_NEAR(makespan(ring(procs), machine, loggp_model, 100),
                (procs - 1) * loggp_message(machine.channels[0].get<LogGP>(), 100), close)
        << procs;
}

TEST(LogGPEvaluation, RingWhereTheGapDecides) {
  ModelPlatform machine = platform();
  machine.channels[0].get<LogGP>().g = 90;
  const LogGP& p = machine.channels[0].get<LogGP>();
  for (Rank procs = 2; procs <= most; ++procs)
    EXPECT_NEAR(makespan(ring(procs), machine, loggp_model, 100),
                (procs - 2) * loggp_interval(p, 100) + loggp_message(p, 100), close)
        << procs;
}

TEST(LogGPEvaluation, RecursiveDoubling) {
  const ModelPlatform machine = platform();
  for (Rank procs = 2; procs <= most; procs *= 2) {
    double expected = 0;
    for (Rank blocks = 1; blocks < procs; blocks *= 2)
      expected += loggp_message(machine.channels[0].get<LogGP>(), 10.0 * blocks);
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, loggp_model, 10), expected, close) << procs;
  }
}

/// Ports keep g + (m − 1)G after each message; the latency is long enough for all sends of a round to
/// complete before the first message arrives.
double bruck_by_hand(const LogGP& p, Rank procs, Rank ports, double bytes) {
  double time = 0;
  for (Rank width = 1; width < procs; width *= ports + 1) {
    double start = 0, end = 0;
    for (Rank j = 1; j <= ports && j * width < procs; ++j) {
      const double size = bytes * std::min(width, procs - j * width);
      end = std::max(end, start + loggp_message(p, size));
      start += loggp_interval(p, size);
    }
    time += end;
  }
  return time;
}

bool is_power_of(Rank base, Rank n) {
  while (n % base == 0) n /= base;
  return n == 1;
}

TEST(LogGPEvaluation, BruckWithOneToFourPorts) {
  ModelPlatform machine = platform();
  machine.channels[0].get<LogGP>().L = 1000;
  for (Rank ports = 1; ports <= 4; ++ports)
    for (Rank procs = 2; procs <= most; ++procs) {
      const double evaluated = makespan(bruck(procs, ports), machine, loggp_model, 10);
      const double by_hand = bruck_by_hand(machine.channels[0].get<LogGP>(), procs, ports, 10);
      SCOPED_TRACE(std::to_string(procs) + " processes, " + std::to_string(ports) + " ports");
      // If the last round is not full, a rank may have the data of its sends before the round before it ends.
      if (is_power_of(ports + 1, procs))
        EXPECT_NEAR(evaluated, by_hand, close);
      else
        EXPECT_LE(evaluated, by_hand + close);
    }
}

/// When the last rank of a subtree has the data, if its root has them at `time`.
double binomial_by_hand(const LogGP& p, Rank procs, Rank rank, double time, double block, bool scatter) {
  double end = time, start = time;
  for (Rank child : binomial_children(procs, rank)) {
    const Rank width = child & (~child + 1);
    const double bytes = block * (scatter ? std::min(width, procs - child) : 1);
    end = std::max(end, binomial_by_hand(p, procs, child, start + loggp_message(p, bytes), block, scatter));
    start += loggp_interval(p, bytes);
  }
  return end;
}

TEST(LogGPEvaluation, BinomialTrees) {
  const ModelPlatform machine = platform();
  for (bool scatter : {false, true})
    for (Rank procs = 2; procs <= most; ++procs)
      EXPECT_NEAR(makespan(binomial(procs, scatter), machine, loggp_model, 100),
                  binomial_by_hand(machine.channels[0].get<LogGP>(), procs, 0, 0, 100, scatter), close)
          << procs << (scatter ? " scatter" : " broadcast");
}

TEST(LogGPEvaluation, BinomialBroadcastIsItsHeightTimesAMessage) {  // (4.5) of the τ-Lop thesis
  const ModelPlatform machine = platform();
  for (Rank procs = 2; procs <= most; procs *= 2)
    EXPECT_NEAR(makespan(binomial(procs, false), machine, loggp_model, 100),
                ceil_log2(procs) * loggp_message(machine.channels[0].get<LogGP>(), 100), close);
}

TEST(LogGPEvaluation, LinearScatterAndGather) {
  const ModelPlatform machine = platform();
  const LogGP& p = machine.channels[0].get<LogGP>();
  for (Rank procs = 2; procs <= most; ++procs) {
    const double message = loggp_message(p, 50);
    EXPECT_NEAR(makespan(linear(procs, false), machine, loggp_model, 50),
                (procs - 2) * loggp_interval(p, 50) + message, close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, loggp_model, 50),
                (procs - 2) * std::max(p.recv_overhead, p.g + 49 * p.G) + message, close);
  }
}

TEST(LogGPEvaluation, TheOverheadDecidesWhereItIsLongerThanTheGap) {
  ModelPlatform machine = platform();
  LogGP& p = machine.channels[0].get<LogGP>();
  p.g = 0.5;
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(linear(procs, false), machine, loggp_model, 1),
                (procs - 1) * p.send_overhead + p.L + p.recv_overhead, close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, loggp_model, 1),
                p.send_overhead + p.L + (procs - 1) * p.recv_overhead, close);
  }
}

TEST(LogPEvaluation, SizesDoNotMatter) {
  const ModelPlatform machine = platform();
  const LogGP& p = machine.channels[0].get<LogGP>();
  for (Rank procs = 2; procs <= most; procs *= 2)
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, logp_model, 1 << 20),
                ceil_log2(procs) * (p.send_overhead + p.L + p.recv_overhead), close);
}

TEST(LogfPEvaluation, LinearScatter) {  // section 4.3.2 of the InfiniBand work, for P − 1 messages
  const ModelPlatform machine = platform();
  const LogfP& p = machine.channels[0].get<LogfP>();
  for (Rank procs = 2; procs <= most; ++procs) {
    const Rank n = procs - 1;
    const double o = p.send_overhead(n);
    const double gap = n > p.free ? (n - p.free) * p.g : 0;
    EXPECT_NEAR(makespan(linear(procs, false), machine, logfp_model, 1),
                p.L + o + p.recv_overhead(1) + std::max((n - 1) * o, gap), close)
        << procs;
  }
}

TEST(LogfPEvaluation, OneMessageARound) {
  const ModelPlatform machine = platform();
  const LogfP& p = machine.channels[0].get<LogfP>();
  const double message = p.send_overhead(1) + p.L + p.recv_overhead(1);
  for (Rank procs = 2; procs <= most; ++procs)
    EXPECT_NEAR(makespan(ring(procs), machine, logfp_model, 1), (procs - 1) * message, close);
  for (Rank procs = 2; procs <= most; procs *= 2)
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, logfp_model, 1), ceil_log2(procs) * message,
                close);
}

TEST(LogfPEvaluation, BruckWithTwoPortsSendsBothForFree) {
  const ModelPlatform machine = platform();
  const LogfP& p = machine.channels[0].get<LogfP>();
  // o_s(2) + max{o_s(2) + L, o_s(2) + L} + o_r(2): the second message arrives o_s later, when the first has
  // been received.
  for (Rank procs : {3u, 9u, 27u}) {
    const double rounds = std::round(std::log(procs) / std::log(3));
    EXPECT_NEAR(makespan(bruck(procs, 2), machine, logfp_model, 1),
                rounds * (2 * p.send_overhead(2) + p.L + p.recv_overhead(2)), close);
  }
}

TEST(HockneyEvaluation, ClosedForms) {
  const ModelPlatform machine = platform();
  const auto message = [](double bytes) { return 5 + 0.25 * bytes; };
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, hockney_model, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(linear(procs, false), machine, hockney_model, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, hockney_model, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(pairwise(procs), machine, hockney_model, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(bruck(procs, 1), machine, hockney_model, 8),
                ceil_log2(procs) * 5 + (procs - 1) * 0.25 * 8, close);
    if (!is_power_of_two(procs)) continue;
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, hockney_model, 8),
                ceil_log2(procs) * 5 + (procs - 1) * 0.25 * 8, close);
    EXPECT_NEAR(makespan(binomial(procs, false), machine, hockney_model, 8), ceil_log2(procs) * message(8),
                close);
    EXPECT_NEAR(makespan(binomial(procs, true), machine, hockney_model, 8),
                ceil_log2(procs) * 5 + (procs - 1) * 0.25 * 8, close);
  }
}

TEST(HockneyEvaluation, NeighborExchange) {
  const ModelPlatform machine = platform();
  for (Rank procs = 4; procs <= most; procs += 2)
    EXPECT_NEAR(makespan(neighbor_exchange(procs), machine, hockney_model, 8),
                (5 + 0.25 * 8) + (procs / 2 - 1) * (5 + 0.25 * 16), close)
        << procs;
}

TEST(PLogPEvaluation, ClosedForms) {
  const ModelPlatform machine = platform();
  const PLogP& p = machine.channels[0].get<PLogP>();
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, plogp_model, 8), (procs - 1) * (p.L + p.gap(8)), close);
    EXPECT_NEAR(makespan(linear(procs, false), machine, plogp_model, 8), p.L + (procs - 1) * p.gap(8), close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, plogp_model, 8), p.L + (procs - 1) * p.gap(8), close);
    if (is_power_of_two(procs)) {
      double expected = 0;
      for (Rank blocks = 1; blocks < procs; blocks *= 2) expected += p.L + p.gap(8.0 * blocks);
      EXPECT_NEAR(makespan(recursive_doubling(procs), machine, plogp_model, 8), expected, close);
    }
  }
}

TEST(LogNPEvaluation, OneChannel) {
  const ModelPlatform machine = platform();
  const auto two_transfers = [](double bytes) { return 2 * (1 + 0.5 * bytes); };
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, lognp_model, 8), (procs - 1) * two_transfers(8), close);
    if (!is_power_of_two(procs)) continue;
    double expected = 0;
    for (Rank blocks = 1; blocks < procs; blocks *= 2) expected += two_transfers(8.0 * blocks);
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, lognp_model, 8), expected, close);
  }
}

/// Memory within a node, a slower network between nodes.
ModelPlatform two_channels() {
  ModelPlatform result = ModelPlatform::two_channels();
  result.channels[0].add(LogGP{.L = 2, .send_overhead = 0.5, .recv_overhead = 0.5, .g = 0.25, .G = 0.125});
  result.channels[1].add(LogGP{.L = 30, .send_overhead = 3, .recv_overhead = 3, .g = 4, .G = 1});
  result.channels[0].add(LogNP{{Piecewise(2), Piecewise(2)}});
  result.channels[1].add(LogNP{{Piecewise(3), Piecewise(20), Piecewise(3)}});
  return result;
}

class Hierarchy : public testing::TestWithParam<std::pair<Rank, Rank>> {
 protected:
  Rank nodes = GetParam().first, cores = GetParam().second, procs = nodes * cores;
  Mapping mapping = Mapping::sequential(
      Machine::parse("node:" + std::to_string(nodes) + " core:" + std::to_string(cores)), procs);
  ModelPlatform machine = two_channels();
  const LogGP &memory = machine.channels[0].get<LogGP>(), &network = machine.channels[1].get<LogGP>();

  double makespan(const Plan& plan, const CostModel& model, double bytes) const {
    const auto done = evaluate_logp_plan(plan, mapping, machine, model, MessageSizes::uniform(bytes));
    return *std::max_element(done.begin(), done.end());
  }
};

TEST_P(Hierarchy, BinomialBroadcastInLogGPH) {  // (5.4)
  EXPECT_NEAR(makespan(binomial(procs, false), loggp_model, 8),
              ceil_log2(nodes) * loggp_message(network, 8) + ceil_log2(cores) * loggp_message(memory, 8),
              close);
}

TEST_P(Hierarchy, BinomialBroadcastInMLogNP) {  // (5.5)
  EXPECT_NEAR(makespan(binomial(procs, false), lognp_model, 8), ceil_log2(nodes) * 26 + ceil_log2(cores) * 4,
              close);
}

TEST_P(Hierarchy,
       RecursiveDoublingInLogGPH) {  // (5.13) and (5.14), where G belongs to the bytes and −G to a message
  const double m = 8;
  const auto fixed = [](const LogGP& p) { return p.L + p.send_overhead + p.recv_overhead - p.G; };
  EXPECT_NEAR(makespan(recursive_doubling(procs), loggp_model, m),
              ceil_log2(cores) * fixed(memory) + (cores - 1) * m * memory.G +
                  ceil_log2(nodes) * fixed(network) + (nodes - 1) * cores * m * network.G,
              close);
}

TEST_P(Hierarchy, RingInLogGPHIsNoDearerThanTheThesisSays) {  // (5.8) lets all ranks wait for both channels
  EXPECT_LE(makespan(ring(procs), loggp_model, 8),
            (procs - 1) * (loggp_message(network, 8) + loggp_message(memory, 8)) + close);
}

INSTANTIATE_TEST_SUITE_P(Machines, Hierarchy,
                         testing::Values(std::pair(2u, 2u), std::pair(4u, 4u), std::pair(4u, 8u),
                                         std::pair(8u, 2u)));

TEST(LogPEvaluation, RanksAreDoneWhenTheirOwnLastStepIs) {
  const ModelPlatform machine = platform();
  const auto done =
      evaluate_logp_plan(linear(4, false), on_one_node(4), machine, hockney_model, MessageSizes::uniform(8));
  EXPECT_EQ(done, (std::vector<double>{21, 7, 14, 21}));
}

TEST(LogPEvaluation, BlocksOfDifferentSizes) {
  const ModelPlatform machine = platform();
  const auto done = evaluate_logp_plan(ring(3), on_one_node(3), machine, hockney_model,
                                       MessageSizes::by_place({4, 40, 400}));
  // Block 2 goes 2 → 0 → 1; before it, rank 0 has sent block 0, and rank 1 has received it.
  EXPECT_DOUBLE_EQ(done[1], 2 * (5 + 100));
  EXPECT_THROW(
      evaluate_logp_plan(pairwise(3), on_one_node(3), machine, hockney_model, MessageSizes::by_place({1, 2})),
      Error);
}

TEST(LogPEvaluation, SaysWhatIsMissing) {
  ModelPlatform machine;
  machine.name = "test";
  machine.channels.resize(1);
  machine.channels[0].name = "all";
  try {
    evaluate_logp_plan(ring(3), on_one_node(3), machine, logfp_model, MessageSizes::uniform(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "the platform 'test' has no parameters logfp for the channel 'all'; use another model or platform");
  }
  EXPECT_THROW(evaluate_logp_plan(ring(3), on_one_node(4), machine, loggp_model, MessageSizes::uniform(1)),
               Error);
}

}  // namespace
}  // namespace convene::model
