// SPDX-License-Identifier: BSD-3-Clause
// Rounds and blocks of algorithms whose sources state them as formulas, for all numbers of processes up to 64
// that they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "collective/core/algorithm.hpp"

namespace convene::collective {
namespace {

const Algorithm& algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* each : catalogue(collective))
    if (each->name == name) return *each;
  throw std::logic_error("no such algorithm");
}

Plan plan_of(Collective collective, std::string_view name, Rank procs, std::vector<Value> parameters = {},
             Rank root = 0) {
  const Algorithm& chosen = algorithm(collective, name);
  if (parameters.empty()) parameters = chosen.default_parameters();
  return build_plan(chosen,
                    {.collective = collective, .procs = procs, .root = root, .parameters = parameters});
}

std::uint32_t log_up(Rank procs) { return static_cast<std::uint32_t>(std::bit_width(procs - 1)); }

std::uint32_t rounds_of(const Plan& plan) {
  std::set<std::uint32_t> rounds;  // those in which a message is sent
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id)
      if (schedule[id].kind == StepKind::send) rounds.insert(schedule[id].round);
  return static_cast<std::uint32_t>(rounds.size());
}

std::uint32_t places_of(const Schedule& schedule, StepId id) {
  std::uint32_t places = 0;
  for (const Range& range : schedule.ranges(id)) places += range.count();
  return places;
}

/// Of one rank: the places that it sends, its messages, and the most places in one of them.
struct Sent {
  std::uint32_t places = 0, messages = 0, largest = 0;
};

Sent sent_by(const Schedule& schedule) {
  Sent sent;
  for (StepId id = 0; id < schedule.size(); ++id) {
    if (schedule[id].kind != StepKind::send) continue;
    const std::uint32_t places = places_of(schedule, id);
    sent.places += places;
    ++sent.messages;
    sent.largest = std::max(sent.largest, places);
  }
  return sent;
}

/// Every rank sends this many places in this many messages, one in each of the rounds.
void expect_cost(const Plan& plan, std::uint32_t rounds, std::uint32_t places) {
  ASSERT_EQ(rounds_of(plan), rounds) << "P=" << plan.size();
  for (const Schedule& schedule : plan) {
    const Sent sent = sent_by(schedule);
    ASSERT_EQ(sent.messages, rounds) << "P=" << plan.size() << ", rank " << schedule.rank();
    ASSERT_EQ(sent.places, places) << "P=" << plan.size() << ", rank " << schedule.rank();
  }
}

/// The distances between partners, on a ring, by round; all ranks have the same.
std::vector<std::vector<Rank>> distances(const Plan& plan) {
  std::vector<std::vector<Rank>> result(rounds_of(plan));
  const auto procs = static_cast<Rank>(plan.size());
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id) {
      if (schedule[id].kind != StepKind::send) continue;
      const Rank above = (schedule[id].peer + procs - schedule.rank()) % procs;
      result[schedule[id].round].push_back(std::min(above, procs - above));
    }
  for (auto& round : result) {
    std::ranges::sort(round);
    round.erase(std::unique(round.begin(), round.end()), round.end());
  }
  return result;
}

TEST(Circulant, HasLogarithmicallyManyRoundsAndTheFewestBlocks) {
  for (Rank procs = 2; procs <= 64; ++procs) {
    expect_cost(plan_of(Collective::allgather, "circulant", procs), log_up(procs), procs - 1);
    expect_cost(plan_of(Collective::reduce_scatter_block, "circulant", procs), log_up(procs), procs - 1);
    expect_cost(plan_of(Collective::allreduce, "circulant", procs), 2 * log_up(procs), 2 * (procs - 1));
  }
}

TEST(Circulant, HalvesItsSkips) {
  EXPECT_EQ(distances(plan_of(Collective::reduce_scatter_block, "circulant", 20)),
            (std::vector<std::vector<Rank>>{{10}, {5}, {3}, {2}, {1}}));
  EXPECT_EQ(distances(plan_of(Collective::allgather, "circulant", 20)),
            (std::vector<std::vector<Rank>>{{1}, {2}, {3}, {5}, {10}}));
}

TEST(AggregatedTrees, HaveTheRoundsThatTheirMessagesNeed) {
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter_block})
    for (Rank procs = 2; procs <= 64; ++procs)
      for (const Rank limit : {1u, 2u, 4u, 8u, 64u}) {
        const Rank whole = std::bit_ceil(procs), together = std::min(limit, whole / 2);
        const std::uint32_t near = together == 1 ? procs - 1 : whole / together - 1;
        const Plan plan = plan_of(collective, "aggregated_trees", procs, {limit});
        expect_cost(plan, log_up(together) + near, procs - 1);
        for (const Schedule& schedule : plan) ASSERT_LE(sent_by(schedule).largest, limit) << "P=" << procs;
      }
  for (Rank procs = 2; procs <= 64; ++procs)
    expect_cost(plan_of(Collective::allgather, "aggregated_trees", procs), log_up(procs), procs - 1);
}

TEST(AggregatedTrees, CutNearDistancesIntoRounds) {
  EXPECT_EQ(distances(plan_of(Collective::allgather, "aggregated_trees", 16)),
            (std::vector<std::vector<Rank>>{{8}, {4}, {2}, {1}}));
  // Far distances at once; then the trees of four ranks, depth first.
  EXPECT_EQ(distances(plan_of(Collective::allgather, "aggregated_trees", 16, {4})),
            (std::vector<std::vector<Rank>>{{8}, {4}, {2}, {1}, {1}}));
}

TEST(Swing, HasLogarithmicallyManyRoundsAndTheFewestBlocks) {
  for (Rank procs = 2; procs <= 64; procs += 2) {
    expect_cost(plan_of(Collective::allgather, "swing", procs), log_up(procs), procs - 1);
    expect_cost(plan_of(Collective::reduce_scatter_block, "swing", procs), log_up(procs), procs - 1);
    expect_cost(plan_of(Collective::allreduce, "swing", procs), 2 * log_up(procs), 2 * (procs - 1));
  }
}

TEST(Swing, KeepsTheDistancesOfItsSource) {
  EXPECT_EQ(distances(plan_of(Collective::reduce_scatter_block, "swing", 64)),
            (std::vector<std::vector<Rank>>{{1}, {1}, {3}, {5}, {11}, {21}}));
  EXPECT_EQ(distances(plan_of(Collective::allgather, "swing", 64)),
            (std::vector<std::vector<Rank>>{{21}, {11}, {5}, {3}, {1}, {1}}));
}

TEST(Bine, ButterfliesHaveLogarithmicallyManyRoundsAndTheFewestBlocks) {
  for (const Value& blocks : {Value{0}, Value{1}})
    for (Rank procs = 2; procs <= 64; procs += 2) {
      expect_cost(plan_of(Collective::allgather, "bine", procs, {blocks}), log_up(procs), procs - 1);
      expect_cost(plan_of(Collective::reduce_scatter_block, "bine", procs, {blocks}), log_up(procs),
                  procs - 1);
      expect_cost(plan_of(Collective::allreduce, "bine", procs, {blocks}), 2 * log_up(procs),
                  2 * (procs - 1));
    }
}

TEST(Bine, ConsecutiveBlocksAreAtMostTwoRuns) {
  for (Rank procs = 2; procs <= 64; procs += 2)
    for (const Schedule& schedule : plan_of(Collective::allgather, "bine", procs, {Value{1}}))
      for (StepId id = 0; id < schedule.size(); ++id) {
        if (schedule[id].kind != StepKind::send) continue;
        ASSERT_LE(schedule.ranges(id).size(), 2u) << "P=" << procs;
        for (const Range& range : schedule.ranges(id))
          ASSERT_TRUE(range.count() == 1 || range.stride == 1) << "P=" << procs;
      }
}

TEST(Bine, TreesHaveTheRoundsAndBlocksOfBinomialTrees) {
  for (Rank procs = 2; procs <= 64; procs *= 2)
    for (const Collective collective :
         {Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter}) {
      const Plan plan = plan_of(collective, "bine", procs), binomial = plan_of(collective, "binomial", procs);
      EXPECT_EQ(rounds_of(plan), log_up(procs));
      std::uint32_t messages = 0, places = 0, of_binomial = 0;
      for (const Schedule& schedule : plan) messages += sent_by(schedule).messages;
      for (const Schedule& schedule : plan) places += sent_by(schedule).places;
      for (const Schedule& schedule : binomial) of_binomial += sent_by(schedule).places;
      EXPECT_EQ(messages, procs - 1) << name(collective) << ", P=" << procs;
      EXPECT_EQ(places, of_binomial) << name(collective) << ", P=" << procs;
    }
}

TEST(Bine, TreesKeepTheDistancesOfTheirSource) {
  EXPECT_EQ(distances(plan_of(Collective::bcast, "bine", 64)),
            (std::vector<std::vector<Rank>>{{21}, {11}, {5}, {3}, {1}, {1}}));
  EXPECT_EQ(distances(plan_of(Collective::gather, "bine", 64)),
            (std::vector<std::vector<Rank>>{{1}, {1}, {3}, {5}, {11}, {21}}));
}

}  // namespace
}  // namespace convene::collective
