// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter, bcast, barrier and allreduce with a forecast: rounds after late ranks, and the
// dependencies between ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "collective/core/algorithm.hpp"
#include "collective/parts/forecasts_for_test.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

/// Exit time of each rank, in rounds: a message takes one round, a rank sends one and receives one at a time,
/// in any possible order. A rank that has not arrived receives, but does nothing that depends on its input.
std::vector<std::int64_t> exits(const Plan& plan, const Arrivals& arrivals) {
  const MessageMatching links = link(plan);
  std::vector<std::int64_t> end(links.base.back(), 0), sends(plan.size(), 0), receives(plan.size(), 0);
  std::vector<Predecessors> before;
  for (const Schedule& schedule : plan) before.emplace_back(schedule);
  const auto ready = [&](Rank rank, StepId id) {
    const bool own = plan[rank][id].touches & (1u << index(Buffer::input));
    std::int64_t time = own ? arrivals[rank] : 0;
    for (const StepId on : before[rank][id]) time = std::max(time, end[links.at(rank, on)]);
    return time;
  };
  std::vector<bool> done(links.base.back(), false);
  const auto all_done = [&](Rank rank, StepId id) {
    for (const StepId on : before[rank][id])
      if (!done[links.at(rank, on)]) return false;
    return true;
  };
  struct Next {
    std::int64_t time;
    std::uint32_t round;
    Rank rank;
    StepId id;
    auto operator<=>(const Next&) const = default;
  };
  for (;;) {  // always the step that is possible first; by label if there are several
    std::optional<Next> next;
    for (const Schedule& schedule : plan)
      for (StepId id = 0; id < schedule.size(); ++id) {
        const Rank rank = schedule.rank(), peer = schedule[id].peer;
        const PlanStep at = links.at(rank, id);
        if (done[at] || schedule[id].kind == StepKind::recv || !all_done(rank, id)) continue;
        std::int64_t time = ready(rank, id);
        if (schedule[id].kind == StepKind::send) {
          const StepId other = links.step(peer, links.partner[at]);
          if (!all_done(peer, other)) continue;
          time = 1 + std::max({time, ready(peer, other), sends[rank], receives[peer]});
        }
        const Next found{time, schedule[id].round, rank, id};
        if (!next || found < *next) next = found;
      }
    if (!next) break;
    const PlanStep at = links.at(next->rank, next->id);
    end[at] = next->time;
    done[at] = true;
    if (plan[next->rank][next->id].kind != StepKind::send) continue;
    end[links.partner[at]] = sends[next->rank] = receives[plan[next->rank][next->id].peer] = next->time;
    done[links.partner[at]] = true;
  }
  std::vector<std::int64_t> result;
  for (const Schedule& schedule : plan) {
    result.push_back(arrivals[schedule.rank()]);
    for (StepId id = 0; id < schedule.size(); ++id) {
      const PlanStep at = links.at(schedule.rank(), id);
      EXPECT_TRUE(done[at]);
      result.back() = std::max(result.back(), end[at]);
    }
  }
  return result;
}

std::int64_t rounds_after(const Plan& plan, const Arrivals& arrivals) {
  const auto all = exits(plan, arrivals);
  return *std::max_element(all.begin(), all.end()) - *std::max_element(arrivals.begin(), arrivals.end());
}

Arrivals one_late(Rank procs, Rank late, std::int32_t rounds) {
  Arrivals arrivals(procs, 0);
  arrivals[late] = rounds;
  return arrivals;
}

TEST(Slt, TakesPMinus2PlusNRoundsAfterALateRank) {
  for (const Rank procs : {4, 7, 12})
    for (const std::int64_t segments : {1, 4, 16}) {
      const Arrivals arrivals = one_late(procs, procs / 2, 200);
      EXPECT_EQ(rounds_after(plan_of(Collective::allreduce, "slt", arrivals, segments), arrivals),
                procs - 2 + segments);
    }
}

// The figures in the head of allreduce_prr.cpp.
TEST(Prr, TakesNPPlusPMinus2RoundsAfterALateRank) {
  for (const Rank procs : {4, 7, 8})
    for (const std::int64_t segments : {1, 3}) {
      const Arrivals arrivals = one_late(procs, procs / 2, 400);
      EXPECT_EQ(rounds_after(plan_of(Collective::allreduce, "prr", arrivals, segments), arrivals),
                segments * procs + procs - 2);
      EXPECT_EQ(rounds_after(plan_of(Collective::allreduce, "segmented_ring", arrivals, segments), arrivals),
                2 * segments * (procs - 1));
    }
}

TEST(Prr, IsTheRingWhereNobodyIsLate) {
  for (Rank procs = 1; procs <= 20; ++procs) {
    const Plan prr = plan_of(Collective::allreduce, "prr", Arrivals(procs, 0), 1),
               ring = plan_of(Collective::allreduce, "ring", Arrivals(procs, 0));
    EXPECT_EQ(statistics(prr).rounds, statistics(ring).rounds);
    EXPECT_EQ(statistics(prr).messages, statistics(ring).messages);
    EXPECT_EQ(statistics(prr).most_messages_sent, statistics(ring).most_messages_sent);
  }
}

// In the head of allreduce_stragglar.cpp.
TEST(Stragglar, TakesTheFewestRoundsAfterALateRank) {
  for (Rank procs = 4; procs <= 24; ++procs)
    for (const std::int64_t segments : {1, 2}) {
      const Arrivals arrivals = one_late(procs, procs / 2, 400);
      const std::int64_t least = segments * (procs - 1) - 1 + std::bit_width(procs - 1),
                         took = rounds_after(plan_of(Collective::allreduce, "stragglar", arrivals, segments),
                                             arrivals);
      EXPECT_GE(took, least) << "P=" << procs;
      EXPECT_LE(took, least + (segments > 1)) << "P=" << procs;
    }
}

/// Two late ranks: each has to send its vector, of P − 1 chunks, while it receives the sum.
TEST(Stragglar, ServesTwoLateRanksTogether) {
  for (Rank procs = 4; procs <= 16; ++procs) {
    Arrivals arrivals = one_late(procs, 1, 400);
    arrivals[procs - 1] = 400;
    EXPECT_LE(rounds_after(plan_of(Collective::allreduce, "stragglar", arrivals), arrivals),
              procs + 1 + std::bit_width(procs - 1))
        << "P=" << procs;
  }
}

TEST(Stragglar, MutantsAreCaughtWithALateRank) {
  const Call call = call_of(Collective::allreduce, "stragglar", {0, 0, 9, 0}, 0);
  const Plan plan = build_plan(algorithm(Collective::allreduce, "stragglar"), call);
  const Contract wanted = contract(call, 3);
  int caught = 0;
  for (Rank rank = 0; rank < call.procs; ++rank) caught += caught_mutants(plan, rank, true, wanted);
  EXPECT_GT(caught, 50);
}

TEST(AdaptiveTree, NeedsOnlyABroadcastAfterTheLastRank) {
  for (Rank procs = 2; procs <= 33; ++procs) {
    const Arrivals arrivals = one_late(procs, procs / 3, 100);
    for (const Collective collective : {Collective::barrier, Collective::allreduce})
      EXPECT_EQ(rounds_after(plan_of(collective, "adaptive_tree", arrivals), arrivals),
                std::bit_width(procs - 1))
          << procs;
  }
}

TEST(SortedBinomial, NobodysBlockWaitsForTheLateOne) {
  for (Rank procs = 2; procs <= 33; ++procs)
    for (Rank late = 1; late < procs; ++late) {
      const Arrivals arrivals = one_late(procs, late, 100);
      for (const char* name : {"sbn", "bsbn"})
        EXPECT_EQ(rounds_after(plan_of(Collective::gather, name, arrivals), arrivals), 1) << procs;
      // A late rank of a scatter is a leaf: it sends nothing.
      for (const char* name : {"sbn", "bsbn"}) {
        const Plan plan = plan_of(Collective::scatter, name, arrivals);
        for (const Step& step : plan[late].steps()) EXPECT_NE(step.kind, StepKind::send) << procs;
      }
    }
}

// Without a forecast the sorted trees are the ordinary ones.
TEST(SortedBinomial, IsTheBinomialTreeWhereNobodyIsLate) {
  for (Rank procs = 1; procs <= 33; ++procs)
    for (const auto& [collective, sorted] :
         {std::pair{Collective::gather, "bsbn"}, {Collective::scatter, "sbn"}}) {
      const Plan plain = plan_of(collective, "binomial", Arrivals(procs, 0)),
                 tree = plan_of(collective, sorted, Arrivals(procs, 0));
      EXPECT_EQ(statistics(plain).rounds, statistics(tree).rounds);
      for (Rank rank = 0; rank < procs; ++rank) {
        std::multiset<std::pair<StepKind, Rank>> a, b;
        for (const Step& step : plain[rank].steps())
          if (step.is_message()) a.insert({step.kind, step.peer});
        for (const Step& step : tree[rank].steps())
          if (step.is_message()) b.insert({step.kind, step.peer});
        EXPECT_EQ(a, b);
      }
    }
}

// The first message of the root depends on its input in SLS, and not in BSLS; in the other pairs the receives
// do.
TEST(Background, IsWhatDependsOnNothingOfTheOwn) {
  const auto begins_early = [](const Schedule& schedule) {
    std::vector<bool> late(schedule.size(), false);
    for (StepId id = 0; id < schedule.size(); ++id) {
      late[id] = late[id] || (schedule[id].touches & 1) != 0;  // depends on the input
      if (late[id])
        for (const StepId next : schedule.successors(id)) late[next] = true;
      if (schedule[id].is_message() && !late[id]) return true;
    }
    return false;
  };
  const Arrivals arrivals{9, 5, 2, 0, 0, 1, 0, 7};
  EXPECT_TRUE(begins_early(plan_of(Collective::gather, "bsls", arrivals)[0]));
  EXPECT_FALSE(begins_early(plan_of(Collective::gather, "sls", arrivals)[0]));
  EXPECT_TRUE(begins_early(plan_of(Collective::gather, "bsbn", arrivals)[0]));
  EXPECT_FALSE(begins_early(plan_of(Collective::gather, "sbn", arrivals)[0]));
  // For every inner rank of the tree.
  for (Rank procs = 2; procs <= 17; ++procs)
    for (const Schedule& schedule : plan_of(Collective::gather, "sbn", Arrivals(procs, 0)))
      for (StepId id = 0; id < schedule.size(); ++id)
        EXPECT_TRUE(schedule[id].kind != StepKind::recv || schedule[id].predecessors > 0);
  for (const char* name : {"bsln", "bsbn"}) {
    const Plan plan = plan_of(Collective::scatter, name, arrivals);
    for (Rank rank = 1; rank < 8; ++rank)
      for (const Step& step : plan[rank].steps())
        if (step.kind == StepKind::recv) {
          EXPECT_EQ(step.touches & 2, 0);
        }
  }
  for (const char* name : {"sln", "sbn"}) {
    const Plan plan = plan_of(Collective::scatter, name, arrivals);
    for (Rank rank = 1; rank < 8; ++rank)
      for (const Step& step : plan[rank].steps())
        if (step.kind == StepKind::recv) {
          EXPECT_EQ(step.touches & 2, 2);
        }
  }
}

TEST(SortedBinomialScatter, KeepsNoPlaceForTheOwnBlock) {
  EXPECT_EQ(statistics(plan_of(Collective::scatter, "sbn", Arrivals(8, 0))).scratch, 3u);
  EXPECT_EQ(statistics(plan_of(Collective::scatter, "bsbn", Arrivals(8, 0))).scratch, 4u);
}

/// With balanced arrivals: as many rounds as the binomial tree; otherwise at most one round after the last
/// arrival, if all others are served before.
TEST(ListScheduledBcast, ServesALateRankWhenItComes) {
  for (Rank procs = 2; procs <= 40; ++procs) {
    EXPECT_EQ(statistics(plan_of(Collective::bcast, "list_scheduled", Arrivals(procs, 0))).rounds,
              std::bit_width(procs - 1));
    for (Rank late = 1; late < procs; ++late) {
      const Plan plan = plan_of(Collective::bcast, "list_scheduled", one_late(procs, late, 50));
      for (const Step& step : plan[late].steps()) EXPECT_EQ(step.kind, StepKind::recv);
    }
  }
}

/// One vector, of N segments, after a late rank on any place.
TEST(ListScheduledReduce, TakesOneVectorAfterALateRank) {
  for (const Rank procs : {2u, 3u, 8u, 13u})
    for (const std::int64_t segments : {1, 4, 16})
      for (const Rank per_node : {1u, 4u, procs})
        for (const Rank late : {Rank{0}, Rank{1}, procs - 1}) {
          const Arrivals arrivals = one_late(procs, late, 400);
          Call call = call_of(Collective::reduce, "list_scheduled", arrivals, segments);
          for (Rank rank = 0; rank < procs; ++rank) call.nodes.push_back(rank / per_node);
          const Plan plan = build_plan(algorithm(Collective::reduce, "list_scheduled"), call);
          if (late != call.root)
            EXPECT_EQ(rounds_after(plan, arrivals), segments) << procs << " " << per_node << " " << late;
          else  // it receives before it arrives
            EXPECT_EQ(rounds_after(plan, arrivals), 0) << procs << " " << per_node;
        }
}

/// The late rank's vector, and the broadcast of the last segment; on several nodes some rounds more.
TEST(ListScheduledAllreduce, TakesAVectorAndABroadcastAfterALateRank) {
  for (const Rank procs : {2u, 3u, 8u, 13u})
    for (const std::int64_t segments : {1, 4, 16})
      for (const Rank per_node : {1u, 4u, procs})
        for (const Rank late : {Rank{0}, Rank{1}, procs - 1}) {
          const Arrivals arrivals = one_late(procs, late, 400);
          Call call = call_of(Collective::allreduce, "list_scheduled", arrivals, segments);
          for (Rank rank = 0; rank < procs; ++rank) call.nodes.push_back(rank / per_node);
          const Plan plan = build_plan(algorithm(Collective::allreduce, "list_scheduled"), call);
          const std::int64_t least = segments + std::bit_width(procs - 1);
          EXPECT_GE(rounds_after(plan, arrivals), least) << procs << " " << per_node << " " << late;
          EXPECT_LE(rounds_after(plan, arrivals), least + 1 + (per_node == 4 ? segments / 3 : 0))
              << procs << " " << per_node << " " << late;
        }
}

/// Above the limit, segments travel in runs, and the forecast counts rounds of a run.
TEST(ListScheduledReduce, BoundsTheNumberOfMessages) {
  Call call = call_of(Collective::reduce, "list_scheduled", one_late(40, 7, 10000), 4000);
  const Algorithm& algorithm = collective::algorithm(Collective::reduce, "list_scheduled");
  const Plan plan = build_plan(algorithm, call);
  EXPECT_LE(statistics(plan).messages, 1u << 16);
  EXPECT_GT(statistics(plan).messages, 1u << 15);
  EXPECT_EQ(check(plan, contract(call, segments(algorithm, call))).why, "");
}

/// Between nodes each segment has at most one message for each node, and one for a late rank.
TEST(ListScheduledReduce, SendsFewMessagesBetweenNodes) {
  for (const std::int32_t delay : {0, 100}) {
    Call call = call_of(Collective::reduce, "list_scheduled", one_late(16, 6, delay), 4);
    for (Rank rank = 0; rank < 16; ++rank) call.nodes.push_back(rank / 4);
    unsigned between = 0;
    for (const Schedule& schedule : build_plan(algorithm(Collective::reduce, "list_scheduled"), call))
      for (const Step& step : schedule.steps())
        between += step.kind == StepKind::send && call.nodes[step.peer] != call.nodes[schedule.rank()];
    EXPECT_LE(between, delay == 0 ? 16u : 20u);
  }
}

}  // namespace
}  // namespace convene::collective
