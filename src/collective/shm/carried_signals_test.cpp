// SPDX-License-Identifier: BSD-3-Clause
// Signals that carry data (Algorithm::signals_can_carry): then every rank has its own copy of the shared
// places, and a signal is a message of the place that it passes on. The checker proves the schedules in that
// form as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "collective/core/served_for_test.hpp"
#include "schedule/testing/caught_mutants.hpp"

namespace convene::collective {
namespace {

/// A schedule with shared places in scratch and signals as messages of their places. A block is cut into
/// `pieces` places.
Schedule as_messages(const Schedule& schedule, const Call& call, std::uint32_t pieces) {
  Builder builder;
  const Places size = places(call, pieces);
  builder.begin(call.procs, call.rank);
  builder.buffer(Buffer::input, size.input);
  builder.buffer(Buffer::output, size.output);
  if (const auto same = in_place_alias(call, pieces)) builder.alias(same->alias, same->of, same->first);
  for (unsigned b = index(Buffer::scratch); b < schedule.buffers(); ++b)
    builder.scratch(schedule.sized_like(static_cast<Buffer>(b)));
  const Buffer copies = builder.scratch(std::vector<Place>(schedule.places(Buffer::shared), 0));
  const auto moved = [&](std::span<const Range> ranges) {
    std::vector<Range> result;
    for (const Range& range : ranges)
      result.emplace_back(range.buffer() == Buffer::shared ? copies : range.buffer(), range.first,
                          range.count(), range.stride);
    return result;
  };
  for (StepId id = 0; id < schedule.size(); ++id) {
    const Step& step = schedule[id];
    builder.round(step.round);
    if (step.kind == StepKind::send) builder.send(step.peer, moved(schedule.ranges(id)));
    if (step.kind == StepKind::recv) builder.recv(step.peer, moved(schedule.ranges(id)));
    if (step.kind == StepKind::copy) builder.copy(moved(schedule.from(id)), moved(schedule.to(id)));
    if (step.kind == StepKind::combine) builder.combine(moved(schedule.from(id)), moved(schedule.to(id)));
  }
  return builder.finish();
}

Plan messages_of(const Plan& plan, Call call, std::uint32_t pieces) {
  Plan result;
  for (call.rank = 0; call.rank < call.procs; ++call.rank)
    result.push_back(as_messages(plan[call.rank], call, pieces));
  return result;
}

class CarriedSignals : public testing::TestWithParam<Served> {
 protected:
  const Algorithm& algorithm() const { return *GetParam().algorithm; }

  std::uint32_t pieces(const Call& call) const { return segments(algorithm(), call); }

  /// Calls whose signals carry data, of these numbers of ranks.
  std::vector<Call> calls(Rank from, Rank to) const {
    std::vector<Call> result;
    for (Rank procs = from; procs <= to; ++procs)
      for (const auto& parameters : algorithm().sample_parameters())
        for (Rank root = 0; root < (is_rooted(GetParam().collective) ? procs : 1); ++root)
          for (const bool in_place : {false, true})
            if (algorithm().signals_can_carry(procs, parameters))
              result.push_back({.collective = GetParam().collective,
                                .procs = procs,
                                .root = root,
                                .in_place = in_place,
                                .parameters = parameters,
                                .commutative = false});
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(All, CarriedSignals,
                         testing::ValuesIn(all_served([](Collective, const Algorithm& algorithm) {
                           return algorithm.signals_can_carry != nullptr;
                         })),
                         test_name);

/// The messages of a pair, the rest of its block, follow its signal.
TEST_P(CarriedSignals, PassOnOnePlaceAndAreTheOnlyOnesOfAPair) {
  for (const Call& call : calls(1, 20))
    for (const Schedule& schedule : build_plan(algorithm(), call)) {
      std::set<std::pair<StepKind, Rank>> pairs;
      for (StepId id = 0; id < schedule.size(); ++id) {
        if (!schedule[id].is_message()) continue;
        ASSERT_EQ(schedule[id].match == 0, schedule[id].is_shm_signal());
        if (!schedule[id].is_shm_signal()) {
          ASSERT_EQ(algorithm().cut, Cut::head_first);
          continue;
        }
        ASSERT_TRUE(pairs.insert({schedule[id].kind, schedule[id].peer}).second);
        ASSERT_EQ(schedule.ranges(id).size(), 1u);
        ASSERT_EQ(schedule.ranges(id).front().count(), 1u);
      }
    }
}

TEST_P(CarriedSignals, AreCorrectAsMessagesForUpTo64ProcessesAndAllRoots) {
  for (const Call& call : calls(1, 64)) {
    const Plan plan = messages_of(build_plan(algorithm(), call), call, pieces(call));
    ASSERT_EQ(check(plan, contract(call, pieces(call))).why, "")
        << "P=" << call.procs << ", root " << call.root << (call.in_place ? ", in place" : "");
  }
}

/// What runs is the schedule with shared places: its steps are ordered at least as in the form that is
/// proved.
TEST_P(CarriedSignals, AreOrderedLikeMessages) {
  for (const Call& call : calls(1, 12)) {
    const Plan plan = build_plan(algorithm(), call), messages = messages_of(plan, call, pieces(call));
    for (Rank rank = 0; rank < call.procs; ++rank) {
      const Schedule &run = plan[rank], &proved = messages[rank];
      ASSERT_EQ(run.size(), proved.size());
      std::vector<std::vector<bool>> follows(run.size(), std::vector<bool>(run.size()));
      for (StepId id = run.size(); id-- > 0;)
        for (const StepId next : run.successors(id)) {
          follows[id][next] = true;
          for (StepId later = next; later < run.size(); ++later)
            if (follows[next][later]) follows[id][later] = true;
        }
      for (StepId id = 0; id < proved.size(); ++id)
        for (const StepId next : proved.successors(id))
          ASSERT_TRUE(follows[id][next]) << "P=" << call.procs << ", root " << call.root << ", rank " << rank
                                         << ": steps " << id << " and " << next;
    }
  }
}

/// The samples of its parameters have direct signals for few ranks only, since many segments of many ranks
/// take long.
TEST(SharedAllgather, SignalsDirectlyForUpTo64Processes) {
  const auto all = catalogue(Collective::allgather);
  const Algorithm& algorithm =
      **std::ranges::find(all, "shared", [](const Algorithm* each) { return each->name; });
  for (Rank procs = 17; procs <= 64; ++procs)
    for (const std::int64_t segments : {1, 3}) {
      Call call{.collective = Collective::allgather, .procs = procs};
      call.parameters = {segments, 64};
      const Plan plan = build_plan(algorithm, call);
      ASSERT_EQ(check(plan, contract(call, static_cast<std::uint32_t>(segments))).why, "") << "P=" << procs;
      if (segments == 1) {
        ASSERT_EQ(check(messages_of(plan, call, 1), contract(call, 1)).why, "") << "P=" << procs;
      }
    }
}

TEST_P(CarriedSignals, MutantsAreCaught) {
  int all = 0;
  for (const Call& call : calls(3, 5)) {
    const Plan plan = messages_of(build_plan(algorithm(), call), call, pieces(call));
    const Contract wanted = contract(call, pieces(call));
    int caught = 0;
    for (Rank rank = 0; rank < call.procs; ++rank) caught += caught_mutants(plan, rank, false, wanted);
    EXPECT_GT(caught, 0);
    all += caught;
  }
  RecordProperty("caught", all);
}

}  // namespace
}  // namespace convene::collective
