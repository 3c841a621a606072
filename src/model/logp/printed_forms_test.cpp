// SPDX-License-Identifier: BSD-3-Clause
// Printed formulas: chapter 5 of the InfiniBand work on scatter, gather and allgather, compared with plans
// evaluated under the literal models. Where they differ, the test states the difference: the work charges
// (s − 1)G for each block instead of each message, has one g too many in the linear scatter, and omits that
// Bruck's messages grow.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/logp/logfp.hpp"
#include "model/logp/loggp.hpp"
#include "model/logp/logp_evaluation.hpp"
#include "model/platform/model_plans_for_test.hpp"

namespace convene::model {
namespace {

constexpr double s = 64;  // bytes of a block
constexpr double close = 1e-9;

/// As chapter 5 assumes: L > g > o_s > o_r. The latency is longer than any burst.
ModelPlatform platform() {
  ModelPlatform result;
  ModelChannel channel;
  channel.name = "network";
  channel.add(LogGP{.L = 3000, .send_overhead = 2, .recv_overhead = 1, .g = 3.5, .G = 0.25});
  channel.add(LogfP{.L = 500,
                    .g = 3,
                    .free = 4,
                    .send_overhead = Piecewise({{1, 2}, {4, 0.5}, {5, 0.5}}),
                    .recv_overhead = Piecewise({{1, 1.5}, {4, 0.5}, {5, 0.5}})});
  result.channels = {channel};
  return result;
}

const ModelPlatform machine = platform();
const LogGP p = machine.channels[0].get<LogGP>();
const LogfP f = machine.channels[0].get<LogfP>();

double evaluated(const Plan& plan, const CostModel& model) {
  const auto procs = static_cast<Rank>(plan.size());
  const Mapping mapping =
      Mapping::sequential(Machine::parse("node:" + std::to_string(procs) + " core:1"), procs);
  const auto done = evaluate_logp_plan(plan, mapping, machine, model, MessageSizes::uniform(s));
  return *std::max_element(done.begin(), done.end());
}
double loggp(const Plan& plan) { return evaluated(plan, loggp_model); }
double logfp(const Plan& plan) { return evaluated(plan, logfp_model); }

double ceil_log(Rank base, Rank procs) {
  double rounds = 0;
  for (std::uint64_t reached = 1; reached < procs; reached *= base) ++rounds;
  return rounds;
}

const double message = p.send_overhead + p.L + p.recv_overhead;
const double small = f.send_overhead(1) + f.L + f.recv_overhead(1);

TEST(PrintedForms, LinearScatter) {  // section 5.1.1
  for (Rank P = 2; P <= 64; ++P) {
    const double interval = std::max(p.send_overhead, p.g) + (s - 1) * p.G;
    const double printed = p.send_overhead + (P - 1) * interval + p.L + p.recv_overhead;
    EXPECT_NEAR(printed - loggp(linear(P, false)), std::max(p.send_overhead, p.g), close);
    const double o = f.send_overhead(P - 1);
    const double few = (P - 1) * o + f.L + f.recv_overhead(1);
    const double many = o + f.L + f.recv_overhead(1) + std::max((P - 2) * o, (P - 1.0 - f.free) * f.g);
    EXPECT_NEAR(logfp(linear(P, false)), P - 1 <= f.free ? few : many, close);
  }
}

TEST(PrintedForms, RecursiveSplittingScatter) {  // section 5.1.3
  for (Rank P = 2; P <= 64; P *= 2) {
    const double rounds = ceil_log(2, P);
    const double printed = rounds * message + (P - 1) * (s - 1) * p.G;
    EXPECT_NEAR(loggp(binomial(P, true)) - printed, (P - 1 - rounds) * p.G, close) << P;
    // The work prints o_s(1) in each round; a process that sends n messages in a row has o_s(n).
    double literal = 0;
    for (int n = 1; n <= rounds; ++n) literal += f.send_overhead(n) + f.L + f.recv_overhead(1);
    EXPECT_NEAR(logfp(binomial(P, true)), literal, close) << P;
    EXPECT_LE(literal, rounds * small + close);
  }
}

TEST(PrintedForms, Ring) {  // section 5.3, as printed
  for (Rank P = 2; P <= 64; ++P) {
    EXPECT_NEAR(loggp(ring(P)), (P - 1) * (message + (s - 1) * p.G), close);
    EXPECT_NEAR(logfp(ring(P)), (P - 1) * small, close);
  }
}

TEST(PrintedForms, ModifiedRing) {  // as printed, while the latency hides the overheads
  for (Rank P = 2; P <= 64; ++P) {
    const double printed = p.send_overhead + p.recv_overhead + (P - 1) * (s - 1) * p.G + (P - 2) * p.g + p.L;
    EXPECT_NEAR(loggp(modified_ring(P)), printed, close) << P;
    // LogfP's printed forms have a gap before the messages beyond the f-th, with which overheads do not add
    // up.
    const double o = f.send_overhead(P - 1), last = std::max((P - 2) * o, (P - 1.0 - f.free) * f.g);
    EXPECT_NEAR(logfp(modified_ring(P)), last + o + f.L + f.recv_overhead(P - 1), close) << P;
  }
}

TEST(PrintedForms, NeighborExchange) {
  for (Rank P = 4; P <= 64; P += 2) {
    const double printed = P / 2 * message + (P - 1) * (s - 1) * p.G;
    EXPECT_NEAR(loggp(neighbor_exchange(P)) - printed, (P / 2 - 1) * p.G, close);
    EXPECT_NEAR(logfp(neighbor_exchange(P)), P / 2 * small, close);
  }
}

TEST(PrintedForms, RecursiveDoubling) {
  for (Rank P = 2; P <= 64; P *= 2) {
    const double rounds = ceil_log(2, P), printed = rounds * message + (P - 1) * (s - 1) * p.G;
    EXPECT_NEAR(loggp(recursive_doubling(P)) - printed, (P - 1 - rounds) * p.G, close);
    EXPECT_NEAR(logfp(recursive_doubling(P)), rounds * small, close);
  }
}

TEST(PrintedForms, Bruck) {
  for (Rank k = 1; k <= 4; ++k)
    for (Rank P = k + 1; P <= 64; P *= k + 1) {
      const double rounds = ceil_log(k + 1, P);
      const double printed =
          rounds * (p.send_overhead + p.recv_overhead + (s - 1) * p.G + (k - 1) * p.g + p.L);
      EXPECT_NEAR(loggp(bruck(P, k)) - printed, ((P - 1) * s - k * rounds - rounds * (s - 1)) * p.G, close)
          << P << " processes, " << k << " ports";
      const double o = f.send_overhead(k);
      EXPECT_NEAR(logfp(bruck(P, k)), rounds * (o + f.recv_overhead(k) + (k - 1) * o + f.L), close);
    }
}

}  // namespace
}  // namespace convene::model
