// SPDX-License-Identifier: BSD-3-Clause
// Properties of all allgather algorithms beyond every_collective_test.cpp. No test names an algorithm, except
// those of a fact about it.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "collective/core/algorithm.hpp"
#include "schedule/check/dataflow.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/print/print.hpp"

namespace convene::collective {
namespace {

const Algorithm& algorithm(std::string_view name) {
  const auto all = catalogue(Collective::allgather);
  return **std::find_if(all.begin(), all.end(), [&](const Algorithm* each) { return each->name == name; });
}

Plan plan_of(const Algorithm& algorithm, Rank procs, std::vector<Value> parameters, bool in_place = false,
             Collective collective = Collective::allgather) {
  return build_plan(algorithm, Call{.collective = collective,
                                    .procs = procs,
                                    .in_place = in_place,
                                    .parameters = std::move(parameters)});
}

Plan plan_of(std::string_view name, Rank procs) {
  return plan_of(algorithm(name), procs, algorithm(name).default_parameters());
}

std::string in_words(const Algorithm& algorithm, Rank procs, const std::vector<Value>& parameters) {
  std::string text = std::string(algorithm.name) + ", P=" + std::to_string(procs);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += ", " + std::string(algorithm.parameters[i].name) + "=" + value_text(parameters[i]);
  return text;
}

std::uint32_t log2_up(Rank procs) { return static_cast<std::uint32_t>(std::bit_width(procs - 1)); }

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {
 protected:
  /// Calls visit(procs, parameters) for every P that meets the requirement.
  template <class Visit>
  void each_case(Rank most_procs, Visit&& visit) const {
    for (Rank procs = 1; procs <= most_procs; ++procs)
      if (unmet_requirement(*GetParam(), procs).empty())
        for (const auto& parameters : GetParam()->sample_parameters()) visit(procs, parameters);
  }
};

std::vector<const Algorithm*> own_algorithms() {
  std::vector<const Algorithm*> result;
  for (const Algorithm* each : catalogue(Collective::allgather))
    if (!each->is_native() && !each->is_composed()) result.push_back(each);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Allgather, EveryAlgorithm, testing::ValuesIn(own_algorithms()),
                         [](const auto& of) { return std::string(of.param->name); });

// Every block reaches every rank exactly once, which is the minimum; in place, nothing else differs.
TEST_P(EveryAlgorithm, ReceivesEveryForeignBlockOnce) {
  if (GetParam()->shared_places) GTEST_SKIP() << "sends no messages";
  each_case(33, [&](Rank procs, const std::vector<Value>& parameters) {
    for (const bool in_place : {false, true}) {
      const Statistics counts = statistics(plan_of(*GetParam(), procs, parameters, in_place));
      const std::uint64_t foreign = std::uint64_t{procs - 1} * segments(*GetParam(), procs, parameters);
      ASSERT_EQ(counts.blocks, procs * foreign) << in_words(*GetParam(), procs, parameters);
      ASSERT_EQ(counts.most_blocks_received, foreign) << in_words(*GetParam(), procs, parameters);
    }
  });
}

/// A slot as its relabelled form: places of the output move, those of other buffers stay.
using Slots = std::vector<std::pair<Buffer, Place>>;

Slots slots_of(const Schedule& schedule, StepId id) {
  Slots slots;
  for (const Range& range : schedule.ranges(id))
    for_each_place(range, schedule.places(range.buffer()),
                   [&](Place place) { slots.emplace_back(range.buffer(), place); });
  return slots;
}

/// True if a rank's schedule is rank 0's with every peer and every place of the output relabelled.
template <class Relabel>
testing::AssertionResult is_relabelled(const Schedule& first, const Schedule& mine, Relabel&& relabel) {
  const auto differs = [&](StepId id, const char* what) {
    return testing::AssertionFailure()
           << "step " << id << " of rank " << mine.rank() << " differs in its " << what;
  };
  if (first.size() != mine.size()) return testing::AssertionFailure() << "another number of steps";
  for (StepId id = 0; id < first.size(); ++id) {
    const Step &a = first[id], &b = mine[id];
    if (a.kind != b.kind || a.round != b.round || a.match != b.match || a.transfer != b.transfer)
      return differs(id, "kind, round, number or transfer");
    if (a.is_message() && relabel(a.peer) != b.peer) return differs(id, "peer");
    Slots wanted = slots_of(first, id);
    for (auto& [buffer, place] : wanted)
      if (buffer == Buffer::output) place = relabel(place);
    // Under an exchange the slots of a message change their order, in the same way at both ends.
    Slots found = slots_of(mine, id);
    std::sort(wanted.begin(), wanted.end());
    std::sort(found.begin(), found.end());
    if (wanted != found) return differs(id, "slots");
    if (!std::ranges::equal(first.successors(id), mine.successors(id))) return differs(id, "successors");
  }
  return testing::AssertionSuccess();
}

TEST_P(EveryAlgorithm, HasTheSymmetryThatItClaims) {
  if (GetParam()->symmetry == Symmetry::none) GTEST_SKIP() << "claims none";
  each_case(17, [&](Rank procs, const std::vector<Value>& parameters) {
    // A run of blocks that wraps around the buffer's end is split at a different block on each rank.
    const int wrap = GetParam()->find_parameter("wrap");
    if (wrap >= 0 && parameters[static_cast<std::size_t>(wrap)] != 0) return;
    for (const bool in_place : {false, true}) {
      const Plan plan = plan_of(*GetParam(), procs, parameters, in_place);
      for (const Schedule& schedule : plan) {
        const auto relabel = [&](Rank number) {
          return GetParam()->symmetry == Symmetry::rotation ? (number + schedule.rank()) % procs
                                                            : number ^ schedule.rank();
        };
        ASSERT_TRUE(is_relabelled(plan[0], schedule, relabel)) << in_words(*GetParam(), procs, parameters);
      }
    }
  });
}

TEST_P(EveryAlgorithm, FitsIntoItsMemory) {
  for (const Rank procs : {64, 1024})
    for (const auto& parameters : GetParam()->sample_parameters()) {
      if (!unmet_requirement(*GetParam(), procs).empty()) continue;
      Builder builder;
      for (const Rank rank : {0u, 1u, procs / 2, procs - 1}) {
        const Schedule schedule =
            build_schedule(*GetParam(), {.procs = procs, .rank = rank, .parameters = parameters}, builder);
        EXPECT_LE(schedule.memory(), 64 * std::size_t{schedule.size()} + sizeof(Schedule) + sizeof(Step))
            << in_words(*GetParam(), procs, parameters);
      }
    }
}

TEST(Sparbit, HasTheRoundsOfItsSource) {
  const std::map<Rank, std::uint32_t> wanted{{5, 3}, {8, 3}, {12, 4}, {21, 5}, {66, 7}, {84, 7}, {317, 9}};
  for (const auto& [procs, rounds] : wanted)
    EXPECT_EQ(statistics(plan_of("sparbit", procs)).rounds, rounds) << procs;
}

TEST(Sparbit, SendsEveryBlockOnceInLogarithmicallyManyRounds) {
  std::set<Rank> all = {255, 256, 257, 511, 512, 513, 600};
  for (Rank procs = 1; procs < 600; procs += procs < 160 ? 1 : 37) all.insert(procs);
  for (const Rank procs : all) {
    const Plan plan = plan_of("sparbit", procs);
    const MessageMatching links = link(plan);
    ASSERT_EQ(links.fault, "");
    const Dataflow delivery(plan, links, contract(Call{.procs = procs}, 1));
    ASSERT_EQ(delivery.fault(), "") << procs;  // a block that is delivered twice is a fault
    const Statistics counts = statistics(plan);
    ASSERT_EQ(counts.rounds, log2_up(procs)) << procs;
    ASSERT_EQ(counts.blocks, std::uint64_t{procs} * (procs - 1)) << procs;
    ASSERT_EQ(counts.most_blocks_sent, procs - 1) << procs;
  }
}

TEST(Sparbit, SendsAsManyMessagesAsItsWaysOfSendingSay) {
  const Algorithm& sparbit = algorithm("sparbit");
  const auto& words = sparbit.parameters[0].words;
  const auto messages = [&](Rank procs, std::string_view way, std::int64_t batch) {
    const auto word = std::find(words.begin(), words.end(), way) - words.begin();
    return statistics(plan_of(sparbit, procs, {word, batch})).most_messages_sent;
  };
  for (const Rank procs : {2, 3, 5, 8, 12, 21, 64, 66}) {
    EXPECT_EQ(messages(procs, "blocks", 1), procs - 1);
    EXPECT_EQ(messages(procs, "batch", 1), procs - 1);
    EXPECT_EQ(messages(procs, "batch", procs), log2_up(procs));
    for (const auto* way : {"joined", "packed", "datatype"})
      EXPECT_EQ(messages(procs, way, 1), log2_up(procs));
  }
  EXPECT_EQ(messages(16, "batch", 3), 1u + 1u + 2u + 3u);  // rounds of 1, 2, 4 and 8 blocks
}

// In every round the messages form g disjoint rings of k ranks each, g·k = P.
TEST(Sparbit, MessagesOfARoundFormEqualRings) {
  for (const Rank procs : {4, 5, 8, 12, 21, 64, 66, 84}) {
    const Plan plan = plan_of("sparbit", procs);
    for (std::uint32_t round = 0; round < log2_up(procs); ++round) {
      std::vector<Rank> next(procs, procs);
      for (const Schedule& schedule : plan)
        for (const Step& step : schedule.steps())
          if (step.kind == StepKind::send && step.round == round) next[schedule.rank()] = step.peer;
      std::vector<Rank> sizes;
      std::vector<bool> passed(procs, false);
      for (Rank start = 0; start < procs; ++start) {
        if (passed[start]) continue;
        Rank size = 0, at = start;
        for (; !passed[at]; at = next[at], ++size) {
          passed[at] = true;
          ASSERT_LT(next[at], procs) << "rank " << at << " sends nothing in round " << round;
        }
        ASSERT_EQ(at, start) << "not a ring";
        sizes.push_back(size);
      }
      EXPECT_EQ(sizes, std::vector<Rank>(sizes.size(), procs / static_cast<Rank>(sizes.size()))) << procs;
    }
  }
}

// With one block only (allgatherv's broadcast distribution) it is a binomial broadcast.
TEST(Sparbit, OneBlockAloneIsBroadcastThroughABinomialTree) {
  for (const Rank procs : {1, 2, 4, 8, 16, 64}) {
    const Plan plan = plan_of("sparbit", procs);
    const MessageMatching links = link(plan);
    const Dataflow delivery(plan, links, contract(Call{.procs = procs}, 1));
    std::vector<std::uint32_t> arrives(procs, 0);         // round, counted from 1; 0 for the owner
    std::vector<std::vector<std::uint32_t>> sent(procs);  // rounds in which a rank forwards the block
    for (std::uint32_t round = 0; round < log2_up(procs); ++round)
      for (const Schedule& schedule : plan)
        for (StepId id = 0; id < schedule.size(); ++id) {
          const auto carried = delivery.carried(schedule.rank(), id);
          if (schedule[id].round != round || std::count(carried.begin(), carried.end(), 0) == 0) continue;
          sent[schedule.rank()].push_back(round);
          arrives[schedule[id].peer] = round + 1;
        }
    // Every rank that has the block forwards it in every later round.
    for (Rank rank = 0; rank < procs; ++rank) {
      std::vector<std::uint32_t> rest(log2_up(procs) - arrives[rank]);
      std::iota(rest.begin(), rest.end(), arrives[rank]);
      EXPECT_EQ(sent[rank], rest) << "rank " << rank << " of " << procs;
    }
  }
}

std::string text_of(std::string_view name, Rank procs) {
  const Algorithm& chosen = algorithm(name);
  const PlanInfo info{.collective = "allgather",
                      .algorithm = std::string(name),
                      .procs = procs,
                      .segments = segments(chosen, procs, chosen.default_parameters())};
  return to_text(plan_of(name, procs), info, contract(Call{.procs = procs}, info.segments));
}

TEST(Golden, SparbitOf5) {
  EXPECT_EQ(
      text_of("sparbit", 5),
      R"(allgather by sparbit, 5 processes: 3 rounds, 20 messages, 20 blocks; the busiest rank sends 4 blocks in 4 messages

round 0
  rank  sends   receives
     0  0 to 4  1 from 1
     1  1 to 0  2 from 2
     2  2 to 1  3 from 3
     3  3 to 2  4 from 4
     4  4 to 3  0 from 0

round 1
  rank  sends   receives
     0  0 to 2  3 from 3
     1  1 to 3  4 from 4
     2  2 to 4  0 from 0
     3  3 to 0  1 from 1
     4  4 to 1  2 from 2

round 2
  rank  sends           receives
     0  0 to 1, 3 to 1  4 from 4, 2 from 4
     1  1 to 2, 4 to 2  0 from 0, 3 from 0
     2  2 to 3, 0 to 3  1 from 1, 4 from 1
     3  3 to 4, 1 to 4  2 from 2, 0 from 2
     4  4 to 0, 2 to 0  3 from 3, 1 from 3
)");
}

TEST(Golden, NeighborExchangeOf4) {
  EXPECT_EQ(
      text_of("neighbor_exchange", 4),
      R"(allgather by neighbor_exchange, 4 processes: 2 rounds, 8 messages, 12 blocks; the busiest rank sends 3 blocks in 2 messages

round 0
  rank  sends   receives
     0  0 to 1  1 from 1
     1  1 to 0  0 from 0
     2  2 to 3  3 from 3
     3  3 to 2  2 from 2

round 1
  rank  sends     receives
     0  0,1 to 3  2,3 from 3
     1  0,1 to 2  2,3 from 2
     2  2,3 to 1  0,1 from 1
     3  2,3 to 0  0,1 from 0
)");
}

TEST(Golden, GatherAndBroadcastOf3) {
  EXPECT_EQ(
      text_of("gather_bcast", 3),
      R"(allgather by gather_bcast, 3 processes: 4 rounds, 4 messages, 6 blocks; the busiest rank sends 4 blocks in 2 messages

round 0
  rank  sends   receives
     0          1 from 1
     1  1 to 0

round 1
  rank  sends   receives
     0          2 from 2
     2  2 to 0

round 2
  rank  sends     receives
     0  0,1 to 2
     2            0,1 from 0

round 3
  rank  sends     receives
     0  2,0 to 1
     1            2,0 from 0
)");
}

TEST(Catalogue, EveryRequirementIsKeptToByItsAlgorithm) {
  // An algorithm must not be called if its requirement is not met; otherwise all of P = 1 … 64 were checked.
  EXPECT_EQ(unmet_requirement(algorithm("recursive_doubling"), 8), "");
  EXPECT_NE(unmet_requirement(algorithm("recursive_doubling"), 6), "");
  EXPECT_NE(unmet_requirement(algorithm("neighbor_exchange"), 5), "");
  EXPECT_EQ(unmet_requirement(algorithm("sparbit"), 7), "");
}

}  // namespace
}  // namespace convene::collective
