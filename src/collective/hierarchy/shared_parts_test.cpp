// SPDX-License-Identifier: BSD-3-Clause
// Compositions whose parts within a node share memory, for collectives with a block for each rank.
#include <gtest/gtest.h>

#include "collective/core/spec.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

struct Composed {
  Collective collective;
  const char* text;
};

constexpr Composed compositions[] = {
    {Collective::gather, "hier(binomial,shared)"},
    {Collective::gather, "hier(linear,shared;segments=3)"},
    {Collective::gather, "remap(hier(binomial,shared))"},
    {Collective::scatter, "hier(binomial,shared)"},
    {Collective::scatter, "hier(linear,shared;segments=3)"},
    {Collective::allgather, "hier(ring,shared,linear)"},
    {Collective::allgather, "hier(sparbit,shared;segments=3,binomial)"},
    {Collective::allgatherv, "hier(ring,shared,linear)"},
    {Collective::allgatherv, "hier(sparbit,shared;segments=3,binomial)"},
    {Collective::alltoall, "hier(pairwise,shared,shared)"},
    {Collective::alltoall, "hier(pairwise,shared;segments=3,linear)"},
};

Call call_of(const Composed& composed, Rank procs, Rank root, Rank per_node, bool are_dealt) {
  const Spec spec = parse_spec(composed.collective, composed.text);
  Call call{.collective = composed.collective,
            .procs = procs,
            .root = is_rooted(composed.collective) ? root : 0,
            .parameters = spec.parameters,
            .parts = spec.parts};
  for (Rank rank = 0; rank < procs; ++rank)
    call.nodes.push_back(are_dealt ? rank % ((procs + per_node - 1) / per_node) : rank / per_node);
  return call;
}

const Algorithm& algorithm_of(const Composed& composed) {
  return *parse_spec(composed.collective, composed.text).algorithm;
}

/// Checks a plan, and that the memory that is mapped for it suffices.
void expect_delivery(const Composed& composed, const Call& call) {
  const Algorithm& algorithm = algorithm_of(composed);
  ASSERT_EQ(unmet_requirement(algorithm, call), "") << composed.text;
  const Plan plan = build_plan(algorithm, call);
  ASSERT_EQ(check(plan, contract(call, segments(algorithm, call))).why, "")
      << name(call.collective) << "=" << composed.text << ", P=" << call.procs << ", root " << call.root;
  for (const Schedule& schedule : plan)
    ASSERT_LE(schedule.places(Buffer::shared), shared_places(algorithm, call)) << composed.text;
}

class SharedParts : public testing::TestWithParam<Composed> {};

INSTANTIATE_TEST_SUITE_P(All, SharedParts, testing::ValuesIn(compositions));

TEST_P(SharedParts, AreCorrectForUpTo64ProcessesAndManyRoots) {
  const Composed& composed = GetParam();
  unsigned turn = 0;
  for (Rank procs = 1; procs <= 64; ++procs)
    for (Rank root = 0; root < (is_rooted(composed.collective) ? procs : 1); root += 1 + procs / 13) {
      constexpr Rank sizes[] = {3, 1, 8, 64};
      Call call = call_of(composed, procs, root, sizes[turn % 4], turn % 3 == 0);
      call.in_place = ++turn % 2 == 0;
      ASSERT_NO_FATAL_FAILURE(expect_delivery(composed, call));
    }
}

TEST_P(SharedParts, MutantsAreCaught) {
  const Composed& composed = GetParam();
  int caught = 0;
  for (const Rank procs : {4, 5}) {
    const Call call = call_of(composed, procs, procs - 1, 3, false);
    const Plan plan = build_plan(algorithm_of(composed), call);
    const Contract wanted = contract(call, segments(algorithm_of(composed), call));
    for (Rank rank = 0; rank < procs; ++rank) caught += caught_mutants(plan, rank, call.commutative, wanted);
  }
  EXPECT_GT(caught, 0);
  RecordProperty("caught", caught);
}

TEST(SharedParts, AreRefusedWhereBlocksDifferOrAreThereAlready) {
  for (const auto& [collective, text, why] :
       {std::tuple{Collective::gatherv, "hier(binomial,shared)", "cannot have a shared-memory part here"},
        {Collective::scatterv, "hier(binomial,shared)", "cannot have a shared-memory part here"},
        {Collective::allgather, "hier(ring,linear,shared)", "cannot have a shared-memory part here"},
        {Collective::barrier, "hier(tree,shared,linear)", "cannot have a shared-memory part here"},
        {Collective::gather, "hier(linear,shared;leaders=2)", "needs leaders=1 with a shared-memory part"}}) {
    const Composed composed{collective, text};
    EXPECT_EQ(unmet_requirement(algorithm_of(composed), call_of(composed, 6, 0, 3, false)), why) << text;
  }
}

}  // namespace
}  // namespace convene::collective
