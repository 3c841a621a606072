// SPDX-License-Identifier: BSD-3-Clause
// Facts about single algorithms of gather, scatter, bcast, alltoall and barrier, beyond
// every_collective_test.cpp: rounds, messages, blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "collective/core/algorithm.hpp"
#include "collective/parts/named_for_test.hpp"
#include "patterns/tree.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::collective {
namespace {

Plan plan_of(Collective collective, std::string_view name, Rank procs, Rank root = 0,
             std::vector<Value> parameters = {}) {
  const Algorithm& chosen = algorithm(collective, name);
  if (parameters.empty()) parameters = chosen.default_parameters();
  return build_plan(chosen,
                    {.collective = collective, .procs = procs, .root = root, .parameters = parameters});
}

std::uint32_t log_up(Rank base, Rank procs) {
  std::uint32_t rounds = 0;
  for (std::uint64_t reached = 1; reached < procs; reached *= base) ++rounds;
  return rounds;
}

/// Places carried by a message, and sent by a rank in all.
std::uint32_t places_of(const Schedule& schedule, StepId id) {
  std::uint32_t places = 0;
  for (const Range& range : schedule.ranges(id)) places += range.count();
  return places;
}

std::uint32_t places_sent(const Schedule& schedule) {
  std::uint32_t places = 0;
  for (StepId id = 0; id < schedule.size(); ++id)
    if (schedule[id].kind == StepKind::send) places += places_of(schedule, id);
  return places;
}

/// The most messages that a rank sends, and receives, in one round.
std::pair<std::size_t, std::size_t> most_in_a_round(const Plan& plan) {
  std::size_t sent = 0, received = 0;
  for (const Schedule& schedule : plan)
    for (std::uint32_t round = 0; round < schedule.rounds(); ++round) {
      const auto count = [&](StepKind kind) {
        return static_cast<std::size_t>(std::ranges::count_if(
            schedule.steps(), [&](const Step& step) { return step.kind == kind && step.round == round; }));
      };
      sent = std::max(sent, count(StepKind::send));
      received = std::max(received, count(StepKind::recv));
    }
  return {sent, received};
}

TEST(Tree, EveryKindIsOneTreeWhoseSubtreesAreRuns) {
  const Split kinds[] = {knomial_split(1), knomial_split(2), knomial_split(5), even_split(1),
                         even_split(3),    kary_split(1),    kary_split(2),    kary_split(7),
                         chain_split(1),   chain_split(3)};
  for (const Split& kind : kinds)
    for (Rank procs = 1; procs <= 70; ++procs) {
      std::vector<TreeNode> nodes;
      for (Rank rank = 0; rank < procs; ++rank) nodes.push_back(tree_node(kind, rank, procs));
      std::uint32_t rounds = 0;
      for (Rank rank = 0; rank < procs; ++rank) {
        Rank covered = 1;
        for (const TreeNode::Child& child : nodes[rank].children) {
          ASSERT_EQ(nodes[child.rank].parent, rank);
          ASSERT_EQ(nodes[child.rank].subtree, child.subtree);
          ASSERT_EQ(nodes[child.rank].round, child.round);
          ASSERT_TRUE(rank == 0 || child.round > nodes[rank].round) << "before it has heard itself";
          rounds = std::max(rounds, child.round + 1);
          covered += child.subtree;
        }
        ASSERT_EQ(covered, nodes[rank].subtree);
      }
      ASSERT_EQ(nodes[0].subtree, procs);
      ASSERT_EQ(tree_rounds(kind, procs), rounds) << procs;
    }
}

TEST(Tree, BinomialChildrenStandAtPowersOfTwo) {
  const TreeNode root = binomial_node(0, 13);
  std::vector<Rank> children;
  for (const TreeNode::Child& child : root.children) children.push_back(child.rank);
  EXPECT_EQ(children, (std::vector<Rank>{8, 4, 2, 1}));
  EXPECT_EQ(binomial_node(12, 13).parent, 8u);
  EXPECT_EQ(binomial_node(8, 13).subtree, 5u);
}

TEST(GatherAndScatter, TreesHaveTheRoundsOfTheirSource) {
  for (Rank procs = 1; procs <= 64; ++procs)
    for (const auto collective : {Collective::gather, Collective::scatter}) {
      ASSERT_EQ(statistics(plan_of(collective, "binomial", procs)).rounds, log_up(2, procs));
      for (const Rank fanout : {1, 2, 3, 4, 7})
        for (const Rank root : {0u, procs / 2}) {
          const Plan plan = plan_of(collective, "nway_binomial", procs, root, {fanout});
          const Statistics counts = statistics(plan);
          ASSERT_EQ(counts.rounds, log_up(fanout + 1, procs)) << procs << ", fan-out " << fanout;
          ASSERT_EQ(counts.messages, procs - 1);
          const auto [sent, received] = most_in_a_round(plan);
          ASSERT_LE(collective == Collective::gather ? received : sent, fanout);
          ASSERT_LE(collective == Collective::gather ? sent : received, 1u);
          ASSERT_LE(counts.scratch, (procs + fanout) / (fanout + 1)) << procs << ", fan-out " << fanout;
        }
    }
}

using Message = std::tuple<Rank, Rank, std::uint32_t, std::uint32_t>;  // from, to, round, places

std::set<Message> messages_of(const Plan& plan, bool backwards) {
  std::set<Message> result;
  const std::uint32_t rounds = statistics(plan).rounds;
  for (const Schedule& schedule : plan)
    for (StepId id = 0; id < schedule.size(); ++id) {
      const Step& step = schedule[id];
      if (step.kind != StepKind::send) continue;
      const std::uint32_t places = places_of(schedule, id);
      if (backwards)
        result.emplace(step.peer, schedule.rank(), rounds - 1 - step.round, places);
      else
        result.emplace(schedule.rank(), step.peer, step.round, places);
    }
  return result;
}

TEST(GatherAndScatter, OnTreesAreEachOtherBackwards) {
  for (const auto* name : {"binomial", "nway_binomial", "loggp_optimal"})
    for (Rank procs = 1; procs <= 33; ++procs)
      for (const Rank root : {0u, procs / 3})
        ASSERT_EQ(messages_of(plan_of(Collective::gather, name, procs, root), true),
                  messages_of(plan_of(Collective::scatter, name, procs, root), false))
            << name << ", P=" << procs;
}

TEST(LinearSyncGather, AsksARankWhenTheWindowHasRoom) {
  constexpr Rank procs = 9, root = 3;
  for (const Collective collective : {Collective::gather, Collective::gatherv})
    for (const Rank window : {1u, 2u, 5u}) {
      const Schedule schedule = plan_of(collective, "linear_sync", procs, root, {2, window})[root];
      const std::uint32_t signalling = collective == Collective::gather ? 0 : 1;
      const auto before = closure(schedule);
      const auto find = [&](StepKind kind, std::uint32_t round, Rank above) {
        for (StepId id = 0; id < schedule.size(); ++id)
          if (schedule[id].kind == kind && schedule[id].round == round &&
              schedule[id].peer == (root + above) % procs)
            return id;
        throw std::logic_error("no such step");
      };
      for (Rank above = 1; above < procs; ++above)
        for (Rank earlier = 1; earlier < procs; ++earlier) {
          const bool waits =
              before[find(StepKind::send, signalling, above)][find(StepKind::recv, signalling + 1, earlier)];
          EXPECT_EQ(waits, earlier + window == above)
              << "window " << window << ": " << above << " after " << earlier;
        }
    }
}

TEST(PairwiseAlltoall, KeepsItsWindow) {
  constexpr Rank procs = 8;
  for (const Rank window : {1u, 3u}) {
    const Schedule schedule = plan_of(Collective::alltoall, "pairwise", procs, 0, {window, 0})[2];
    const auto before = closure(schedule);
    for (StepId send = 0; send < schedule.size(); ++send)
      for (StepId recv = 0; recv < schedule.size(); ++recv)
        if (schedule[send].kind == StepKind::send && schedule[recv].kind == StepKind::recv &&
            schedule[recv].round + window == schedule[send].round) {
          EXPECT_TRUE(before[send][recv]) << "round " << schedule[send].round;
        }
  }
}

TEST(Bcast, HasTheRoundsThatItsHeadsSay) {
  const auto rounds = [](std::string_view name, Rank procs, std::vector<Value> parameters) {
    return statistics(plan_of(Collective::bcast, name, procs, procs / 2, std::move(parameters))).rounds;
  };
  for (Rank procs = 2; procs <= 64; ++procs) {
    const auto height = static_cast<std::uint32_t>(std::bit_width(procs)) - 1;
    for (const std::uint32_t segments : {1u, 2u, 5u, 8u}) {
      EXPECT_EQ(rounds("binomial", procs, {segments}), segments * log_up(2, procs));
      EXPECT_EQ(rounds("chain", procs, {segments, 1}), procs - 2 + segments);
      EXPECT_EQ(rounds("chain", procs, {segments, 3}), (procs + 1) / 3 - 1 + segments);
      EXPECT_EQ(rounds("binary", procs, {segments}), height - 1 + segments) << procs;
      if (segments > 1) {
        EXPECT_EQ(rounds("split_binary", procs, {segments}), height + (segments + 1) / 2);
      }
      for (const Rank fanout : {2u, 3u, 7u})
        EXPECT_EQ(rounds("knomial", procs, {fanout, segments}), segments * log_up(fanout + 1, procs));
    }
  }
}

TEST(Bcast, NobodyIsSentAPartTwice) {
  for (const Algorithm* each : catalogue(Collective::bcast))
    for (Rank procs = 1; procs <= 33 && !each->is_native() && !each->is_composed() && !each->shared_places;
         ++procs)
      for (const auto& parameters : each->sample_parameters()) {
        if (!unmet_requirement(*each, procs).empty()) continue;
        const Plan plan = plan_of(Collective::bcast, each->name, procs, procs / 2, parameters);
        ASSERT_EQ(statistics(plan).blocks, std::uint64_t{procs - 1} * segments(*each, procs, parameters))
            << each->name << ", P=" << procs;
      }
}

TEST(Bcast, SplitBinarySendsTheVectorFromTheRootAboutOnce) {
  for (const Rank procs : {3, 4, 8, 9, 64}) {
    const Plan split = plan_of(Collective::bcast, "split_binary", procs, 0, {8});
    const Plan whole = plan_of(Collective::bcast, "binary", procs, 0, {8});
    EXPECT_EQ(places_sent(split[0]), procs % 2 == 1 ? 8u : 12u);
    EXPECT_EQ(places_sent(whole[0]), 16u);
  }
}

TEST(BruckAlltoall, HasTheMessagesAndBlocksOfItsDigits) {
  for (Rank procs = 1; procs <= 64; ++procs)
    for (const Rank radix : {2u, 3u, 4u, 8u, 64u}) {
      const Statistics counts = statistics(plan_of(Collective::alltoall, "bruck", procs, 0, {radix}));
      std::uint64_t journeys = 0, messages = 0;
      for (Rank distance = 1; distance < procs; ++distance)
        for (Rank rest = distance; rest > 0; rest /= radix) journeys += rest % radix != 0;
      for (std::uint64_t weight = 1; weight < procs; weight *= radix)
        messages += std::min<std::uint64_t>(radix - 1, (procs - 1) / weight);
      ASSERT_EQ(counts.rounds, log_up(radix, procs)) << procs << ", radix " << radix;
      ASSERT_EQ(counts.most_messages_sent, messages);
      ASSERT_EQ(counts.most_blocks_sent, journeys);
      if (procs <= radix) {
        ASSERT_EQ(counts.scratch, 0u);
      }
    }
}

TEST(BruckAlltoall, AMessageMayHaveManyPieces) {
  constexpr Rank procs = 40000;
  Builder builder;
  const Schedule schedule = build_schedule(
      algorithm(Collective::alltoall, "bruck"),
      {.collective = Collective::alltoall, .procs = procs, .rank = 7, .parameters = {2}}, builder);
  std::uint64_t journeys = 0;
  std::size_t most_pieces = 0;
  for (StepId id = 0; id < schedule.size(); ++id)
    if (schedule[id].kind == StepKind::send) {
      EXPECT_EQ(schedule.from(id).size(), schedule.ranges(id).size());
      most_pieces = std::max(most_pieces, schedule.ranges(id).size());
    }
  EXPECT_GT(most_pieces, most_from_ranges);
  for (Rank distance = 1; distance < procs; ++distance)
    journeys += static_cast<unsigned>(std::popcount(distance));
  EXPECT_EQ(places_sent(schedule), journeys);
}

TEST(Barrier, HasTheRoundsThatItsHeadsSay) {
  for (Rank procs = 1; procs <= 64; ++procs) {
    const auto rounds = [&](std::string_view name, std::vector<Value> parameters) {
      return statistics(plan_of(Collective::barrier, name, procs, 0, std::move(parameters))).rounds;
    };
    for (const Rank fanout : {1u, 2u, 3u, 7u}) {
      EXPECT_EQ(rounds("dissemination", {fanout}), log_up(fanout + 1, procs));
      // A k-ary tree of height h has up to 1 + k + … + k^h ranks.
      std::uint32_t height = 0;
      for (std::uint64_t level = 1, all = 1; all < procs; all += level *= fanout) ++height;
      EXPECT_EQ(rounds("tree", {fanout}), 2 * height) << procs << ", fan-out " << fanout;
      EXPECT_EQ(statistics(plan_of(Collective::barrier, "tree", procs, 0, {fanout})).messages,
                2 * (procs - 1));
    }
    const auto doubling = plan_of(Collective::barrier, "recursive_doubling", procs);
    const auto levels = static_cast<std::uint32_t>(std::bit_width(procs)) - 1;
    EXPECT_LE(statistics(doubling).most_messages_sent, levels + 1);
  }
}

}  // namespace
}  // namespace convene::collective
