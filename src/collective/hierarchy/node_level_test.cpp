// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies by the levels of a machine within its nodes: every composition delivers, on every tree.
#include "collective/hierarchy/node_level.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "collective/core/spec.hpp"
#include "schedule/testing/caught_mutants.hpp"
#include "topology/mapping.hpp"

namespace convene::collective {
namespace {

struct Composed {
  Collective collective;
  const char* text;
  bool on_one_node = false;  ///< shares memory between domains that several nodes have
};

constexpr Composed compositions[] = {
    {Collective::bcast, "hier(binomial,linear;level=l3)"},
    {Collective::bcast, "hier(scatter_allgather,hier(chain;segments=3,linear;level=auto))"},
    {Collective::bcast, "hier(shared,shared;level=auto)", true},
    {Collective::bcast, "hier(binomial,hier(shared;level=socket))"},
    {Collective::bcast, "hier(shared;segments=2,hier(shared;segments=4,shared;level=l3);level=socket)", true},
    {Collective::reduce, "hier(binomial,linear;level=l3)"},
    {Collective::reduce, "hier(binomial,linear;leaders=2;level=socket)"},
    {Collective::reduce, "hier(shared,shared;level=auto)", true},
    {Collective::reduce, "hier(binomial,hier(shared,hier(shared;level=l3);level=socket))"},
    {Collective::allreduce, "hier(recursive_doubling,linear;level=numa)"},
    {Collective::allreduce, "hier(ring,hier(binomial,linear;level=auto))"},
    {Collective::allreduce, "hier(shared;level=auto)", true},
    {Collective::allreduce, "hier(ring,hier(shared;level=auto))"},
    {Collective::allreduce, "hier(ring,hier(shared,shared;level=l3),shared)"},
    {Collective::barrier, "hier(dissemination,linear;level=l3)"},
    {Collective::barrier, "hier(tree,hier(linear;level=auto))"},
    {Collective::allgather, "hier(ring,linear;level=l3)"},
    {Collective::allgather, "hier(sparbit,hier(binomial;level=socket))"},
    {Collective::allgather, "hier(ring,hier(linear,shared;level=auto),hier(linear;level=l3))"},
    {Collective::allgatherv, "hier(ring,hier(linear;level=auto);leaders=2)"},
    {Collective::gather, "hier(binomial,hier(linear,shared;level=socket))"},
    {Collective::gatherv, "hier(linear,linear;level=l3)"},
    {Collective::scatter, "hier(binomial,hier(linear,shared;level=socket))"},
    {Collective::scatterv, "hier(linear,linear;level=l3)"},
    {Collective::alltoall, "hier(pairwise,hier(linear;level=auto))"},
};

/// Sequential and cyclic placements on machines with several levels; some leave domains empty or uneven.
Mapping places(Rank procs, unsigned turn, bool on_one_node) {
  constexpr const char* within[] = {
      "socket:2 l3:2 core:", "numa:3 core:", "socket:2 numa:2 l3:2 core:", "l3:4 core:", "core:"};
  constexpr unsigned domains[] = {4, 3, 8, 4, 1};
  const unsigned kind = turn % 5, nodes = on_one_node ? 1 : 1 + turn / 5 % 3;
  const Rank seats = nodes * domains[kind];
  const std::string machine = "node:" + std::to_string(nodes) + " " + within[kind] +
                              std::to_string((procs + seats - 1) / seats + turn % 2);
  return Mapping::parse(machine, turn % 3 == 0 ? "cyclic" : "sequential", procs);
}

Call call_of(const Composed& composed, const Mapping& mapping, Rank root) {
  const Spec spec = parse_spec(composed.collective, composed.text);
  return {.collective = composed.collective,
          .procs = mapping.procs(),
          .root = is_rooted(composed.collective) ? root : 0,
          .parameters = spec.parameters,
          .parts = spec.parts,
          .nodes = mapping.node_of_rank(),
          .domains = mapping.domains_of_rank()};
}

const Algorithm& algorithm_of(const Composed& composed) {
  return *parse_spec(composed.collective, composed.text).algorithm;
}

/// True if a plan was checked: it delivers, and the memory that is mapped for it suffices.
bool check_delivery(const Composed& composed, const Call& call, const Mapping& mapping) {
  const Algorithm& algorithm = algorithm_of(composed);
  if (!unmet_requirement(algorithm, call).empty()) return false;
  const Plan plan = build_plan(algorithm, call);
  const std::uint32_t pieces = segments(algorithm, call);
  EXPECT_EQ(check(plan, contract(call, pieces)).why, "")
      << name(call.collective) << "=" << composed.text << ", root " << call.root << ", " << mapping.text();
  for (const Schedule& schedule : plan)
    EXPECT_LE(schedule.places(Buffer::shared), shared_places(algorithm, call)) << composed.text;
  return true;
}

class NodeLevels : public testing::TestWithParam<Composed> {};

INSTANTIATE_TEST_SUITE_P(All, NodeLevels, testing::ValuesIn(compositions));

/// All roots of some numbers of ranks, and two of each other one.
std::vector<Rank> roots(Collective collective, Rank procs) {
  if (!is_rooted(collective)) return {0};
  std::vector<Rank> all(procs);
  std::iota(all.begin(), all.end(), 0);
  return procs == 5 || procs == 8 || procs == 13 ? all : std::vector<Rank>{procs * 5 / 7, procs - 1};
}

TEST_P(NodeLevels, AreCorrectForManyProcessesAndRoots) {
  const Composed& composed = GetParam();
  // Plans of nested compositions take longer to build.
  const Rank most = std::string(composed.text).find("hier(", 1) == std::string::npos ? 64 : 16;
  unsigned turn = 0, checked = 0, all = 0;
  for (Rank procs = 1; procs <= most; ++procs)
    for (const Rank root : roots(composed.collective, procs)) {
      const Mapping mapping = places(procs, turn++, composed.on_one_node);
      Call call = call_of(composed, mapping, root);
      call.in_place = turn % 2 == 0;
      call.commutative = !is_reduction(composed.collective) || turn % 4 != 0;
      checked += check_delivery(composed, call, mapping);
      ++all;
      if (HasFailure()) return;
    }
  EXPECT_GT(checked, all / 3) << composed.text;  // refused: two leaders of one rank, an order with gaps
}

TEST_P(NodeLevels, MutantsAreCaught) {
  const Composed& composed = GetParam();
  int caught = 0;
  const Mapping mapping =
      Mapping::parse(composed.on_one_node ? "node:1 socket:2 l3:2 core:2" : "node:2 socket:2 l3:2 core:1",
                     "sequential", composed.on_one_node ? 7 : 8);
  const Call call = call_of(composed, mapping, 5);
  ASSERT_EQ(unmet_requirement(algorithm_of(composed), call), "");
  const Plan plan = build_plan(algorithm_of(composed), call);
  const Contract wanted = contract(call, segments(algorithm_of(composed), call));
  for (Rank rank = 0; rank < call.procs; rank += 3)
    caught += caught_mutants(plan, rank, call.commutative, wanted);
  EXPECT_GT(caught, 0);
  RecordProperty("caught", caught);
}

/// The messages that a rank sends at most.
std::uint64_t most_sent(const Composed& composed, const Mapping& mapping) {
  return statistics(build_plan(algorithm_of(composed), call_of(composed, mapping, 0))).most_messages_sent;
}

TEST(NodeLevel, OneDomainIsTheFormOfTwoLevels) {
  const Composed two{Collective::bcast, "hier(linear,linear)"},
      three{Collective::bcast, "hier(linear,hier(linear;level=auto))"};
  for (const char* const machine : {"node:3 core:4", "node:3 socket:1 core:4", "node:3 l3:4 core:1"}) {
    const Mapping mapping = Mapping::parse(machine, "sequential", 12);
    EXPECT_EQ(most_sent(three, mapping), most_sent(two, mapping)) << machine;
  }
  const Mapping divided = Mapping::parse("node:3 socket:2 core:2", "sequential", 12);
  EXPECT_EQ(most_sent(two, divided), 2u + 3u);
  EXPECT_EQ(most_sent(three, divided), 2u + 1u + 1u);
}

TEST(NodeLevel, AutomaticIsTheLargestThatDivides) {
  const auto units = [](const char* machine, Rank procs, NodeLevel level) {
    const Mapping mapping = Mapping::parse(machine, "sequential", procs);
    return units_of({.procs = procs,
                     .parameters = {1, static_cast<std::int64_t>(level)},
                     .nodes = mapping.node_of_rank(),
                     .domains = mapping.domains_of_rank()});
  };
  using Units = std::vector<Rank>;
  EXPECT_EQ(units("node:1 socket:2 l3:2 core:2", 8, NodeLevel::automatic), (Units{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(units("node:1 socket:2 l3:2 core:2", 8, NodeLevel::l3), (Units{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(units("node:1 socket:2 l3:2 core:2", 4, NodeLevel::automatic), (Units{0, 0, 1, 1})) << "l3";
  EXPECT_EQ(units("node:1 socket:4 core:1", 4, NodeLevel::automatic), Units(4, 0)) << "of one rank each";
  EXPECT_EQ(units("node:2 numa:2 core:1", 4, NodeLevel::numa), (Units{0, 1, 2, 3}));
  EXPECT_EQ(units("node:2 numa:2 core:1", 4, NodeLevel::node), (Units{0, 0, 1, 1}));
  EXPECT_EQ(units("node:2 core:2", 4, NodeLevel::socket), (Units{0, 0, 1, 1}));
}

TEST(NodeLevel, SaysWhatIsMissing) {
  const auto why = [](Collective collective, const char* text, const char* machine, Rank procs) {
    const Composed composed{collective, text};
    const Mapping mapping = Mapping::parse(machine, "sequential", procs);
    return unmet_requirement(algorithm_of(composed), call_of(composed, mapping, 0));
  };
  EXPECT_EQ(why(Collective::bcast, "hier(binomial,linear;leaders=2;level=l3)", "node:1 l3:2 core:2", 3),
            "needs 2 leaders on each domain, and the domain of rank 2 has only 1 rank");
  EXPECT_EQ(why(Collective::bcast, "hier(shared,linear;level=l3)", "node:2 l3:2 core:2", 8),
            "cannot be: shared between domains needs all processes on one node, and has 4 there");
  EXPECT_EQ(why(Collective::allgather, "hier(shared,linear,linear;level=l3)", "node:1 l3:2 core:2", 4),
            "cannot have a shared-memory part here");
  EXPECT_EQ(why(Collective::alltoall, "hier(pairwise,hier(linear;level=l3),shared)", "node:1 l3:2 core:2", 4),
            "cannot have a shared-memory part here");
  EXPECT_EQ(why(Collective::bcast, "remap(hier(linear;level=l3))", "node:1 l3:2 core:2", 4),
            "cannot have a part with a level within nodes");
}

}  // namespace
}  // namespace convene::collective
