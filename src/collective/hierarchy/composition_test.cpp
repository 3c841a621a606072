// SPDX-License-Identifier: BSD-3-Clause
// Composed algorithms: every composition delivers, with every placement.
#include "collective/core/composition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "collective/core/served_for_test.hpp"
#include "collective/core/spec.hpp"
#include "collective/hierarchy/rank_order.hpp"
#include "schedule/check/dataflow.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

using Nodes = std::vector<Rank>;

Nodes sequential(Rank procs, Rank cores) {
  Nodes nodes(procs);
  for (Rank rank = 0; rank < procs; ++rank) nodes[rank] = rank / cores;
  return nodes;
}

Nodes cyclic(Rank procs, Rank count) {
  Nodes nodes(procs);
  for (Rank rank = 0; rank < procs; ++rank) nodes[rank] = rank % count;
  return nodes;
}

/// Nodes of uneven sizes, in no order, with arbitrary numbers.
Nodes irregular(Rank procs, unsigned seed) {
  std::mt19937 random(seed + procs);
  Nodes nodes(procs);
  const Rank count = 1 + random() % (1 + procs / 3);
  for (Rank& node : nodes) node = 100 - std::min(random() % count, random() % count);
  return nodes;
}

std::vector<Nodes> placements(Rank procs) {
  return {sequential(procs, 4),
          cyclic(procs, 3),
          irregular(procs, 1),
          irregular(procs, 2),
          Nodes(procs, 7),
          sequential(procs, 1),
          sequential(procs, (procs + 1) / 2)};
}

std::string in_words(const Algorithm& algorithm, const Call& of) {
  std::string text = std::string(name(of.collective)) + " " + std::string(algorithm.name) +
                     ", P=" + std::to_string(of.procs) + ", root " + std::to_string(of.root) +
                     (of.in_place ? ", in place" : "") + (of.commutative ? "" : ", in order");
  text += ", " + spec_text({&algorithm, of.parameters, of.parts});
  text += ", nodes";
  for (const Rank node : of.nodes) text += " " + std::to_string(node);
  return text;
}

/// True if it was simulated, not refused.
bool check_simulation(const Algorithm& algorithm, const Call& of) {
  if (!unmet_requirement(algorithm, of).empty()) return false;
  EXPECT_EQ(check(build_plan(algorithm, of), contract(of, segments(algorithm, of))).why, "")
      << in_words(algorithm, of);
  return true;
}

class Composed : public testing::TestWithParam<Served> {
 protected:
  const Algorithm& algorithm() const { return *GetParam().algorithm; }

  Call call(const Nodes& nodes, Rank root, const Spec& spec, bool in_place, bool commutative = true) const {
    return {.collective = GetParam().collective,
            .procs = static_cast<Rank>(nodes.size()),
            .root = is_rooted(GetParam().collective) ? root : 0,
            .in_place = in_place,
            .parameters = spec.parameters,
            .parts = spec.parts,
            .nodes = nodes,
            .commutative = commutative};
  }

  bool check_simulation(const Call& of) const {
    return convene::collective::check_simulation(algorithm(), of);
  }
};

INSTANTIATE_TEST_SUITE_P(All, Composed,
                         testing::ValuesIn(all_served([](Collective, const Algorithm& algorithm) {
                           return algorithm.is_composed();
                         })),
                         test_name);

TEST_P(Composed, IsCorrectForUpTo24ProcessesOnAllPlacements) {
  std::size_t simulated = 0;
  unsigned turn = 0;
  for (Rank procs = 1; procs <= 24; ++procs)
    for (const Nodes& nodes : placements(procs))
      for (const Spec& spec : sample_specs(algorithm())) {
        ++turn;
        const Rank root = turn * 7 % procs;
        simulated += check_simulation(
            call(nodes, root, spec, turn % 2 == 0, !is_reduction(GetParam().collective) || turn % 3 != 0));
        if (HasFailure()) return;
      }
  EXPECT_GT(simulated, 150u);  // remap of alltoallv refuses half of its parameters
}

/// Parts that use forecasts receive them, in nested compositions, too.
TEST_P(Composed, IsCorrectWhateverIsForetold) {
  std::mt19937 random(17);
  const auto grid = sample_specs(algorithm());
  std::size_t checked = 0;
  for (const Rank procs : {1, 2, 5, 8, 13, 20})
    for (const Nodes& nodes : placements(procs))
      for (const Spec& spec : grid) {
        if (arrival_source(spec) != ArrivalSource::forecast) continue;
        Call of = call(nodes, static_cast<Rank>(random() % procs), spec, random() % 2 == 0);
        for (Rank rank = 0; rank < procs; ++rank)
          of.arrivals.push_back(random() % 3 == 0 ? 0 : static_cast<std::int32_t>(random() % 60));
        checked += check_simulation(of);
        if (HasFailure()) return;
      }
  const auto known = catalogue(GetParam().collective);
  const bool has_some = std::any_of(known.begin(), known.end(), [](const Algorithm* each) {
    return each->arrival_source == ArrivalSource::forecast;
  });
  if (!has_some) GTEST_SKIP() << "no algorithm with forecasts";
  EXPECT_GT(checked, 20u);
}

TEST(Hierarchy, LateNodesAreForeseenBetweenNodes) {
  // Ranks 0 to 3 on one node, 4 to 7 on another, 8 to 11 on a third; rank 5 is late. Between nodes its leader
  // is.
  const auto all = catalogue(Collective::reduce);
  const Algorithm& hier = **std::ranges::find(all, "hier", &Algorithm::name);
  const auto named = [](std::string_view name) {
    for (const Algorithm* each : catalogue(Collective::reduce))
      if (each->name == name) return default_spec(*each);
    throw std::logic_error("no such part");
  };
  Call of{.collective = Collective::reduce,
          .procs = 12,
          .parameters = {1},
          .parts = {named("clairvoyant"), named("linear")},
          .nodes = sequential(12, 4)};
  const Plan even = build_plan(hier, of);
  of.arrivals.assign(12, 0);
  of.arrivals[5] = 30;
  const Plan late = build_plan(hier, of);
  // The round of a leader's first message to another node.
  const auto begins = [](const Plan& plan, Rank leader) {
    std::uint32_t first = UINT32_MAX;
    for (const Step& step : plan[leader].steps())
      if (step.is_message() && step.peer / 4 != leader / 4) first = std::min(first, step.round);
    return first;
  };
  EXPECT_LE(begins(even, 4), begins(even, 8) + 1);
  EXPECT_GT(begins(late, 4), begins(late, 8) + 10);
  of.arrivals.assign(12, 7);  // all at once, later
  EXPECT_EQ(begins(build_plan(hier, of), 4), begins(even, 4));
}

TEST_P(Composed, IsCorrectForAllRoots) {
  if (!is_rooted(GetParam().collective)) GTEST_SKIP() << "no root";
  unsigned turn = 0;
  const auto grid = sample_specs(algorithm());
  for (const Rank procs : {2, 5, 8, 13, 16})
    for (Rank root = 0; root < procs; ++root)
      for (const Nodes& nodes : placements(procs))
        for (const bool in_place : {false, true}) {
          check_simulation(call(nodes, root, grid[turn++ % grid.size()], in_place));
          if (HasFailure()) return;
        }
}

/// If blocks differ in size, every place in scratch must be large enough for its contents.
TEST_P(Composed, KeepsBlocksInScratchOfTheirSize) {
  const Collective collective = GetParam().collective;
  if (collective == Collective::alltoall || collective == Collective::alltoallv ||
      collective == Collective::alltoallw)
    GTEST_SKIP() << "blocks of equal size, or padded to the largest";
  for (const Rank procs : {3, 8, 13})
    for (const Nodes& nodes : placements(procs))
      for (const Spec& spec : sample_specs(algorithm())) {
        const Call of = call(nodes, procs / 2, spec, false);
        if (!unmet_requirement(algorithm(), of).empty()) continue;
        const Plan plan = build_plan(algorithm(), of);
        const Contract wanted = contract(of, segments(algorithm(), of));
        const MessageMatching links = link(plan);
        const Dataflow delivery(plan, links, wanted);
        ASSERT_EQ(delivery.fault(), "") << in_words(algorithm(), of);
        for (const Schedule& schedule : plan)
          for (StepId id = 0; id < schedule.size(); ++id) {
            if (schedule[id].kind != StepKind::recv || schedule[id].is_shm_signal()) continue;
            const Rank peer = schedule[id].peer;
            const auto carried =
                delivery.carried(peer, links.step(peer, links.partner[links.at(schedule.rank(), id)]));
            std::size_t next = 0;
            for (const Range& range : schedule.ranges(id))
              for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
                const Content content = carried[next++];
                if (index(range.buffer()) < index(Buffer::scratch)) return;
                const auto size_of = is_reduction(collective) ? delivery.expressions()->segment(content)
                                                              : static_cast<std::uint32_t>(content);
                ASSERT_EQ(schedule.sized_like(range.buffer())[place], size_of) << in_words(algorithm(), of);
              });
          }
      }
}

/// A rank that forwards others' blocks must learn their sizes first.
TEST_P(Composed, SaysWhetherItRelaysBlocks) {
  const Collective collective = GetParam().collective;
  if (collective != Collective::gatherv && collective != Collective::scatterv) GTEST_SKIP() << "equal blocks";
  for (const Spec& spec : sample_specs(algorithm())) {
    const Call of = call(sequential(8, 4), 0, spec, false);
    if (!unmet_requirement(algorithm(), of).empty()) continue;
    const Rank per_block = segments(algorithm(), of);
    bool others = false;
    for (const Schedule& schedule : build_plan(algorithm(), of))
      for (unsigned b = index(Buffer::scratch); schedule.rank() != 0 && b < schedule.buffers(); ++b)
        for (const Place sized_like : schedule.sized_like(static_cast<Buffer>(b)))
          others |= sized_like / per_block != schedule.rank();
    EXPECT_TRUE(!others || relays(spec)) << in_words(algorithm(), of);
  }
}

TEST_P(Composed, MutantsAreCaught) {
  const auto grid = sample_specs(algorithm());
  std::size_t turn = 0;
  int caught = 0;
  for (const Nodes& nodes : {Nodes{0, 0, 1}, Nodes{0, 1, 0, 1}, Nodes{0, 0, 1, 2, 2, 0, 1}})
    for (int sample = 0; sample < 3; ++sample) {
      const Call of = call(nodes, static_cast<Rank>(nodes.size()) - 1, grid[turn++ * 5 % grid.size()], false);
      if (!unmet_requirement(algorithm(), of).empty() || segments(algorithm(), of) > 8) continue;
      const Plan plan = build_plan(algorithm(), of);
      const Contract wanted = contract(of, segments(algorithm(), of));
      for (Rank rank = 0; rank < of.procs; ++rank)
        caught += caught_mutants(plan, rank, of.commutative, wanted, in_words(algorithm(), of));
    }
  EXPECT_GT(caught, 0);
  RecordProperty("caught", caught);
}

TEST_P(Composed, IsCorrectForManyProcesses) {
  for (const Nodes& nodes : {sequential(64, 8), cyclic(130, 12), irregular(100, 5)})
    check_simulation(call(nodes, static_cast<Rank>(nodes.size()) / 3, default_spec(algorithm()), false));
}

const Algorithm& find(Collective collective, std::string_view wanted) {
  for (const Algorithm* algorithm : catalogue(collective))
    if (algorithm->name == wanted) return *algorithm;
  throw std::logic_error("no such algorithm");
}

std::vector<Spec> parts(std::vector<const Algorithm*> algorithms) {
  std::vector<Spec> all;
  for (const Algorithm* each : algorithms) all.push_back(default_spec(*each));
  return all;
}

/// Number of blocks, or parts of a vector, that enter each node.
std::uint64_t between_nodes(const Algorithm& algorithm, const Call& of) {
  Ranks same(of.procs);
  std::iota(same.begin(), same.end(), 0);
  return places_between_nodes(build_plan(algorithm, of), same, of.nodes);
}

/// Every block enters every other node once, for any placement and number of leaders.
TEST(HierarchicalAllgather, SendsNoMoreBetweenNodesThanItMust) {
  const Algorithm& hier = find(Collective::allgather, "hier");
  const Algorithm& ring = find(Collective::allgather, "ring");
  for (const Nodes& nodes : {sequential(16, 4), cyclic(16, 4), Nodes{3, 1, 1, 3, 3, 2, 1, 2, 2, 2}})
    for (const std::int64_t leaders : {1, 2, 3}) {
      const Call of{
          .procs = static_cast<Rank>(nodes.size()),
          .parameters = {leaders},
          .parts = parts({&ring, &find(Collective::gather, "linear"), &find(Collective::bcast, "binomial")}),
          .nodes = nodes};
      const std::set<Rank> all(nodes.begin(), nodes.end());
      EXPECT_EQ(between_nodes(hier, of), of.procs * (all.size() - 1)) << in_words(hier, of);
    }
}

/// A composition of one process per node is the algorithm between nodes; one on a single node does not use
/// it.
TEST(HierarchicalBcast, IsItsPartsAlone) {
  const Algorithm& hier = find(Collective::bcast, "hier");
  const Algorithm& binomial = find(Collective::bcast, "binomial");
  const Algorithm& linear = find(Collective::bcast, "linear");
  const auto messages = [&](const Nodes& nodes) {
    const Call of{.collective = Collective::bcast,
                  .procs = static_cast<Rank>(nodes.size()),
                  .root = 3,
                  .parameters = {1},
                  .parts = parts({&binomial, &linear}),
                  .nodes = nodes};
    return statistics(build_plan(hier, of));
  };
  EXPECT_EQ(messages(sequential(16, 1)).most_messages_sent, 4u);  // log₂16
  EXPECT_EQ(messages(Nodes(16, 0)).most_messages_sent, 15u);
  EXPECT_EQ(messages(sequential(16, 4)).most_messages_sent, 2u + 3u);
}

/// Between nodes of unequal size blocks differ, and a rank that forwards a block does not know its size.
TEST(HierarchicalAlltoall, PassesBlocksOnBetweenEqualNodesOnly) {
  const Algorithm& hier = find(Collective::alltoall, "hier");
  const Algorithm& remap = find(Collective::alltoall, "remap");
  const Algorithm& bruck = find(Collective::alltoall, "bruck");
  const Algorithm& pairwise = find(Collective::alltoall, "pairwise");
  const auto is_refused = [&](const Spec& part, const Nodes& nodes) {
    return !check_simulation(
        hier, {.collective = Collective::alltoall,
               .procs = static_cast<Rank>(nodes.size()),
               .parameters = {1},
               .parts = {part, {&find(Collective::gather, "linear")}, {&find(Collective::scatter, "linear")}},
               .nodes = nodes});
  };
  constexpr std::int64_t placed = 0, copied = 1;
  for (const auto& [nodes, are_unequal] :
       {std::pair{Nodes{0, 0, 1, 1}, false}, {Nodes{0, 0, 1, 1, 1}, true}}) {
    EXPECT_FALSE(is_refused(default_spec(pairwise), nodes));
    EXPECT_EQ(is_refused(default_spec(bruck), nodes), are_unequal);
    EXPECT_FALSE(is_refused({&remap, {0, placed}, parts({&pairwise})}, nodes));
    EXPECT_EQ(is_refused({&remap, {0, placed}, parts({&bruck})}, nodes), are_unequal);
    EXPECT_EQ(is_refused({&remap, {0, copied}, parts({&pairwise})}, nodes), are_unequal);
    EXPECT_EQ(is_refused(default_spec(hier), nodes), are_unequal);
  }
}

TEST(Remap, BringsNeighboursTogether) {
  const Algorithm& remap = find(Collective::allgather, "remap");
  const Algorithm& ring = find(Collective::allgather, "ring");
  const Nodes dealt = cyclic(16, 4);
  const auto between = [&](std::int64_t order) {
    return between_nodes(remap,
                         {.procs = 16, .parameters = {order, 0}, .parts = parts({&ring}), .nodes = dealt});
  };
  constexpr std::int64_t sequential_order = 0, cyclic_order = 1, fitted = 2;
  EXPECT_EQ(between(sequential_order), 4u * 15);  // of 16 neighbours, 4 are on different nodes
  EXPECT_EQ(between(cyclic_order), 16u * 15);
  EXPECT_EQ(between(fitted), 4u * 15);
}

/// Nested compositions, with all parameters of the inner one.
TEST_P(Composed, IsCorrectOfComposedParts) {
  const auto slots = algorithm().composition->parts;
  unsigned turn = 0;
  for (std::size_t slot = 0; slot < slots.size(); ++slot)
    for (const Algorithm* inner : catalogue(slots[slot].collective)) {
      if (!inner->is_composed()) continue;
      for (std::size_t sample = 0; sample < 6; ++sample) {
        Spec part = default_spec(*inner);
        for (std::size_t i = 0; i < inner->parameters.size(); ++i)
          if (const auto& values = inner->parameters[i].samples; !values.empty())
            part.parameters[i] = values[(i == 0 ? sample / 2 : sample) % values.size()];
        Spec spec = default_spec(algorithm());
        spec.parts[slot] = part;
        for (const Rank procs : {1u, 2u, 3u, 4u, 6u, 9u})
          for (const Nodes& nodes : placements(procs)) {
            ++turn;
            check_simulation(call(nodes, turn * 5 % procs, spec, turn % 2 == 0));
            if (HasFailure()) return;
          }
      }
    }
}

TEST(Remap, FitsAnyPattern) {
  const Algorithm& remap = find(Collective::allgather, "remap");
  for (const Algorithm* part : catalogue(Collective::allgather)) {
    if (part->is_native() || part->is_composed()) continue;
    for (const Nodes& nodes : {sequential(16, 4), cyclic(16, 4), irregular(16, 3)}) {
      const auto with = [&](std::int64_t order) {
        return between_nodes(remap,
                             {.procs = 16, .parameters = {order, 0}, .parts = parts({part}), .nodes = nodes});
      };
      EXPECT_LE(with(2), std::min(with(0), with(1))) << part->name;
    }
  }
}

TEST(Remap, CopiesWhereItIsToldSo) {
  const Algorithm& remap = find(Collective::allgather, "remap");
  const Algorithm& ring = find(Collective::allgather, "ring");
  const auto of = [&](std::int64_t blocks) {
    return statistics(build_plan(
        remap, {.procs = 8, .parameters = {0, blocks}, .parts = parts({&ring}), .nodes = cyclic(8, 2)}));
  };
  EXPECT_EQ(of(0).scratch, 0u);
  EXPECT_EQ(of(1).scratch, 8u);
}

TEST(Composition, SaysWhatIsMissing) {
  const Algorithm& hier = find(Collective::allgather, "hier");
  const auto why = [&](const Spec& spec, Nodes nodes, Rank procs = 6) {
    return unmet_requirement(
        hier,
        Call{.procs = procs, .parameters = spec.parameters, .parts = spec.parts, .nodes = std::move(nodes)});
  };
  const Algorithm& doubling = find(Collective::allgather, "recursive_doubling");
  const Algorithm& linear = find(Collective::gather, "linear");
  const Algorithm& tree = find(Collective::bcast, "linear");
  EXPECT_EQ(why(default_spec(hier), {}), "needs the mapping of ranks to nodes");
  EXPECT_EQ(why({&hier, {1}, parts({&doubling, &linear, &tree})}, {0, 0, 1, 1, 2, 2}),
            "cannot be: recursive_doubling between nodes needs a number of processes that is a power of two, "
            "and has 3 there");
  EXPECT_EQ(why({&hier, {2}, parts({&doubling, &linear, &tree})}, {0, 0, 0, 1, 0, 0}),
            "needs 2 leaders on each node, and the node of rank 3 has only 1 rank");
  EXPECT_EQ(why({&hier, {2}, parts({&doubling, &linear, &tree})}, {0, 0, 0, 1, 0, 1}), "");
}

}  // namespace
}  // namespace convene::collective
