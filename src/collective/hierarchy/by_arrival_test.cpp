// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks that by_arrival makes. (composition_test.cpp checks that it delivers.)
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "collective/parts/forecasts_for_test.hpp"

namespace convene::collective {
namespace {

Call call_of(Collective collective, std::string_view spec, Rank procs, Arrivals arrivals, Rank root = 0) {
  const Spec parsed = parse_spec(collective, spec);
  return {.collective = collective,
          .procs = procs,
          .root = root,
          .parameters = parsed.parameters,
          .parts = parsed.parts,
          .arrivals = std::move(arrivals)};
}

Plan plan_of(Collective collective, std::string_view spec, const Call& call) {
  return build_plan(*parse_spec(collective, spec).algorithm, call);
}

Plan reduce_by_arrival(std::string_view spec, Rank procs, Arrivals arrivals, Rank root = 0,
                       std::vector<Rank> nodes = {}) {
  Call call = call_of(Collective::reduce, spec, procs, std::move(arrivals), root);
  call.nodes = std::move(nodes);
  return plan_of(Collective::reduce, spec, call);
}

/// The ranks of a chain, from the root on: each receives from the next one.
std::vector<Rank> chain(const Plan& plan, Rank root) {
  std::vector<Rank> ranks = {root};
  while (ranks.size() < plan.size())
    for (const Step& step : plan[ranks.back()].steps())
      if (step.kind == StepKind::recv) {
        ranks.push_back(step.peer);
        break;
      }
  return ranks;
}

TEST(ByArrival, PutsALateRankNextToTheRootOfAPipeline) {
  EXPECT_EQ(chain(reduce_by_arrival("by_arrival(pipeline)", 5, {0, 0, 0, 7, 0}), 0),
            (std::vector<Rank>{0, 3, 1, 2, 4}));
  EXPECT_EQ(chain(reduce_by_arrival("by_arrival(pipeline)", 5, {3, 1, 0, 9, 4}, 2), 2),
            (std::vector<Rank>{2, 3, 4, 0, 1}));
}

TEST(ByArrival, PutsALateRankAtTheEndOfAChainBcast) {
  const std::string_view spec = "by_arrival(chain)";
  const Plan plan = plan_of(Collective::bcast, spec, call_of(Collective::bcast, spec, 6, {0, 0, 5, 0, 0, 0}));
  EXPECT_TRUE(
      std::ranges::none_of(plan[2].steps(), [](const Step& step) { return step.kind == StepKind::send; }));
}

TEST(ByArrival, PutsALateRankOneMessageFromTheRootOfATree) {
  for (Rank late = 1; late < 16; ++late) {
    Arrivals arrivals(16, 0);
    arrivals[late] = 9;
    const Plan plan = reduce_by_arrival("by_arrival(binomial)", 16, arrivals);
    const auto sent = std::ranges::find(plan[late].steps(), StepKind::send, &Step::kind);
    EXPECT_EQ((*sent).peer, 0u) << late;
  }
}

TEST(ByArrival, PutsAllLateRanksOneMessageFromTheRootOfATree) {
  Arrivals arrivals(16, 0);
  for (const Rank late : {3, 7, 11, 15}) arrivals[late] = 9;
  const Plan plan = reduce_by_arrival("by_arrival(binomial)", 16, arrivals);
  for (const Rank late : {3, 7, 11, 15}) {
    const auto sent = std::ranges::find(plan[late].steps(), StepKind::send, &Step::kind);
    EXPECT_EQ((*sent).peer, 0u) << late;
  }
}

TEST(ByArrival, KeepsRanksOfANodeTogether) {
  const std::vector<Rank> nodes = {0, 1, 2, 0, 1, 2};
  const Arrivals arrivals = {0, 9, 3, 1, 0, 8};
  EXPECT_EQ(chain(reduce_by_arrival("by_arrival(pipeline)", 6, arrivals, 0, nodes), 0),
            (std::vector<Rank>{0, 1, 4, 5, 2, 3}));
  EXPECT_EQ(chain(reduce_by_arrival("by_arrival(pipeline;nodes=apart)", 6, arrivals, 0, nodes), 0),
            (std::vector<Rank>{0, 1, 5, 2, 3, 4}));
}

std::vector<std::tuple<StepKind, Rank, std::uint32_t>> messages(const Schedule& schedule) {
  std::vector<std::tuple<StepKind, Rank, std::uint32_t>> result;
  for (const Step& step : schedule.steps())
    if (step.is_message()) result.emplace_back(step.kind, step.peer, step.round);
  return result;
}

TEST(ByArrival, IsThePartWhereAllArriveTogether) {
  for (const Rank procs : {1, 2, 5, 8, 13})
    for (const Arrivals& arrivals : {Arrivals(), Arrivals(procs, 4)}) {
      const Rank root = procs / 2;
      const Plan plan = reduce_by_arrival("by_arrival(binomial)", procs, arrivals, root);
      const Plan alone =
          plan_of(Collective::reduce, "binomial", call_of(Collective::reduce, "binomial", procs, {}, root));
      for (Rank rank = 0; rank < procs; ++rank)
        ASSERT_EQ(messages(plan[rank]), messages(alone[rank])) << "P=" << procs << ", rank " << rank;
    }
}

TEST(ByArrival, IsThePartIfThatOrdersTheRanksItself) {
  const Arrivals arrivals = {0, 9, 3, 1, 0, 8, 2};
  const auto plan = [&](std::string_view spec) {
    return plan_of(Collective::allreduce, spec, call_of(Collective::allreduce, spec, 7, arrivals));
  };
  const Plan by_arrival = plan("by_arrival(slt)"), alone = plan("slt");
  for (Rank rank = 0; rank < 7; ++rank) ASSERT_EQ(messages(by_arrival[rank]), messages(alone[rank])) << rank;
}

TEST(ByArrival, IsThePartIfItsMessagesCarryTooManyPlaces) {
  const auto differs = [](Rank procs) {
    Arrivals arrivals(procs, 0);
    arrivals[procs - 1] = 9;
    Call call = call_of(Collective::allgather, "by_arrival(gather_bcast)", procs, arrivals);
    Call alone = call_of(Collective::allgather, "gather_bcast", procs, {});
    call.rank = alone.rank = procs - 1;
    Builder builder;
    const auto with =
        messages(build_schedule(*parse_spec(Collective::allgather, "by_arrival").algorithm, call, builder));
    return with != messages(build_schedule(*parse_spec(Collective::allgather, "gather_bcast").algorithm,
                                           alone, builder));
  };
  EXPECT_TRUE(differs(256));
  EXPECT_FALSE(differs(2048));
}

TEST(ByArrival, KeepsApartWhatItKnowsOfParts) {
  for (int times = 0; times < 2; ++times)
    for (Rank procs = 5; procs < 16; ++procs) {  // more than it keeps
      Arrivals arrivals(procs, 0);
      for (Rank late = procs - 3; late < procs; ++late) arrivals[late] = 9;
      const std::vector<Rank> ranks =
          chain(reduce_by_arrival("by_arrival(pipeline;segments=2)", procs, arrivals), 0);
      const Plan tree = reduce_by_arrival("by_arrival(binomial)", procs, arrivals);
      for (Rank late = procs - 3; late < procs; ++late) {
        EXPECT_EQ(ranks[late + 4 - procs], late);
        const auto sent = std::ranges::find(tree[late].steps(), StepKind::send, &Step::kind);
        EXPECT_EQ((*sent).peer, 0u) << late << " of " << procs;
      }
      const Call bcast = call_of(Collective::bcast, "by_arrival(chain)", procs, arrivals);
      const Plan last = plan_of(Collective::bcast, "by_arrival(chain)", bcast);
      EXPECT_TRUE(std::ranges::any_of(last[procs - 4].steps(),
                                      [](const Step& step) { return step.kind == StepKind::send; }));
    }
}

TEST(ByArrival, HasAForecastAsItsSource) {
  EXPECT_EQ(arrival_source(parse_spec(Collective::reduce, "by_arrival(pipeline)")), ArrivalSource::forecast);
  EXPECT_TRUE(depends_on_arrivals(parse_spec(Collective::reduce, "by_arrival(pipeline)")));
}

}  // namespace
}  // namespace convene::collective
