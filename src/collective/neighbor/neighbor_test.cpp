// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives on many kinds of graphs.
#include <gtest/gtest.h>

#include "collective/core/algorithm.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

const Algorithm& algorithm(std::string_view name, Collective collective = Collective::neighbor_allgather) {
  for (const Algorithm* each : catalogue(collective))
    if (each->name == name) return *each;
  throw std::logic_error("no such algorithm");
}

Call call_on(Graph graph, std::vector<Rank> nodes = {},
             Collective collective = Collective::neighbor_allgather) {
  const Rank procs = graph.procs();
  return {.collective = collective,
          .procs = procs,
          .nodes = std::move(nodes),
          .graph = std::make_shared<const Graph>(std::move(graph))};
}

std::string why(std::string_view name, const Call& call) {
  return check(build_plan(algorithm(name, call.collective), call), contract(call, 1)).why;
}

Statistics counts(std::string_view name, const Call& call) {
  return statistics(build_plan(algorithm(name, call.collective), call));
}

/// Of each postcondition one.
constexpr Collective both[] = {Collective::neighbor_allgather, Collective::neighbor_alltoall};

void expect_correct_on_all_sorts_of_graphs(std::string_view name, Collective collective) {
  for (Rank procs = 1; procs <= 64; ++procs) {
    for (const char* graph : {"cart", "torus", "moore", "random:1", "random:3", "random:8", "random:20:7"}) {
      ASSERT_EQ(why(name, call_on(Graph::parse(graph, procs), {}, collective)), "")
          << name << " " << graph << " P=" << procs;
    }
    std::vector<Rank> nodes(procs);
    for (Rank rank = 0; rank < procs; ++rank) nodes[rank] = rank * 7 % 5;
    ASSERT_EQ(why(name, call_on(Graph::parse("random:6", procs), nodes, collective)), "") << procs;
  }
}

TEST(Neighbors, BothAlgorithmsAreCorrectOnAllSortsOfGraphs) {
  for (const Collective collective : both)
    for (const std::string_view name : {"linear", "combining"})
      expect_correct_on_all_sorts_of_graphs(name, collective);
}

TEST(Neighbors, GridsWithOneOrTwoRanksInADimension) {
  const std::pair<const char*, Rank> grids[] = {{"torus:1x1", 1},   {"torus:2x1", 2},  {"torus:1x2x3", 6},
                                                {"torus:2x2x2", 8}, {"cart:1x1x2", 2}, {"cart:2x2", 4}};
  for (const auto& [graph, procs] : grids)
    for (const std::string_view name : {"linear", "combining"})
      EXPECT_EQ(why(name, call_on(Graph::parse(graph, procs), {}, Collective::neighbor_alltoall)), "")
          << name << " " << graph;
}

TEST(Neighbors, AlltoallCombinesMessagesAndRelaysBlocks) {
  const Call plane = call_on(Graph::parse("moore:5x6", 30), {}, Collective::neighbor_alltoall);
  EXPECT_EQ(counts("linear", plane).messages, 30 * 8);
  EXPECT_EQ(counts("linear", plane).blocks, 30 * 8);
  EXPECT_EQ(counts("combining", plane).messages, 30 * 4);
  EXPECT_EQ(counts("combining", plane).blocks, 30 * 12);
  EXPECT_EQ(counts("combining", plane).rounds, 2);
  const Call space = call_on(Graph::parse("moore:4x4x4", 64), {}, Collective::neighbor_alltoall);
  EXPECT_EQ(counts("linear", space).messages, 64 * 26);
  EXPECT_LE(counts("combining", space).messages, 64 * 15);
  EXPECT_LE(counts("combining", space).most_blocks_sent, 26 * 3 / 2);
}

TEST(Neighbors, MessagesAreCombinedWhereNeighborsAreBetween) {
  // A plane with eight neighbours: along the rows, then along the columns.
  const Call plane = call_on(Graph::parse("moore:5x6", 30));
  EXPECT_EQ(counts("linear", plane).messages, 30 * 8);
  EXPECT_EQ(counts("combining", plane).messages, 30 * 4);
  EXPECT_EQ(counts("combining", plane).blocks, 30 * 8);
  EXPECT_EQ(counts("combining", plane).rounds, 2);
  const Call space = call_on(Graph::parse("moore:4x4x4", 64));
  EXPECT_EQ(counts("linear", space).messages, 64 * 26);
  EXPECT_LE(counts("combining", space).messages, 64 * 14);
  // No rank becomes a bottleneck, even if every rank could be in the middle.
  const Call all = call_on(Graph::parse("moore:3x3", 9));
  EXPECT_LE(counts("combining", all).most_blocks_sent, 12);
  EXPECT_LE(counts("combining", all).messages, 9 * 5);
  // No rank is in the middle of two others: nothing changes.
  const Call cross = call_on(Graph::parse("torus:5x6", 30));
  EXPECT_EQ(counts("combining", cross).messages, counts("linear", cross).messages);
  EXPECT_EQ(counts("combining", cross).rounds, 1);
}

TEST(Neighbors, FewerBlocksCrossBetweenNodes) {
  Graph all(16);  // all pairs of ranks, four nodes
  std::vector<Rank> nodes(16);
  for (Rank a = 0; a < 16; ++a) {
    nodes[a] = a / 4;
    for (Rank b = 0; b < 16; ++b)
      if (a != b) {
        all.targets[a].push_back(b);
        all.sources[b].push_back(a);
      }
  }
  const Call call = call_on(all, nodes);
  ASSERT_EQ(why("combining", call), "");
  const auto crossing = [&](std::string_view name) {
    std::uint64_t blocks = 0;
    for (const Schedule& schedule : build_plan(algorithm(name), call))
      for (StepId id = 0; id < schedule.size(); ++id)
        if (schedule[id].kind == StepKind::send && nodes[schedule.rank()] != nodes[schedule[id].peer])
          for (const Range& range : schedule.ranges(id)) blocks += range.count();
    return blocks;
  };
  EXPECT_EQ(crossing("linear"), 16 * 12);
  EXPECT_LE(crossing("combining"), 16 * 12 / 2);
}

TEST(Neighbors, MutantsAreCaught) {
  int all = 0;
  for (const Collective collective : both)
    for (const std::string_view name : {"linear", "combining"})
      for (const char* graph : {"moore:2x3", "random:3", "cart:2x3", "torus:2x3"}) {
        const Call call = call_on(Graph::parse(graph, 6), {}, collective);
        const Plan plan = build_plan(algorithm(name, collective), call);
        int caught = 0;
        for (Rank rank = 0; rank < call.procs; ++rank)
          caught += caught_mutants(plan, rank, true, contract(call, 1), std::string(name) + " " + graph);
        EXPECT_GT(caught, 0);
        all += caught;
      }
  RecordProperty("caught", all);
}

TEST(Neighbors, LinearNeedsNothingOfOtherRanks) {
  const Graph whole = Graph::parse("random:4", 9);
  Builder builder;
  for (const Collective collective : both)
    for (Rank rank = 0; rank < 9; ++rank) {
      Graph own(9);
      own.sources[rank] = whole.sources[rank];
      own.targets[rank] = whole.targets[rank];
      Call alone = call_on(own, {}, collective), informed = call_on(whole, {}, collective);
      alone.rank = informed.rank = rank;
      const Schedule a = build_schedule(algorithm("linear", collective), alone, builder);
      const Schedule b = build_schedule(algorithm("linear", collective), informed, builder);
      ASSERT_EQ(a.size(), b.size());
      for (StepId id = 0; id < a.size(); ++id) EXPECT_EQ(a[id].peer, b[id].peer);
    }
}

}  // namespace
}  // namespace convene::collective
