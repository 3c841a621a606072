// SPDX-License-Identifier: BSD-3-Clause
// Plans are played and compared with closed forms that were derived on paper, for all P up to 64.
#include "model/logp/logp_play.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "model/logp/model_plans_for_test.hpp"

namespace convene::model {
namespace {

constexpr Rank most = 64;
constexpr double close = 1e-9;  // of times of about 1 to 10,000

/// One channel with everything; o_s + L + o_r is larger than g, as on most machines.
Platform platform() {
  Platform result;
  result.name = "test";
  Channel channel;
  channel.name = "all";
  channel.hockney = Hockney{.alpha = 5, .beta = 0.25};
  channel.loggp =
      LogGP{.L = 40, .send_overhead = 2, .recv_overhead = 1.5, .g = 3, .G = 0.125, .synchronous_from = 1e9};
  channel.logfp = LogfP{.L = 5,
                        .g = 3,
                        .free = 2,
                        .send_overhead = Piecewise({{1, 2}, {4, 0.5}, {5, 0.5}}),
                        .recv_overhead = Piecewise({{1, 1.5}, {4, 0.5}, {5, 0.5}})};
  channel.plogp = PLogP{.L = 7,
                        .send_overhead = Piecewise::line(1, 0.125),
                        .recv_overhead = Piecewise::line(0.5, 0.125),
                        .gap = Piecewise::line(2, 0.25)};
  channel.lognp = LogNP{{Piecewise::line(1, 0.5), Piecewise::line(1, 0.5)}};
  result.channels = {channel};
  return result;
}

Mapping on_one_node(Rank procs) {
  return Mapping::sequential(Machine::parse("node:1 core:" + std::to_string(procs)), procs);
}

double makespan(const Plan& plan, const Platform& machine, Model model, double bytes) {
  const auto done =
      play(plan, on_one_node(static_cast<Rank>(plan.size())), machine, model, MessageSizes::uniform(bytes));
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

TEST(LogGPPlay, RingWhereTheMessageTakesLongerThanTheGap) {
  const Platform machine = platform();
  for (Rank procs = 2; procs <= most; ++procs)
    EXPECT_NEAR(makespan(ring(procs), machine, Model::loggp, 100),
                (procs - 1) * loggp_message(*machine.channels[0].loggp, 100), close)
        << procs;
}

TEST(LogGPPlay, RingWhereTheGapDecides) {
  Platform machine = platform();
  machine.channels[0].loggp->g = 90;
  const LogGP& p = *machine.channels[0].loggp;
  for (Rank procs = 2; procs <= most; ++procs)
    EXPECT_NEAR(makespan(ring(procs), machine, Model::loggp, 100),
                (procs - 2) * loggp_interval(p, 100) + loggp_message(p, 100), close)
        << procs;
}

TEST(LogGPPlay, RecursiveDoubling) {
  const Platform machine = platform();
  for (Rank procs = 2; procs <= most; procs *= 2) {
    double expected = 0;
    for (Rank blocks = 1; blocks < procs; blocks *= 2)
      expected += loggp_message(*machine.channels[0].loggp, 10.0 * blocks);
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, Model::loggp, 10), expected, close) << procs;
  }
}

/// Ports keep g + (m − 1)G after each message; the latency is long enough for all sends of a round to be out before
/// the first message comes.
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

TEST(LogGPPlay, BruckWithOneToFourPorts) {
  Platform machine = platform();
  machine.channels[0].loggp->L = 1000;
  for (Rank ports = 1; ports <= 4; ++ports)
    for (Rank procs = 2; procs <= most; ++procs) {
      const double played = makespan(bruck(procs, ports), machine, Model::loggp, 10);
      const double by_hand = bruck_by_hand(*machine.channels[0].loggp, procs, ports, 10);
      SCOPED_TRACE(std::to_string(procs) + " processes, " + std::to_string(ports) + " ports");
      // Where the last round is not full, a rank may have what it sends there before the round before it ends.
      if (is_power_of(ports + 1, procs))
        EXPECT_NEAR(played, by_hand, close);
      else
        EXPECT_LE(played, by_hand + close);
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

TEST(LogGPPlay, BinomialTrees) {
  const Platform machine = platform();
  for (bool scatter : {false, true})
    for (Rank procs = 2; procs <= most; ++procs)
      EXPECT_NEAR(makespan(binomial(procs, scatter), machine, Model::loggp, 100),
                  binomial_by_hand(*machine.channels[0].loggp, procs, 0, 0, 100, scatter), close)
          << procs << (scatter ? " scatter" : " broadcast");
}

TEST(LogGPPlay, BinomialBroadcastIsItsHeightTimesAMessage) {  // (4.5) of the τ-Lop thesis
  const Platform machine = platform();
  for (Rank procs = 2; procs <= most; procs *= 2)
    EXPECT_NEAR(makespan(binomial(procs, false), machine, Model::loggp, 100),
                ceil_log2(procs) * loggp_message(*machine.channels[0].loggp, 100), close);
}

TEST(LogGPPlay, LinearScatterAndGather) {
  const Platform machine = platform();
  const LogGP& p = *machine.channels[0].loggp;
  for (Rank procs = 2; procs <= most; ++procs) {
    const double message = loggp_message(p, 50);
    EXPECT_NEAR(makespan(linear(procs, false), machine, Model::loggp, 50),
                (procs - 2) * loggp_interval(p, 50) + message, close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, Model::loggp, 50),
                (procs - 2) * std::max(p.recv_overhead, p.g + 49 * p.G) + message, close);
  }
}

TEST(LogGPPlay, TheOverheadDecidesWhereItIsLongerThanTheGap) {
  Platform machine = platform();
  LogGP& p = *machine.channels[0].loggp;
  p.g = 0.5;
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(linear(procs, false), machine, Model::loggp, 1),
                (procs - 1) * p.send_overhead + p.L + p.recv_overhead, close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, Model::loggp, 1),
                p.send_overhead + p.L + (procs - 1) * p.recv_overhead, close);
  }
}

TEST(LogPPlay, SizesDoNotMatter) {
  const Platform machine = platform();
  const LogGP& p = *machine.channels[0].loggp;
  for (Rank procs = 2; procs <= most; procs *= 2)
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, Model::logp, 1 << 20),
                ceil_log2(procs) * (p.send_overhead + p.L + p.recv_overhead), close);
}

TEST(LogGPSPlay, FromTheThresholdOnQuestionAndAnswerComeFirst) {
  Platform machine = platform();
  LogGP& p = *machine.channels[0].loggp;
  p.synchronous_from = 100;
  const double ask = p.send_overhead + p.L + p.recv_overhead;
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, Model::loggps, 99), (procs - 1) * loggp_message(p, 99), close);
    EXPECT_NEAR(makespan(ring(procs), machine, Model::loggps, 100),
                (procs - 1) * (2 * ask + loggp_message(p, 100)), close);
  }
  EXPECT_NEAR(makespan(binomial(2, false), machine, Model::loggps, 100), 2 * ask + loggp_message(p, 100),
              close);
}

TEST(LogGPSPlay, ALateReceiverHoldsTheSenderUp) {
  Platform machine = platform();
  LogGP& p = *machine.channels[0].loggp;
  p.synchronous_from = 100;
  machine.copy = {{1, Piecewise(1000)}};
  Plan plan;
  Builder builder;
  for (Rank rank = 0; rank < 2; ++rank) {
    builder.begin(2, rank);
    builder.buffer(Buffer::input, 1);
    builder.buffer(Buffer::output, 1);
    if (rank == 1) builder.copy(Range(Buffer::input, 0), Range(Buffer::output, 0));
    rank == 0 ? builder.send(1, Range(Buffer::output, 0)) : builder.recv(0, Range(Buffer::output, 0));
    plan.push_back(builder.finish());
  }
  // The question lies there when the copy ends: its overhead, the answer, the data.
  const double answer = p.send_overhead + p.L + p.recv_overhead;
  EXPECT_NEAR(makespan(plan, machine, Model::loggps, 100),
              1000 + p.recv_overhead + answer + loggp_message(p, 100), close);
  // An eager message lies there itself.
  EXPECT_NEAR(makespan(plan, machine, Model::loggps, 99), 1000 + p.recv_overhead, close);
}

TEST(LogfPPlay, LinearScatter) {  // section 4.3.2 of the InfiniBand work, for P − 1 messages
  const Platform machine = platform();
  const LogfP& p = *machine.channels[0].logfp;
  for (Rank procs = 2; procs <= most; ++procs) {
    const Rank n = procs - 1;
    const double o = p.send_overhead(n);
    const double gap = n > p.free ? (n - p.free) * p.g : 0;
    EXPECT_NEAR(makespan(linear(procs, false), machine, Model::logfp, 1),
                p.L + o + p.recv_overhead(1) + std::max((n - 1) * o, gap), close)
        << procs;
  }
}

TEST(LogfPPlay, OneMessageARound) {
  const Platform machine = platform();
  const LogfP& p = *machine.channels[0].logfp;
  const double message = p.send_overhead(1) + p.L + p.recv_overhead(1);
  for (Rank procs = 2; procs <= most; ++procs)
    EXPECT_NEAR(makespan(ring(procs), machine, Model::logfp, 1), (procs - 1) * message, close);
  for (Rank procs = 2; procs <= most; procs *= 2)
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, Model::logfp, 1), ceil_log2(procs) * message,
                close);
}

TEST(LogfPPlay, BruckWithTwoPortsSendsBothForFree) {
  const Platform machine = platform();
  const LogfP& p = *machine.channels[0].logfp;
  // o_s(2) + max{o_s(2) + L, o_s(2) + L} + o_r(2): the second message comes o_s later, the first is received by then.
  for (Rank procs : {3u, 9u, 27u}) {
    const double rounds = std::round(std::log(procs) / std::log(3));
    EXPECT_NEAR(makespan(bruck(procs, 2), machine, Model::logfp, 1),
                rounds * (2 * p.send_overhead(2) + p.L + p.recv_overhead(2)), close);
  }
}

TEST(HockneyPlay, ClosedForms) {
  const Platform machine = platform();
  const auto message = [](double bytes) { return 5 + 0.25 * bytes; };
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, Model::hockney, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(linear(procs, false), machine, Model::hockney, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, Model::hockney, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(pairwise(procs), machine, Model::hockney, 8), (procs - 1) * message(8), close);
    EXPECT_NEAR(makespan(bruck(procs, 1), machine, Model::hockney, 8),
                ceil_log2(procs) * 5 + (procs - 1) * 0.25 * 8, close);
    if (!is_power_of_two(procs)) continue;
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, Model::hockney, 8),
                ceil_log2(procs) * 5 + (procs - 1) * 0.25 * 8, close);
    EXPECT_NEAR(makespan(binomial(procs, false), machine, Model::hockney, 8), ceil_log2(procs) * message(8),
                close);
    EXPECT_NEAR(makespan(binomial(procs, true), machine, Model::hockney, 8),
                ceil_log2(procs) * 5 + (procs - 1) * 0.25 * 8, close);
  }
}

TEST(HockneyPlay, NeighborExchange) {
  const Platform machine = platform();
  for (Rank procs = 4; procs <= most; procs += 2)
    EXPECT_NEAR(makespan(neighbor_exchange(procs), machine, Model::hockney, 8),
                (5 + 0.25 * 8) + (procs / 2 - 1) * (5 + 0.25 * 16), close)
        << procs;
}

TEST(PLogPPlay, ClosedForms) {
  const Platform machine = platform();
  const PLogP& p = *machine.channels[0].plogp;
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, Model::plogp, 8), (procs - 1) * (p.L + p.gap(8)), close);
    EXPECT_NEAR(makespan(linear(procs, false), machine, Model::plogp, 8), p.L + (procs - 1) * p.gap(8),
                close);
    EXPECT_NEAR(makespan(linear(procs, true), machine, Model::plogp, 8), p.L + (procs - 1) * p.gap(8), close);
    if (is_power_of_two(procs)) {
      double expected = 0;
      for (Rank blocks = 1; blocks < procs; blocks *= 2) expected += p.L + p.gap(8.0 * blocks);
      EXPECT_NEAR(makespan(recursive_doubling(procs), machine, Model::plogp, 8), expected, close);
    }
  }
}

TEST(LogNPPlay, OneChannel) {
  const Platform machine = platform();
  const auto two_transfers = [](double bytes) { return 2 * (1 + 0.5 * bytes); };
  for (Rank procs = 2; procs <= most; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, Model::lognp, 8), (procs - 1) * two_transfers(8), close);
    if (!is_power_of_two(procs)) continue;
    double expected = 0;
    for (Rank blocks = 1; blocks < procs; blocks *= 2) expected += two_transfers(8.0 * blocks);
    EXPECT_NEAR(makespan(recursive_doubling(procs), machine, Model::lognp, 8), expected, close);
  }
}

/// Memory within a node, a slower network between nodes.
Platform two_channels() {
  Platform result = Platform::two_channels();
  result.channels[0].loggp = LogGP{.L = 2, .send_overhead = 0.5, .recv_overhead = 0.5, .g = 0.25, .G = 0.125};
  result.channels[1].loggp = LogGP{.L = 30, .send_overhead = 3, .recv_overhead = 3, .g = 4, .G = 1};
  result.channels[0].lognp = LogNP{{Piecewise(2), Piecewise(2)}};
  result.channels[1].lognp = LogNP{{Piecewise(3), Piecewise(20), Piecewise(3)}};
  return result;
}

class Hierarchy : public testing::TestWithParam<std::pair<Rank, Rank>> {
 protected:
  Rank nodes = GetParam().first, cores = GetParam().second, procs = nodes * cores;
  Mapping mapping = Mapping::sequential(
      Machine::parse("node:" + std::to_string(nodes) + " core:" + std::to_string(cores)), procs);
  Platform machine = two_channels();
  const LogGP &memory = *machine.channels[0].loggp, &network = *machine.channels[1].loggp;

  double makespan(const Plan& plan, Model model, double bytes) const {
    const auto done = play(plan, mapping, machine, model, MessageSizes::uniform(bytes));
    return *std::max_element(done.begin(), done.end());
  }
};

TEST_P(Hierarchy, BinomialBroadcastInLogGPH) {  // (5.4)
  EXPECT_NEAR(makespan(binomial(procs, false), Model::loggp, 8),
              ceil_log2(nodes) * loggp_message(network, 8) + ceil_log2(cores) * loggp_message(memory, 8),
              close);
}

TEST_P(Hierarchy, BinomialBroadcastInMLogNP) {  // (5.5)
  EXPECT_NEAR(makespan(binomial(procs, false), Model::lognp, 8), ceil_log2(nodes) * 26 + ceil_log2(cores) * 4,
              close);
}

TEST_P(Hierarchy,
       RecursiveDoublingInLogGPH) {  // (5.13) and (5.14), where G belongs to the bytes and −G to a message
  const double m = 8;
  const auto fixed = [](const LogGP& p) { return p.L + p.send_overhead + p.recv_overhead - p.G; };
  EXPECT_NEAR(makespan(recursive_doubling(procs), Model::loggp, m),
              ceil_log2(cores) * fixed(memory) + (cores - 1) * m * memory.G +
                  ceil_log2(nodes) * fixed(network) + (nodes - 1) * cores * m * network.G,
              close);
}

TEST_P(Hierarchy, RingInLogGPHIsNoDearerThanTheThesisSays) {  // (5.8) lets all ranks wait for both channels
  EXPECT_LE(makespan(ring(procs), Model::loggp, 8),
            (procs - 1) * (loggp_message(network, 8) + loggp_message(memory, 8)) + close);
}

INSTANTIATE_TEST_SUITE_P(Machines, Hierarchy,
                         testing::Values(std::pair(2u, 2u), std::pair(4u, 4u), std::pair(4u, 8u),
                                         std::pair(8u, 2u)));

TEST(Play, RanksAreDoneWhenTheirOwnLastStepIs) {
  const Platform machine = platform();
  const auto done = play(linear(4, false), on_one_node(4), machine, Model::hockney, MessageSizes::uniform(8));
  EXPECT_EQ(done, (std::vector<double>{21, 7, 14, 21}));
}

TEST(Play, BlocksOfDifferentSizes) {
  const Platform machine = platform();
  const auto done =
      play(ring(3), on_one_node(3), machine, Model::hockney, MessageSizes::by_place({4, 40, 400}));
  // Block 2 goes 2 → 0 → 1; before it, rank 0 has sent block 0, and rank 1 has received it.
  EXPECT_DOUBLE_EQ(done[1], 2 * (5 + 100));
  EXPECT_THROW(play(pairwise(3), on_one_node(3), machine, Model::hockney, MessageSizes::by_place({1, 2})),
               Error);
}

TEST(Play, SaysWhatIsMissing) {
  Platform machine = platform();
  machine.channels[0].logfp.reset();
  try {
    play(ring(3), on_one_node(3), machine, Model::logfp, MessageSizes::uniform(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(
        std::string(error.what()),
        "the platform 'test' has no parameters logfp for the channel 'all'; take another model or platform");
  }
  EXPECT_THROW(play(ring(3), on_one_node(4), machine, Model::loggp, MessageSizes::uniform(1)), Error);
}

}  // namespace
}  // namespace convene::model
