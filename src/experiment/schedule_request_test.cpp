// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/schedule_request.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "experiment/plan_extent.hpp"
#include "experiment/spec_requirements.hpp"
#include "schedule/core/schedule_statistics.hpp"

namespace convene::experiment {
namespace {

/// The error of a request, or "(no error)".
std::string error_of(const ScheduleRequest& request) {
  try {
    RequestedPlan{request}.plan_with_contents();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(ScheduleRequest, IsAPlanOfItsCall) {
  const RequestedPlan requested(
      {.collective = "bcast", .spec = "binomial;segments=4", .procs = 8, .root = 3});
  EXPECT_EQ(requested.plan().size(), 8u);
  EXPECT_EQ(requested.segments(), 4u);
  EXPECT_EQ(requested.call().root, 3u);
  const PlanInfo info = requested.info();
  EXPECT_EQ(info.algorithm, "binomial");
  EXPECT_EQ(info.naming, Naming::segment);
}

TEST(ScheduleRequest, IsCheckedWithItsOperatorAndNodes) {
  EXPECT_TRUE(check_requested({.collective = "allgather", .spec = "ring", .procs = 5}).ok());
  EXPECT_TRUE(
      check_requested({.collective = "reduce", .spec = "binomial", .procs = 5, .in_place = true}).ok());
  EXPECT_TRUE(check_requested({.collective = "allgather",
                               .spec = "hier(ring,linear)",
                               .procs = 6,
                               .machine = "node:2 core:3",
                               .placement = "cyclic"})
                  .ok());
}

TEST(ScheduleRequest, RefusesWhatItsAlgorithmCannotRun) {
  const auto contains = [](const ScheduleRequest& request, const char* words) {
    const std::string error = error_of(request);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  contains({.collective = "allgather", .spec = "native", .procs = 4}, "choose one that convene list shows");
  contains({.collective = "allgather", .spec = "ring", .procs = 0}, "from 1 to 1048576, not 0");
  contains({.collective = "bcast", .spec = "binomial", .procs = 4, .root = 4},
           "root 4 is out of range (4 processes)");
  contains({.collective = "allgather", .spec = "recursive_doubling", .procs = 6}, "not 6");
  contains({.collective = "allgather", .spec = "hier(ring,linear)", .procs = 4},
           "needs the mapping of ranks to nodes");
  contains({.collective = "allgather", .spec = "ring", .procs = 2, .arrivals = {0, 1}}, "bdr");
  contains({.collective = "allgather", .spec = "bdr", .procs = 3, .arrivals = {0, 1}},
           "each of the 3 processes, not 2");
  contains({.collective = "allgather", .spec = "bdr", .procs = 2, .arrivals = {0, -1}}, "not -1");
  contains({.collective = "allgather", .spec = "ring", .procs = 4, .graph = "torus:2x2"},
           "leave out the graph");
  contains({.collective = "allgather", .spec = "ring", .procs = 1u << 14}, "steps");
}

TEST(ScheduleRequest, PicturesShowNodesIfThereAreAny) {
  ScheduleRequest request{.collective = "allgather", .spec = "ring", .procs = 4};
  const std::string without = draw_requested(request, false, {});
  request.placement = "0,0,1,1";
  EXPECT_NE(draw_requested(request, false, {}), without);
}

TEST(SpecRequirements, UnmetOnesAreClauses) {
  EXPECT_EQ(unmet_by("allgather", "ring", 6, "", "", true), "");
  EXPECT_NE(unmet_by("allgather", "recursive_doubling", 6, "", "", true), "");
  EXPECT_EQ(unmet_by("allgather", "hier(ring,linear)", 6, "", "", true), "");  // depends on unknown nodes
  EXPECT_THROW(unmet_by("allgather", "no_such", 6, "", "", true), Error);
}

TEST(SpecRequirements, OptionsAreParameters) {
  EXPECT_EQ(complete_spec("allgather", "sparbit", {{"send", "packed"}}), "sparbit;send=packed");
  EXPECT_THROW(complete_spec("allgather", "ring", {{"nothing", "1"}}), Error);
}

/// The estimate is exact if all ranks are sampled.
TEST(PlanExtent, CountsTheStepsOfSmallPlans) {
  for (const char* spec : {"ring", "bruck", "sparbit"}) {
    const RequestedPlan requested({.collective = "allgather", .spec = spec, .procs = 8});
    const Algorithm& algorithm = *parse_spec(Collective::allgather, spec).algorithm;
    EXPECT_EQ(expected_extent(algorithm, requested.call(), 1u << 24).steps,
              statistics(requested.plan()).steps)
        << spec;
  }
}

TEST(PlanExtent, RefusesStepsAndTime) {
  EXPECT_EQ((Extent{.steps = 10, .seconds = 1}).refusal("this plan", 10), "");
  EXPECT_EQ((Extent{.steps = 11, .seconds = 1}).refusal("this plan", 10),
            "this plan needs about 11 steps, more than 10; use fewer processes");
  EXPECT_EQ((Extent{.steps = 1, .seconds = 3600}).refusal("this plan", 10),
            "this plan needs an estimated time to build schedules of 60 minutes; use fewer processes");
}

}  // namespace
}  // namespace convene::experiment
