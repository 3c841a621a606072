// SPDX-License-Identifier: BSD-3-Clause
// Mutation test of the checker: it must find every fault in mutants of every algorithm's schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "collective/core/algorithm.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::collective {
namespace {

class MutantOf : public testing::TestWithParam<const Algorithm*> {};

std::vector<const Algorithm*> own_algorithms() {
  std::vector<const Algorithm*> result;
  for (const Algorithm* each : catalogue(Collective::allgather))
    if (!each->is_native() && !each->is_composed()) result.push_back(each);
  return result;
}

/// True if the text names a rank and a step or, if the fault is a missing step, a rank, a place and a block.
bool names_the_place(const std::string& why) {
  const auto has = [&](const char* part) { return why.find(part) != std::string::npos; };
  const bool step = has("rank ") && has(", step ") && has("(round ");
  return step ||
         (has("rank ") && has(": output place ") && has(" should hold block ") && has("no step writes it"));
}

struct Count {
  int caught = 0, equivalent = 0;
};

class EveryMutant {
 public:
  EveryMutant(const Algorithm& algorithm, Rank procs, bool in_place, std::vector<Value> parameters)
      : plan_(build_plan(algorithm, Call{.procs = procs, .in_place = in_place, .parameters = parameters})),
        contract_(
            contract(Call{.procs = procs, .in_place = in_place}, segments(algorithm, procs, parameters))) {}

  void judge(Rank rank, std::map<std::string, Count>& counts) {
    Mutants(plan_, rank).each([&](const Mutant& mutant) {
      const std::string why = check(mutant.plan, contract_).why;
      EXPECT_EQ(why.empty(), mutant.equivalent) << mutant.what << " at step " << mutant.step << " of rank "
                                                << rank << " of " << plan_.size() << ": " << why;
      EXPECT_TRUE(why.empty() || names_the_place(why)) << mutant.what << ": " << why;
      ++(mutant.equivalent ? counts[mutant.what].equivalent : counts[mutant.what].caught);
    });
  }

 private:
  const Plan plan_;
  const Contract contract_;
};

INSTANTIATE_TEST_SUITE_P(Allgather, MutantOf, testing::ValuesIn(own_algorithms()),
                         [](const auto& of) { return std::string(of.param->name); });

/// True if some step of a plan depends on another step of the same rank.
bool forwards(const Algorithm& algorithm) {
  const Plan plan = build_plan(algorithm, Call{.procs = 4, .parameters = algorithm.default_parameters()});
  return std::any_of(plan.begin(), plan.end(), [](const Schedule& schedule) { return schedule.edges() > 0; });
}

TEST_P(MutantOf, IsCaught) {
  std::map<std::string, Count> counts;
  for (const Rank procs : {2, 3, 4, 5, 7, 8, 12, 16}) {
    if (!unmet_requirement(*GetParam(), procs).empty()) continue;
    // Of larger plans, one sample of the parameters.
    std::vector<std::vector<Value>> samples = GetParam()->sample_parameters();
    if (procs >= 12) samples = {samples[procs % samples.size()]};
    for (const auto& parameters : samples)
      for (const bool in_place : {false, true}) {
        EveryMutant every(*GetParam(), procs, in_place, parameters);
        // Rank 0 is often special, the others are alike; so larger plans are sampled.
        const std::set<Rank> ranks =
            procs < 12 ? std::set<Rank>{0, 1, procs / 2, procs - 1} : std::set<Rank>{0, procs / 2};
        for (const Rank rank : ranks) every.judge(rank, counts);
      }
  }
  for (const auto* what :
       {"step dropped", "message dropped", "wrong peer", "wrong block", "one block more", "wrong number"})
    EXPECT_GT(counts[what].caught, 0) << what;
  // A plan that forwards nothing has no dependencies.
  const int dependencies = counts["dependency dropped"].caught + counts["dependency dropped"].equivalent;
  EXPECT_EQ(counts["dependency reversed"].caught, dependencies);
  EXPECT_EQ(counts["dependency dropped"].caught > 0, forwards(*GetParam()));
  for (const auto& [what, count] : counts)
    RecordProperty(
        what, std::to_string(count.caught) + " caught, " + std::to_string(count.equivalent) + " equivalent");
}

}  // namespace
}  // namespace convene::collective
