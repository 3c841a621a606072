// SPDX-License-Identifier: BSD-3-Clause
// The parameter "pace" of every algorithm that has it.
#include "collective/parts/pace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "collective/core/served_for_test.hpp"
#include "schedule/check/checker.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::collective {
namespace {

class PacedAlgorithm : public testing::TestWithParam<Served> {
 protected:
  const Algorithm& algorithm() const { return *GetParam().algorithm; }

  /// Ranks 0, 3, 6, … arrive one round after the other, if the algorithm uses forecasts.
  Call call(Rank procs, Pace pace, std::uint32_t segments = 3) const {
    Call result{.collective = GetParam().collective,
                .procs = procs,
                .root = procs / 3,
                .parameters = algorithm().default_parameters()};
    if (!is_rooted(result.collective)) result.root = 0;
    if (algorithm().find_parameter("segments") == 0) result.parameters[0] = segments;
    result.parameters[static_cast<std::size_t>(algorithm().find_parameter("pace"))] =
        static_cast<std::int64_t>(pace);
    if (algorithm().arrival_source != ArrivalSource::none)
      for (Rank rank = 0; rank < procs; ++rank)
        result.arrivals.push_back(rank % 3 == 0 ? static_cast<std::int32_t>(rank / 3) : 0);
    return result;
  }
};

/// By pairs of messages of different rounds of one rank: whether the later one waits for the earlier one.
std::pair<std::size_t, std::size_t> pairs_that_wait(const Schedule& schedule) {
  const auto before = closure(schedule);
  std::size_t wait = 0, all = 0;
  for (StepId later = 0; later < schedule.size(); ++later)
    for (StepId earlier = 0; earlier < schedule.size(); ++earlier) {
      if (!schedule[later].is_message() || !schedule[earlier].is_message()) continue;
      if (schedule[earlier].round >= schedule[later].round) continue;
      ++all;
      if (before[later][earlier]) ++wait;
    }
  return {wait, all};
}

std::vector<std::tuple<StepKind, Rank, std::uint32_t>> messages_of(const Schedule& schedule) {
  std::vector<std::tuple<StepKind, Rank, std::uint32_t>> result;
  for (const Step& step : schedule.steps())
    if (step.is_message()) result.emplace_back(step.kind, step.peer, step.round);
  return result;
}

TEST_P(PacedAlgorithm, WaitsForAllMessagesOfEarlierRounds) {
  for (Rank procs = 2; procs <= 12; ++procs) {
    const Plan paced = build_plan(algorithm(), call(procs, Pace::rounds));
    const Plan free = build_plan(algorithm(), call(procs, Pace::free));
    std::size_t waits_if_free = 0, all = 0;
    for (Rank rank = 0; rank < procs; ++rank) {
      ASSERT_EQ(messages_of(paced[rank]), messages_of(free[rank])) << "P=" << procs << ", rank " << rank;
      const auto [wait, of] = pairs_that_wait(paced[rank]);
      EXPECT_EQ(wait, of) << "P=" << procs << ", rank " << rank;
      waits_if_free += pairs_that_wait(free[rank]).first;
      all += of;
    }
    if (procs > 2) {
      EXPECT_LT(waits_if_free, all) << "P=" << procs;
    }
  }
}

TEST_P(PacedAlgorithm, DeliversOnUpTo64Processes) {
  for (Rank procs = 1; procs <= 64; ++procs) {
    const Call of = call(procs, Pace::rounds, 1 + procs % 3);
    ASSERT_EQ(check(build_plan(algorithm(), of), contract(of, segments(algorithm(), of))).why, "")
        << "P=" << procs;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PacedAlgorithm,
                         testing::ValuesIn(all_served([](Collective, const Algorithm& algorithm) {
                           return algorithm.find_parameter("pace") >= 0;
                         })),
                         test_name);

}  // namespace
}  // namespace convene::collective
