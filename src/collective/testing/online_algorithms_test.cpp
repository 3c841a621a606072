// SPDX-License-Identifier: BSD-3-Clause
// Online algorithms: every sequence of events in any order is a correct plan and terminates. Tests of single
// algorithms follow; forecasts_test.cpp shows that they deliver for all arrivals.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>
#include <set>
#include <string>

#include "collective/core/served_for_test.hpp"
#include "schedule/online/online_simulation.hpp"
#include "schedule/print/print.hpp"

namespace convene::collective {
namespace {

class Deciding : public testing::TestWithParam<Served> {
 protected:
  const Algorithm& algorithm() const { return *GetParam().algorithm; }

  Call call(Rank procs, Rank root, std::int64_t segments, bool in_place) const {
    Call of{.collective = GetParam().collective,
            .procs = procs,
            .root = root,
            .in_place = in_place,
            .parameters = algorithm().default_parameters()};
    if (const int i = algorithm().find_parameter("segments"); i >= 0)
      of.parameters[static_cast<std::size_t>(i)] = segments;
    return of;
  }

  OnlineSimulation interplay(Call of, bool in_background, bool eager) const {
    Builder builder;
    std::vector<Runnable> ranks;
    for (of.rank = 0; of.rank < of.procs; ++of.rank)
      ranks.push_back(build_runnable(algorithm(), of, builder));
    return OnlineSimulation(std::move(ranks),
                            {.arrivals = {}, .in_background = in_background, .eager = eager});
  }

  std::string why(const OnlineSimulation& over, const Call& of) const {
    if (std::string unfinished = over.unfinished(); !unfinished.empty()) return unfinished;
    return check(over.plan(), contract(of, segments(algorithm(), of))).why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, Deciding,
                         testing::ValuesIn(all_served([](Collective, const Algorithm& algorithm) {
                           return algorithm.is_online();
                         })),
                         test_name);

/// Explores all sequences of events, but only one of those in which each rank sees the same events: a rank's
/// behaviour is determined by its events, so these end alike.
class EveryCourse {
 public:
  using Judge = std::function<std::string(const OnlineSimulation&)>;
  EveryCourse(Judge judge, std::size_t most) : judge_(std::move(judge)), most_(most) {}

  /// The fault of the first sequence that has one.
  std::string take(const OnlineSimulation& state, std::vector<std::string> seen) {
    std::string all;
    for (const std::string& each : seen) all += each + '|';
    if (seen_.size() >= most_ || !seen_.insert(all).second) return "";
    const auto choices = state.choices();
    if (choices.empty()) {
      ++ended_;
      const std::string why = judge_(state);
      return why.empty() ? "" : why + " after " + all;
    }
    for (const OnlineSimulation::Choice& choice : choices) {
      OnlineSimulation next = state;
      std::vector<std::string> now = seen;
      const Event event = next.event(choice);
      now[choice.rank] += "bnsrq"[static_cast<int>(event.kind)] + std::to_string(event.peer) + "." +
                          std::to_string(event.slots.first) + " ";
      next.take(choice);
      if (std::string why = take(next, std::move(now)); !why.empty()) return why;
    }
    return "";
  }

  bool was_all() const { return seen_.size() < most_; }
  std::size_t ended() const { return ended_; }

 private:
  const Judge judge_;
  const std::size_t most_;
  std::set<std::string> seen_;
  std::size_t ended_ = 0;
};

TEST_P(Deciding, EndsWellInEveryCourseOfEventsOfTwoRanks) {
  for (const Rank procs : {1, 2})
    for (Rank root = 0; root < procs; ++root)
      for (const bool in_background : {false, true})
        for (const bool eager : {false, true}) {
          const Call of = call(procs, root, 1, root % 2 == 1);
          EveryCourse courses([&](const OnlineSimulation& over) { return why(over, of); }, 200'000);
          ASSERT_EQ(courses.take(interplay(of, in_background, eager), std::vector<std::string>(procs)), "")
              << "P=" << procs << ", root " << root << (in_background ? ", in background" : "");
          EXPECT_TRUE(courses.was_all());
          EXPECT_GT(courses.ended(), procs == 1 ? 0u : 1u);
        }
}

// All of them except arrival_nb, which has too many sequences.
TEST_P(Deciding, EndsWellInEveryCourseOfEventsOfThreeRanks) {
  for (const bool in_background : {false, true}) {
    const Call of = call(3, 1, 1, in_background);
    EveryCourse courses([&](const OnlineSimulation& over) { return why(over, of); }, 200'000);
    ASSERT_EQ(courses.take(interplay(of, in_background, in_background), std::vector<std::string>(3)), "");
    EXPECT_TRUE(courses.was_all() || courses.ended() > 1000);
  }
}

TEST_P(Deciding, EndsWellInRandomCoursesOfEvents) {
  std::mt19937 random(1);
  for (int i = 0; i < 6000; ++i) {
    const auto procs = static_cast<Rank>(1 + random() % (i < 5500 ? 12 : 40));
    const Call of = call(procs, static_cast<Rank>(random() % procs),
                         static_cast<std::int64_t>(1 + random() % 3), random() % 2 == 0);
    OnlineSimulation state = interplay(of, random() % 2 == 0, random() % 2 == 0);
    // Some ranks are late: their beginning is chosen only if no other event is possible.
    const std::uint64_t late = random() % 3 == 0 ? random() : 0;
    for (auto choices = state.choices(); !choices.empty(); choices = state.choices()) {
      std::shuffle(choices.begin(), choices.end(), random);
      const auto chosen = std::find_if(choices.begin(), choices.end(), [&](const auto& choice) {
        return state.event(choice).kind != Event::Kind::begun || (late >> choice.rank % 32 & 1) == 0;
      });
      state.take(chosen == choices.end() ? choices.front() : *chosen);
    }
    ASSERT_EQ(why(state, of), "") << "course " << i << ", P=" << procs << ", root " << of.root;
  }
}

TEST(OnlineAlgorithms, AreThoseThatLearnByMessages) {
  for (const Algorithm* each : catalogue())
    EXPECT_EQ(each->is_online(), each->arrival_source == ArrivalSource::messages) << each->name;
}

// --------------------------------------------------------------------------------------------------- facts

Plan plan_of(Collective collective, std::string_view wanted, Rank procs, std::vector<std::int32_t> arrivals,
             std::vector<Value> parameters = {}) {
  for (const Algorithm* each : catalogue(collective))
    if (each->name == wanted)
      return build_plan(*each, {.collective = collective,
                                .procs = procs,
                                .parameters = std::move(parameters),
                                .arrivals = std::move(arrivals)});
  throw std::logic_error("no such algorithm");
}

/// The data messages, round by round: "1>0 2>0 / 3>0".
std::string course(const Plan& plan) {
  std::string text;
  std::uint32_t rounds = 0;
  for (const Schedule& schedule : plan) rounds = std::max(rounds, schedule.rounds());
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::string line;
    for (const Schedule& schedule : plan)
      for (StepId id = 0; id < schedule.size(); ++id)
        if (schedule[id].kind == StepKind::send && schedule[id].round == round &&
            !schedule.ranges(id).empty())
          line += std::to_string(schedule.rank()) + ">" + std::to_string(schedule[id].peer) + " ";
    if (!line.empty()) text += (text.empty() ? "" : "/ ") + line;
  }
  return text;
}

TEST(LocalRedirect, HasTheRoundsOfABinomialTreeWhereAllComeTogether) {
  EXPECT_EQ(course(plan_of(Collective::reduce, "local_redirect", 8, {})), "1>0 3>2 5>4 7>6 / 2>0 4>6 / 6>0 ");
}

TEST(LocalRedirect, HasOneRoundAfterALateLeaf) {
  EXPECT_EQ(course(plan_of(Collective::reduce, "local_redirect", 4, {0, 0, 0, 5})), "1>0 / 2>0 / 3>0 ");
  EXPECT_EQ(course(plan_of(Collective::reduce, "local_redirect", 8, {0, 0, 0, 0, 0, 0, 0, 9})),
            "1>0 3>2 5>4 / 2>0 6>4 / 4>0 / 7>0 ");
}

TEST(LocalRedirect, PairsTheChildrenOfALateRank) {
  EXPECT_EQ(course(plan_of(Collective::reduce, "local_redirect", 8, {9, 0, 0, 0, 0, 0, 0, 0})),
            "3>2 5>4 7>6 / 6>4 / 1>0 2>4 / 4>0 ");
}

TEST(ArrivalB, ServesThoseFirstWhoHaveCome) {
  EXPECT_EQ(course(plan_of(Collective::bcast, "arrival_b", 4, {0, 0, 5, 0}, {1})), "0>1 / 1>3 / 0>2 ");
  EXPECT_EQ(course(plan_of(Collective::bcast, "arrival_b", 4, {}, {1})), "0>1 / 1>2 / 2>3 ");
}

TEST(ArrivalNb, PutsWhoeverComesBehindTheLast) {
  EXPECT_EQ(course(plan_of(Collective::bcast, "arrival_nb", 4, {0, 0, 5, 0}, {1})), "0>1 / 1>3 / 0>2 ");
  EXPECT_EQ(course(plan_of(Collective::bcast, "arrival_nb", 4, {0, 0, 1, 0}, {1})), "0>1 / 1>3 / 3>2 ");
}

}  // namespace
}  // namespace convene::collective
