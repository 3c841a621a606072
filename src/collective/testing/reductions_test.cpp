// SPDX-License-Identifier: BSD-3-Clause
// Properties of all algorithms of all reductions: every contribution is combined exactly once, in rank order
// if the operator does not commute, and in an allreduce by the same expression on all ranks. No test names an
// algorithm.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "collective/core/served_for_test.hpp"
#include "schedule/check/dataflow.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

class Reductions : public testing::TestWithParam<Served> {
 protected:
  using Parameters = std::vector<Value>;

  const Algorithm& algorithm() const { return *GetParam().algorithm; }
  bool rooted() const { return is_rooted(GetParam().collective); }

  Call call(Rank procs, Rank root, const Parameters& parameters, bool in_place, bool commutative) const {
    return {.collective = GetParam().collective,
            .procs = procs,
            .root = root,
            .in_place = in_place,
            .parameters = parameters,
            .commutative = commutative || algorithm().commutative_only};
  }

  bool can_run(Rank procs) const { return unmet_requirement(algorithm(), procs).empty(); }

  std::uint32_t places(const Call& of) const { return segments(algorithm(), of.procs, of.parameters); }

  void expect_correct(const Call& of) const {
    ASSERT_EQ(check(build_plan(algorithm(), of), contract(of, places(of))).why, "") << in_words(of);
  }

  std::set<Rank> some_roots(Rank procs) const {
    if (!rooted()) return {0};
    return {0, 1 % procs, procs / 2, procs - 1};
  }

  static std::string in_words(const Call& of) {
    std::string text = "P=" + std::to_string(of.procs) + ", root " + std::to_string(of.root) +
                       (of.in_place ? ", in place" : "") + (of.commutative ? "" : ", in order") +
                       ", parameters";
    for (const Value& value : of.parameters) text += " " + value_text(value);
    if (!of.arrivals.empty()) text += ", arrivals";
    for (const std::int32_t arrival : of.arrivals) text += " " + std::to_string(arrival);
    return text;
  }
};

INSTANTIATE_TEST_SUITE_P(All, Reductions,
                         testing::ValuesIn(all_served([](Collective collective, const Algorithm& algorithm) {
                           return !algorithm.is_native() && !algorithm.is_composed() &&
                                  is_reduction(collective);
                         })),
                         test_name);

/// Every number of processes with every combination of parameters, in both orders.
TEST_P(Reductions, AreCorrectForUpTo64Processes) {
  std::uint32_t turn = 0;
  for (Rank procs = 1; procs <= 64; ++procs)
    for (const Parameters& parameters : algorithm().sample_parameters()) {
      if (!can_run(procs)) continue;
      const std::set<Rank> roots = some_roots(procs);
      const Rank root = *std::next(roots.begin(), turn++ % static_cast<std::uint32_t>(roots.size()));
      for (const bool commutative : {true, false})
        expect_correct(call(procs, root, parameters, (turn + procs) % 2 == 0, commutative));
    }
}

/// Every root, with alternating parameters.
TEST_P(Reductions, AreCorrectForAllRoots) {
  if (!rooted()) GTEST_SKIP() << "no root";
  const auto grid = algorithm().sample_parameters();
  std::uint32_t turn = 0;
  for (Rank procs = 1; procs <= 64; ++procs)
    for (Rank root = 0; root < procs; ++root, ++turn)
      if (can_run(procs))
        expect_correct(call(procs, root, grid[turn % grid.size()], turn % 3 == 0, (turn + root) % 2 == 0));
}

/// Few processes, all combinations.
TEST_P(Reductions, AreCorrectInAllWaysForUpTo9Processes) {
  for (Rank procs = 1; procs <= 9; ++procs)
    for (const Parameters& parameters : algorithm().sample_parameters())
      for (Rank root = 0; root < (rooted() ? procs : 1); ++root)
        for (const bool in_place : {false, true})
          for (const bool commutative : {false, true})
            if (can_run(procs)) expect_correct(call(procs, root, parameters, in_place, commutative));
}

TEST_P(Reductions, AreCorrectForManyProcesses) {
  for (const Rank procs : {100, 128, 130, 259}) {
    if (algorithm().shared_places && procs > 130) continue;  // few nodes have as many cores
    if (can_run(procs))
      for (const bool commutative : {true, false})
        expect_correct(
            call(procs, rooted() ? procs / 3 : 0, algorithm().default_parameters(), false, commutative));
  }
}

/// A wrong forecast still gives a correct result.
TEST_P(Reductions, AreCorrectForRandomArrivals) {
  std::mt19937 random(4);
  const auto grid = algorithm().sample_parameters();
  for (int i = 0; i < 100; ++i) {
    const Rank procs = 2 + random() % 40;
    if (!can_run(procs)) continue;
    Call of = call(procs, rooted() ? random() % procs : 0, grid[random() % grid.size()], false, true);
    for (Rank rank = 0; rank < procs; ++rank)
      of.arrivals.push_back(random() % 3 == 0 ? 0 : static_cast<std::int32_t>(random() % 30));
    expect_correct(of);
  }
}

/// Segments may differ in size by an element, and blocks of a reduce_scatter by more: every place in scratch
/// must have the size of its contents.
TEST_P(Reductions, KeepSegmentsInScratchOfTheirSize) {
  for (const Rank procs : {2, 3, 5, 8, 13})
    for (const Parameters& parameters : algorithm().sample_parameters())
      for (const Rank root : some_roots(procs))
        for (const bool commutative : {true, false}) {
          if (!can_run(procs)) continue;
          const Call of = call(procs, root, parameters, false, commutative);
          const Plan plan = build_plan(algorithm(), of);
          const Contract wanted = contract(of, places(of));
          const MessageMatching links = link(plan);
          const Dataflow delivery(plan, links, wanted);
          ASSERT_EQ(delivery.fault(), "") << in_words(of);
          const auto own_place = [&](Rank rank, const Range& range, Place place) {  // in the vector
            if (index(range.buffer()) >= index(Buffer::scratch))
              return plan[rank].sized_like(range.buffer())[place];
            const bool is_block =
                range.buffer() == Buffer::output && wanted[rank].output.size() < wanted.reduction.segments;
            return is_block ? rank * places(of) + place : place;
          };
          for (Rank rank = 0; rank < procs; ++rank)
            for (StepId id = 0; id < plan[rank].size(); ++id) {
              const Step& step = plan[rank][id];
              if (step.kind == StepKind::recv && !step.is_shm_signal()) {
                const auto carried =
                    delivery.carried(step.peer, links.step(step.peer, links.partner[links.at(rank, id)]));
                std::size_t next = 0;
                for (const Range& range : plan[rank].ranges(id))
                  for_each_place(range, plan[rank].places(range.buffer()), [&](Place place) {
                    ASSERT_EQ(own_place(rank, range, place), delivery.expressions()->segment(carried[next++]))
                        << in_words(of) << ", rank " << rank << ", step " << id;
                  });
              } else if (!step.is_message() &&
                         (step.touches >> index(Buffer::shared) & 1) == 0) {  // is large enough for all
                std::vector<Place> from, to;
                const auto list = [&](std::span<const Range> ranges, std::vector<Place>& into) {
                  for (const Range& range : ranges)
                    for_each_place(range, plan[rank].places(range.buffer()),
                                   [&](Place place) { into.push_back(own_place(rank, range, place)); });
                };
                list(plan[rank].from(id), from);
                list(plan[rank].to(id), to);
                if (step.kind == StepKind::join) continue;
                ASSERT_EQ(from, to) << in_words(of);
              }
            }
        }
}

TEST_P(Reductions, MutantsAreCaught) {
  if (algorithm().is_online()) GTEST_SKIP() << "in a plan a notice can be dropped: what was decided stays";
  int all = 0;
  const auto grid = algorithm().sample_parameters();
  for (const Rank procs : {3, 4, 7}) {
    if (!can_run(procs)) continue;
    for (std::size_t i = 0; i<grid.size(); i += grid.size()> 3 ? 2 : 1)
      for (const bool commutative : {false, true}) {
        const Call of = call(procs, rooted() ? procs - 1 : 0, grid[i], false, commutative);
        if (commutative != of.commutative || places(of) > 8) continue;
        const Plan plan = build_plan(algorithm(), of);
        const Contract wanted = contract(of, places(of));
        int caught = 0;
        for (Rank rank = 0; rank < procs; ++rank)
          caught += caught_mutants(plan, rank, of.commutative, wanted, in_words(of));
        EXPECT_GT(caught, 0);
        all += caught;
      }
  }
  RecordProperty("caught", all);
}

TEST(CommutativeOnly, IsARequirement) {
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->is_composed()) continue;
    EXPECT_EQ(unmet_requirement(*algorithm, 4, false).empty(), !algorithm->commutative_only)
        << algorithm->name;
  }
}

}  // namespace
}  // namespace convene::collective
