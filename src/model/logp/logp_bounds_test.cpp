// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/logp_bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/logp/loggp.hpp"
#include "model/logp/logp_evaluation.hpp"
#include "model/platform/model_plans_for_test.hpp"
#include "topology/mapping.hpp"

namespace convene::model {
namespace {

/// All send to rank 0.
Plan star(Rank procs) {
  return allgather_plan(procs, [&](Rank rank, Builder& builder) {
    if (rank > 0) builder.send(0, Range(Buffer::output, rank));
    for (Rank from = 1; rank == 0 && from < procs; ++from) builder.recv(from, Range(Buffer::output, from));
  });
}

ModelPlatform platform() {
  ModelPlatform platform = ModelPlatform::two_channels();
  platform.channels[0].add(
      LogGP{.L = 2e-7, .send_overhead = 1e-7, .recv_overhead = 1e-7, .g = 1e-7, .G = 1e-10});
  platform.channels[1].add(
      LogGP{.L = 2e-6, .send_overhead = 3e-7, .recv_overhead = 2e-7, .g = 3e-7, .G = 3e-10});
  return platform;
}

double evaluated(const Plan& plan, const Mapping& mapping, double bytes, std::vector<double> arrivals) {
  return std::ranges::max(
      evaluate_logp_plan(plan, mapping, platform(), loggp_model, MessageSizes::uniform(bytes), {arrivals}));
}

Mapping in_nodes(Rank procs, Rank per_node) {
  std::string nodes;
  for (Rank rank = 0; rank < procs; ++rank) nodes += (rank ? "," : "") + std::to_string(rank / per_node);
  return Mapping::parse("", nodes, procs);
}

TEST(LogPBounds, OneRankOfARingTakesAsLongAsAll) {
  for (const Rank procs : {2u, 3u, 8u, 13u})
    for (const double bytes : {8., 1e5})
      for (const Rank per_node : {1u, procs}) {
        const Plan plan = ring(procs);
        const Mapping mapping = in_nodes(procs, per_node);
        const ModelPlatform all = platform();
        const MessageSizes sizes = MessageSizes::uniform(bytes);
        const auto alike = alike_seconds(std::span(plan).first(2), {mapping, all, loggp_model, sizes});
        ASSERT_TRUE(alike);
        EXPECT_EQ(alike->least, alike->most);
        const double together = evaluated(plan, mapping, bytes, std::vector<double>(procs, 0));
        EXPECT_NEAR(alike->most, together, 1e-9 * together) << procs << " ranks, " << bytes << " B";
        // A late rank delays the end by as much as it is late.
        std::vector<double> arrivals(procs, 0);
        arrivals[procs / 2] = 1e-3;
        EXPECT_NEAR(alike->most + 1e-3, evaluated(plan, mapping, bytes, arrivals), 0.01 * together);
      }
}

TEST(LogPBounds, ChannelsOfTheSampleBoundARing) {
  const Plan plan = ring(8);
  const Mapping mapping = in_nodes(8, 4);
  const ModelPlatform all = platform();
  const MessageSizes sizes = MessageSizes::uniform(1000);
  const std::vector<Schedule> sample = {plan[0], plan[3], plan[7]};
  const auto alike = alike_seconds(sample, {mapping, all, loggp_model, sizes});
  ASSERT_TRUE(alike);
  const double together = evaluated(plan, mapping, 1000, std::vector<double>(8, 0));
  EXPECT_LT(alike->least, together);
  EXPECT_GT(alike->most, together);
}

TEST(LogPBounds, RanksThatDifferAreNotAlike) {
  const Plan plan = star(5);
  const Mapping mapping = in_nodes(5, 1);
  const ModelPlatform all = platform();
  const MessageSizes sizes = MessageSizes::uniform(1000);
  EXPECT_FALSE(alike_seconds(plan, {mapping, all, loggp_model, sizes}));
  // The leaves are alike, but they send more than they receive.
  EXPECT_FALSE(alike_seconds(std::span(plan).subspan(1), {mapping, all, loggp_model, sizes}));
}

TEST(LogPBounds, NoRankIsDoneEarlierThanItIsBusy) {
  const ModelPlatform all = platform();
  for (const Plan& plan : {star(9), ring(9)})
    for (const double bytes : {8., 1e5}) {
      const Mapping mapping = in_nodes(9, 3);
      const MessageSizes sizes = MessageSizes::uniform(bytes);
      const std::vector<double> done = evaluate_logp_plan(plan, mapping, all, loggp_model, sizes);
      for (Rank rank = 0; rank < 9; ++rank) {
        const double busy = busy_seconds(plan[rank], {mapping, all, loggp_model, sizes});
        EXPECT_GT(busy, 0);
        EXPECT_LE(busy, done[rank] * (1 + 1e-9)) << rank;
      }
    }
  // The root of a star does nothing but receive: its port is the limit.
  const Plan plan = star(9);
  const Mapping mapping = in_nodes(9, 1);
  const MessageSizes sizes = MessageSizes::uniform(1e5);
  EXPECT_NEAR(busy_seconds(plan[0], {mapping, all, loggp_model, sizes}),
              evaluated(plan, mapping, 1e5, std::vector<double>(9, 0)), 0.15 * 8 * 3e-5);
}

}  // namespace
}  // namespace convene::model
