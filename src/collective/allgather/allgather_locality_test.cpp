// SPDX-License-Identifier: BSD-3-Clause
// Locality-aware Bruck: its messages and blocks between nodes. (composition_test.cpp checks that it
// delivers, and its mutants.)
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collective/core/spec.hpp"
#include "schedule/core/schedule_statistics.hpp"

namespace convene::collective {
namespace {

Call call_on(const std::vector<Rank>& nodes, std::string_view spec_text) {
  const Spec spec = parse_spec(Collective::allgather, std::string(spec_text));
  return {.collective = Collective::allgather,
          .procs = static_cast<Rank>(nodes.size()),
          .parameters = spec.parameters,
          .parts = spec.parts,
          .nodes = nodes};
}

Plan plan_on(const std::vector<Rank>& nodes, std::string_view spec_text) {
  return build_plan(*parse_spec(Collective::allgather, std::string(spec_text)).algorithm,
                    call_on(nodes, spec_text));
}

std::vector<Rank> equal_nodes(Rank nodes, Rank ranks) {
  std::vector<Rank> result(std::size_t{nodes} * ranks);
  for (Rank rank = 0; rank < result.size(); ++rank) result[rank] = rank / ranks;
  return result;
}

/// Messages to other nodes: of the busiest rank, their rounds, and the blocks in all.
struct BetweenNodes {
  std::uint32_t messages_of_a_rank = 0, rounds = 0;
  std::uint64_t blocks = 0;
};

BetweenNodes between_nodes(const Plan& plan, const std::vector<Rank>& nodes) {
  BetweenNodes result;
  std::set<std::uint32_t> rounds;
  for (const Schedule& schedule : plan) {
    std::uint32_t messages = 0;
    for (StepId id = 0; id < schedule.size(); ++id) {
      if (schedule[id].kind != StepKind::send || nodes[schedule[id].peer] == nodes[schedule.rank()]) continue;
      ++messages;
      rounds.insert(schedule[id].round);
      for (const Range& range : schedule.ranges(id)) result.blocks += range.count();
    }
    result.messages_of_a_rank = std::max(result.messages_of_a_rank, messages);
  }
  result.rounds = static_cast<std::uint32_t>(rounds.size());
  return result;
}

/// ⌈log_base number⌉.
std::uint32_t log_up(Rank number, Rank base) {
  std::uint32_t result = 0;
  for (std::uint64_t power = 1; power < number; power *= base) ++result;
  return result;
}

TEST(LocalityBruck, HasOneMessagePerRankAndRoundBetweenEqualNodes) {
  for (const Rank ranks : {1u, 2u, 3u, 4u, 8u})
    for (Rank nodes = 1; nodes * ranks <= 64; ++nodes) {
      const auto on = equal_nodes(nodes, ranks);
      const BetweenNodes found = between_nodes(plan_on(on, "locality_bruck"), on);
      EXPECT_EQ(found.rounds, log_up(nodes, ranks + 1)) << nodes << " nodes, " << ranks << " ranks each";
      EXPECT_EQ(found.messages_of_a_rank, found.rounds) << nodes << " nodes, " << ranks << " ranks each";
      EXPECT_EQ(found.blocks, std::uint64_t{nodes} * ranks * (nodes - 1)) << "each block once to each node";
    }
}

TEST(LocalityBruck, SharesTheLastRoundAmongTheRanks) {
  const auto on = equal_nodes(2, 4);
  const Plan plan = plan_on(on, "locality_bruck");
  for (const Schedule& schedule : plan) {
    const BetweenNodes own = between_nodes({schedule}, on);
    EXPECT_EQ(own.blocks, 1u) << "rank " << schedule.rank();
  }
}

TEST(LocalityBruck, HasLeadersWithoutBounds) {
  const auto on = equal_nodes(9, 2);
  EXPECT_EQ(between_nodes(plan_on(on, "locality_bruck;leaders=1"), on).rounds, log_up(9, 2));
  EXPECT_EQ(between_nodes(plan_on(on, "locality_bruck;leaders=8"), on).rounds, 1u);
  EXPECT_EQ(between_nodes(plan_on(on, "locality_bruck;leaders=8"), on).messages_of_a_rank, 4u);
}

TEST(LocalityBruck, SendsEachBlockOnceToEachOfUnequalNodes) {
  for (const std::vector<Rank>& on :
       {std::vector<Rank>{3, 1, 1, 3, 3, 2, 1, 2, 2, 2}, std::vector<Rank>{0, 0, 0, 0, 1, 1, 2},
        std::vector<Rank>{0, 1, 0, 1, 0}})
    for (const std::string_view spec : {"locality_bruck", "locality_bruck;leaders=3"}) {
      const std::set<Rank> all(on.begin(), on.end());
      EXPECT_EQ(between_nodes(plan_on(on, spec), on).blocks, on.size() * (all.size() - 1)) << spec;
    }
}

/// Without nodes it is the part alone; with one rank on each, the Bruck allgather's messages.
TEST(LocalityBruck, IsBruckOnNodesOfOneRank) {
  const auto messages = [](const std::vector<Rank>& on, std::string_view spec) {
    return statistics(plan_on(on, spec)).most_messages_sent;
  };
  for (const Rank procs : {2u, 5u, 8u, 16u}) {
    const auto apart = equal_nodes(procs, 1);
    EXPECT_EQ(messages(apart, "locality_bruck"), log_up(procs, 2));
    EXPECT_EQ(messages(std::vector<Rank>(procs, 0), "locality_bruck(ring)"), procs - 1);
  }
}

}  // namespace
}  // namespace convene::collective
