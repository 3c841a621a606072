// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "model/logp/loggp.hpp"
#include "model/logp/logp_evaluation.hpp"
#include "model/platform/model_plans_for_test.hpp"

namespace convene::model {
namespace {

constexpr double close = 1e-9;

ModelPlatform platform() {
  ModelPlatform result = ModelPlatform::two_channels();
  result.channels.resize(1);
  result.channels[0].add(LogGP{.L = 40, .send_overhead = 2, .recv_overhead = 1.5, .g = 3, .G = 0.125});
  return result;
}

double makespan(const Plan& plan, const ModelPlatform& machine, double bytes) {
  const auto procs = static_cast<Rank>(plan.size());
  const Mapping mapping = Mapping::sequential(Machine::parse("node:1 core:" + std::to_string(procs)), procs);
  const auto done = evaluate_logp_plan(plan, mapping, machine, loggps_model, MessageSizes::uniform(bytes));
  return *std::max_element(done.begin(), done.end());
}

/// o_s + (m − 1)G + L + o_r
double loggp_message(const LogGP& p, double bytes) {
  return p.send_overhead + (bytes - 1) * p.G + p.L + p.recv_overhead;
}

TEST(LogGPSEvaluation, FromTheThresholdOnARequestAndItsAnswerComeFirst) {
  ModelPlatform machine = platform();
  LogGP& p = machine.channels[0].get<LogGP>();
  p.synchronous_from = 100;
  const double ask = p.send_overhead + p.L + p.recv_overhead;
  for (Rank procs = 2; procs <= 64; ++procs) {
    EXPECT_NEAR(makespan(ring(procs), machine, 99), (procs - 1) * loggp_message(p, 99), close);
    EXPECT_NEAR(makespan(ring(procs), machine, 100), (procs - 1) * (2 * ask + loggp_message(p, 100)), close);
  }
  EXPECT_NEAR(makespan(binomial(2, false), machine, 100), 2 * ask + loggp_message(p, 100), close);
}

TEST(LogGPSEvaluation, ALateReceiverHoldsTheSenderUp) {
  ModelPlatform machine = platform();
  LogGP& p = machine.channels[0].get<LogGP>();
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
  // The request has arrived when the copy ends: its overhead, the answer, the data.
  const double answer = p.send_overhead + p.L + p.recv_overhead;
  EXPECT_NEAR(makespan(plan, machine, 100), 1000 + p.recv_overhead + answer + loggp_message(p, 100), close);
  // A short message has arrived itself.
  EXPECT_NEAR(makespan(plan, machine, 99), 1000 + p.recv_overhead, close);
}

}  // namespace
}  // namespace convene::model
