// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/given_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "experiment/cost_request.hpp"
#include "experiment/schedule_request.hpp"
#include "experiment/simulation_request.hpp"
#include "experiment/spec_requirements.hpp"
#include "schedule/testing/mutation.hpp"

namespace convene::experiment {
namespace {

std::string json_of(const ScheduleRequest& request) {
  const RequestedPlan requested(request);
  return to_json(requested.plan(), requested.info());
}

/// The nodes of ranks, for algorithms that need them: four ranks on the first one, the others on the second.
std::string placement(Rank procs) {
  std::string text = "0";
  for (Rank rank = 1; rank < procs; ++rank) text += rank < 4 ? ",0" : ",1";
  return text;
}

/// All plans of a collective by an algorithm: 1 to 9 processes, several roots, with and without MPI_IN_PLACE.
template <class Visit>
void for_each_request(Collective collective, const Spec& spec, Visit&& visit) {
  const bool needs_nodes = spec.algorithm->is_composed();
  for (Rank procs = 1; procs <= 9; ++procs)
    for (const Rank root : std::set<Rank>{0, 1, procs - 1})
      for (const bool in_place : {false, true}) {
        if (root >= procs || (root > 0 && !is_rooted(collective)) || (in_place && procs % 4 != 1)) continue;
        const ScheduleRequest request{.collective = std::string(name(collective)),
                                      .spec = spec_text(spec),
                                      .procs = procs,
                                      .root = root,
                                      .in_place = in_place,
                                      .machine = needs_nodes ? "node:2 core:9" : "",
                                      .placement = needs_nodes ? placement(procs) : ""};
        if (unmet_by(request.collective, request.spec, procs, request.machine, request.placement, true)
                .empty())
          visit(request);
      }
}

template <class Visit>
void for_each_request(Visit&& visit) {
  for (const Collective collective : all_collectives)
    for (const Algorithm* algorithm : catalogue(collective))
      if (!algorithm->is_native())
        for (const Spec& spec : sample_specs(*algorithm)) for_each_request(collective, spec, visit);
}

std::string words(const ScheduleRequest& request) {
  return request.collective + " " + request.spec + ", " + std::to_string(request.procs) +
         " processes, root " + std::to_string(request.root) + (request.in_place ? ", in place" : "");
}

TEST(GivenPlan, IsWhatWasPrinted) {
  unsigned plans = 0;
  for_each_request([&](const ScheduleRequest& request) {
    const std::string printed = json_of(request);
    const GivenPlan given(printed, "plan.json");
    ASSERT_EQ(given.verdict().why, "") << words(request);
    ASSERT_EQ(to_json(given.plan(), given.info()), printed) << words(request);
    ++plans;
  });
  EXPECT_GT(plans, 1000u);
}

TEST(GivenPlan, HasTheSizesAndGroupsOfItsBuffers) {
  for_each_request([&](const ScheduleRequest& request) {
    if (request.procs != 6) return;
    const Plan wanted = RequestedPlan(request).plan();
    const Plan found = GivenPlan(json_of(request), "plan.json").plan();
    for (Rank rank = 0; rank < request.procs; ++rank) {
      ASSERT_EQ(found[rank].buffers(), wanted[rank].buffers()) << words(request);
      ASSERT_EQ(found[rank].sends_empty_messages(), wanted[rank].sends_empty_messages()) << words(request);
      if (wanted[rank].places(Buffer::shared) > 0) {
        ASSERT_EQ(found[rank].first_sharer(), wanted[rank].first_sharer()) << words(request);
      }
      for (unsigned b = 0; b < wanted[rank].buffers(); ++b) {
        const auto buffer = static_cast<Buffer>(b);
        ASSERT_EQ(found[rank].places(buffer), wanted[rank].places(buffer)) << words(request);
        if (buffer >= Buffer::scratch) {
          ASSERT_TRUE(std::ranges::equal(found[rank].sized_like(buffer), wanted[rank].sized_like(buffer)))
              << words(request);
        }
      }
    }
  });
}

/// Dropping a step, a dependency or a slot, or changing a peer: the reader refuses it, or the checker finds
/// it.
TEST(GivenPlan, IsRefusedOrFoundWrongIfItIsMutated) {
  unsigned refused = 0, wrong = 0;
  for_each_request([&](const ScheduleRequest& request) {
    if (request.procs != 5 || request.root > 0 || request.in_place) return;
    const RequestedPlan requested(request);
    const Plan plan = requested.plan();
    for (StepId id = 0; id < plan[1].size(); ++id) {
      if (plan[1][id].kind == StepKind::join) continue;  // may be redundant
      Mutation mutation(plan[1]);
      mutation.drop(id);
      Plan mutant = plan;
      mutant[1] = mutation.schedule();
      try {
        const GivenPlan given(to_json(mutant, requested.info()), "plan.json");
        ASSERT_NE(given.verdict().why, "") << words(request) << ", without step " << id << " of rank 1";
        ASSERT_THROW(given.plan(), Error);
        ++wrong;
      } catch (const Error& error) {
        ASSERT_NE(std::string(error.what()).find("plan.json: rank "), std::string::npos) << error.what();
        ++refused;
      }
    }
  });
  EXPECT_GT(refused, 100u);
  EXPECT_GT(wrong, 100u);
}

std::string allgather_of_two(const std::string& head, const std::string& step_1 = "") {
  const std::string send =
      step_1.empty() ? R"({"kind": "send", "peer": 1, "slots": [["input", 0]]})" : step_1;
  return "{" + head + R"("ranks": [
{"rank": 0, "steps": [
{"kind": "copy", "from": [["input", 0]], "to": [["output", 0]]},
)" + send +
         R"(,
{"kind": "recv", "peer": 1, "slots": [["output", 1]]}]},
{"rank": 1, "steps": [
{"kind": "copy", "from": [["input", 0]], "to": [["output", 1]]},
{"kind": "send", "peer": 0, "slots": [["input", 0]]},
{"kind": "recv", "peer": 0, "slots": [["output", 0]]}]}]})";
}

constexpr const char* head_of_two = R"("collective": "allgather", "procs": 2, )";

TEST(GivenPlan, NeedsNoNumbersOfStepsMessagesAndRounds) {
  const GivenPlan given(allgather_of_two(head_of_two), "mine.json");
  EXPECT_EQ(given.verdict().why, "");
  EXPECT_EQ(given.info().algorithm, "schedule");
}

TEST(GivenPlan, RefusesWhatIsNoCall) {
  const auto error = [](const std::string& text) {
    try {
      GivenPlan(text, "mine.json");
    } catch (const Error& found) {
      return std::string(found.what());
    }
    return std::string("(no error)");
  };
  EXPECT_NE(
      error(allgather_of_two(R"("collective": "allgathr", "procs": 2, )")).find("did you mean allgather"),
      std::string::npos);
  EXPECT_EQ(error(allgather_of_two(R"("collective": "allgather", "procs": 2, "root": 1, )")),
            "mine.json: \"root\" is 1, but allgather has no root; leave it out");
  EXPECT_EQ(error(allgather_of_two(R"("collective": "allgather", "procs": 2, "graph": "torus:2", )")),
            "mine.json: allgather is between all ranks; leave out \"graph\"");
  EXPECT_NE(error(allgather_of_two(R"("collective": "allgather", "procs": 2, "segments": 1048576, )"))
                .find("lacks"),
            0u);
}

TEST(GivenPlan, OfAWrongScheduleIsKeptButNotUsed) {
  const std::string send = R"({"kind": "send", "peer": 1, "slots": [["output", 1]]})";
  const GivenPlan given(allgather_of_two(head_of_two, send), "mine.json");
  EXPECT_NE(given.verdict().why, "");
  EXPECT_THROW(given.plan(), Error);
}

SimulatedPlatform cluster() {
  SimulatedPlatform platform;
  platform.machine = Machine::parse("node:4 core:8");
  platform.within = {{.latency = 1e-6, .bandwidth = 1e9}};
  platform.network.node = {.latency = 1e-5, .bandwidth = 1e8};
  platform.cpu = {.send = 1e-7, .recv = 1e-7, .copy = 0};
  return platform;
}

/// Three bytes are fewer than segments, so that some of them are empty. Copies are free: slots in a file do
/// not tell whether adjacent places were one range, and packing has no cost of its own.
TEST(GivenPlan, IsSimulatedAsItsAlgorithm) {
  unsigned plans = 0;
  for_each_request([&](const ScheduleRequest& request) {
    if (request.procs != 6 || request.in_place || request.spec.find('(') != std::string::npos) return;
    const Algorithm& algorithm = *parse_spec(parse_collective(request.collective), request.spec).algorithm;
    if (algorithm.is_online() || algorithm.needs_whole_graph) return;  // simulated with arrivals, with nodes
    if (algorithm.cut == Cut::head_first) return;                      // slots in a file have equal shares
    SimulationRequest simulation{.collective = request.collective,
                                 .spec = request.spec,
                                 .procs = request.procs,
                                 .root = request.root,
                                 .sizes = {3, 1e4},
                                 .arrivals = {{0, 0, 1e-5, 0, 3e-5, 0}}};
    if (!simulation_extent(simulation, cluster()).refusal.empty()) return;
    const auto wanted = simulate_requested(simulation, cluster());
    simulation.spec = "plan.json";
    simulation.given = std::make_shared<const GivenPlan>(json_of(request), "plan.json");
    const auto found = simulate_requested(simulation, cluster());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(found[i].slowest, wanted[i].slowest) << words(request);
      ASSERT_EQ(found[i].messages, wanted[i].messages) << words(request);
      ASSERT_EQ(found[i].bytes, wanted[i].bytes) << words(request);
    }
    ++plans;
  });
  EXPECT_GT(plans, 50u);
}

TEST(GivenPlan, CostsWhatItsAlgorithmCosts) {
  for (const char* spec : {"ring", "bruck", "sparbit"}) {
    ScheduleRequest request{.collective = "allgather",
                            .spec = spec,
                            .procs = 7,
                            .machine = "node:2 core:4",
                            .placement = "cyclic"};
    const auto texts = [&] {
      return cost_texts(request, nullptr, {"copy_in_copy_out", "copies"}, false, false);
    };
    const std::string wanted = texts().sum;
    request.given = std::make_shared<const GivenPlan>(json_of(request), "plan.json");
    request.spec = "plan.json";
    EXPECT_EQ(texts().sum, wanted) << spec;
  }
}

TEST(GivenPlan, IsOfTheCallOfTheRequest) {
  ScheduleRequest request{.collective = "bcast", .spec = "binomial", .procs = 7, .root = 2};
  request.given = std::make_shared<const GivenPlan>(json_of(request), "plan.json");
  EXPECT_TRUE(check_requested(request).ok());
  EXPECT_EQ(RequestedPlan(request).info().algorithm, "binomial");
  ScheduleRequest other = request;
  other.procs = 8;
  EXPECT_THROW(check_requested(other), Error);
  other = request;
  other.root = 0;
  EXPECT_THROW(RequestedPlan{other}, Error);
  other = request;
  other.collective = "reduce";
  EXPECT_THROW(RequestedPlan{other}, Error);
}

TEST(GivenPlan, IsCheckedWithTheOperatorOfTheRequest) {
  ScheduleRequest request{.collective = "allreduce", .spec = "ring", .procs = 5};
  request.given = std::make_shared<const GivenPlan>(json_of(request), "plan.json");
  EXPECT_TRUE(check_requested(request).ok());
  request.commutative = false;
  EXPECT_FALSE(check_requested(request).ok());
}

}  // namespace
}  // namespace convene::experiment
