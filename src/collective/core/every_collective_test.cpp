// SPDX-License-Identifier: BSD-3-Clause
// Properties of all algorithms of all collectives: no test names an algorithm.
#include <gtest/gtest.h>

#include "collective/core/served_for_test.hpp"
#include "schedule/check/dataflow.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

class EveryCollective : public testing::TestWithParam<Served> {
 protected:
  const Algorithm& algorithm() const { return *GetParam().algorithm; }

  Call call(Rank procs, Rank root, bool in_place, const std::vector<Value>& parameters) const {
    return {.collective = GetParam().collective,
            .procs = procs,
            .root = root,
            .in_place = in_place,
            .parameters = parameters};
  }

  std::vector<Rank> roots(Rank procs) const {
    std::vector<Rank> result;
    for (Rank root = 0; root < (is_rooted(GetParam().collective) ? procs : 1); ++root) result.push_back(root);
    return result;
  }

  /// Not in place and in place, if that makes a difference.
  std::vector<bool> ways(Rank procs, Rank root) const {
    Call of = call(procs, root, true, {});
    of.rank = root;
    return in_place_alias(of, 1) ? std::vector{false, true} : std::vector{false};
  }

  std::string why(const Call& of) const {
    return check(build_plan(algorithm(), of), contract(of, segments(algorithm(), of.procs, of.parameters)))
        .why;
  }

  static std::string in_words(const Call& of) {
    std::string text = "P=" + std::to_string(of.procs) + ", root " + std::to_string(of.root) +
                       (of.in_place ? ", in place" : "") + ", parameters";
    for (const Value& value : of.parameters) text += " " + value_text(value);
    return text;
  }
};

INSTANTIATE_TEST_SUITE_P(All, EveryCollective,
                         testing::ValuesIn(all_served([](Collective collective, const Algorithm& algorithm) {
                           return !algorithm.is_native() &&
                                  !algorithm.is_composed() &&  // tested in composition_test.cpp
                                  !is_reduction(collective);   // tested in reductions_test.cpp
                         })),
                         test_name);

TEST_P(EveryCollective, IsCorrectForUpTo64ProcessesAndAllRoots) {
  for (Rank procs = 1; procs <= 64; ++procs)
    if (unmet_requirement(algorithm(), procs).empty())
      for (const auto& parameters : algorithm().sample_parameters())
        for (const Rank root : roots(procs))
          for (const bool in_place : ways(procs, root)) {
            const Call of = call(procs, root, in_place, parameters);
            ASSERT_EQ(why(of), "") << in_words(of);
          }
}

TEST_P(EveryCollective, IsCorrectBeyondTheExecutorsLimits) {
  for (const Rank procs : {128, 130, 259})
    if (unmet_requirement(algorithm(), procs).empty())
      for (const auto& parameters : algorithm().sample_parameters()) {
        const Call of = call(procs, is_rooted(GetParam().collective) ? procs / 3 : 0, false, parameters);
        ASSERT_EQ(why(of), "") << in_words(of);
      }
}

/// A rank that forwards others' blocks must learn their sizes first; whether it does is equal on all ranks.
TEST_P(EveryCollective, SaysWhetherItRelaysBlocks) {
  const Collective collective = GetParam().collective;
  if (collective != Collective::gatherv && collective != Collective::scatterv) GTEST_SKIP() << "equal blocks";
  bool relays = false;
  for (const auto& parameters : algorithm().sample_parameters()) {
    const Rank per_block = segments(algorithm(), 8, parameters);
    for (const Schedule& schedule : build_plan(algorithm(), call(8, 0, false, parameters)))
      for (unsigned b = index(Buffer::scratch); schedule.rank() != 0 && b < schedule.buffers(); ++b)
        for (const Place sized_like : schedule.sized_like(static_cast<Buffer>(b)))
          relays |= sized_like / per_block != schedule.rank();
  }
  EXPECT_EQ(relays, algorithm().relays);
}

/// If blocks differ in size, every place in scratch must be large enough for its contents.
TEST_P(EveryCollective, KeepsBlocksInScratchOfTheirSize) {
  const Collective collective = GetParam().collective;
  if (collective != Collective::gatherv && collective != Collective::scatterv) GTEST_SKIP() << "equal blocks";
  for (const Rank procs : {2, 3, 5, 8, 13, 16})
    for (const auto& parameters : algorithm().sample_parameters())
      for (const Rank root : roots(procs)) {
        if (!unmet_requirement(algorithm(), procs).empty()) continue;
        const Call of = call(procs, root, false, parameters);
        const Plan plan = build_plan(algorithm(), of);
        const MessageMatching links = link(plan);
        const Dataflow delivery(plan, links, contract(of, segments(algorithm(), procs, parameters)));
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
                ASSERT_EQ(schedule.sized_like(range.buffer())[place], static_cast<Place>(content))
                    << in_words(of);
              });
          }
      }
}

TEST_P(EveryCollective, MutantsAreCaught) {
  if (algorithm().is_online()) GTEST_SKIP() << "in a plan a notice can be dropped: what was decided stays";
  int all = 0;
  for (const Rank procs : {3, 4, 7}) {
    if (!unmet_requirement(algorithm(), procs).empty()) continue;
    for (const auto& parameters : algorithm().sample_parameters()) {
      const Call of = call(procs, roots(procs).back(), false, parameters);
      const Plan plan = build_plan(algorithm(), of);
      const Contract wanted = contract(of, segments(algorithm(), procs, parameters));
      int caught = 0;
      for (Rank rank = 0; rank < procs; ++rank)
        caught += caught_mutants(plan, rank, of.commutative, wanted, in_words(of));
      EXPECT_GT(caught, 0);
      all += caught;
    }
  }
  RecordProperty("caught", all);
}

}  // namespace
}  // namespace convene::collective
