// SPDX-License-Identifier: BSD-3-Clause
// Plans: built, checked, printed.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.hpp"
#include "binding.hpp"
#include "experiment/schedule_request.hpp"
#include "request_class.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

nb::dict describe(const Statistics& counts) {
  nb::dict dict;
  dict["rounds"] = counts.rounds;
  dict["messages"] = counts.messages;
  dict["blocks"] = counts.blocks;
  dict["most_messages_sent"] = counts.most_messages_sent;
  dict["most_blocks_sent"] = counts.most_blocks_sent;
  dict["most_messages_received"] = counts.most_messages_received;
  dict["most_blocks_received"] = counts.most_blocks_received;
  dict["most_blocks_combined"] = counts.most_blocks_combined;
  dict["scratch"] = counts.scratch;
  dict["steps"] = counts.steps;
  dict["edges"] = counts.edges;
  dict["memory"] = counts.memory;
  return dict;
}

nb::dict check(const ScheduleRequest& request) {
  const Verdict verdict = [&] {
    const nb::gil_scoped_release released;
    return check_requested(request);
  }();
  nb::dict dict = describe(verdict.statistics);
  dict["ok"] = verdict.ok();
  dict["why"] = verdict.why;
  return dict;
}

nb::dict count(const ScheduleRequest& request) { return describe(statistics(RequestedPlan(request).plan())); }

std::string text(const ScheduleRequest& request, bool steps, std::optional<Rank> rank) {
  const RequestedPlan requested(request);
  if (rank && *rank >= request.procs)
    throw Error("rank " + std::to_string(*rank) + " is out of range (" + std::to_string(request.procs) +
                " processes)");
  const Plan plan = requested.plan_with_contents();  // first: it refuses what would be too large
  return to_text(plan, requested.info(), requested.contract(), {.steps = steps, .rank = rank});
}

std::string json(const ScheduleRequest& request) {
  const RequestedPlan requested(request);
  return to_json(requested.plan(), requested.info());
}

nb::dict plan_facts(const GivenPlan& given) {
  nb::dict dict;
  dict["collective"] = given.info().collective;
  dict["algorithm"] = given.info().algorithm;
  dict["procs"] = given.info().procs;
  dict["root"] = given.info().root;
  dict["steps"] = given.verdict().statistics.steps;
  dict["why"] = given.verdict().why;
  return dict;
}

std::string goal(const ScheduleRequest& request, std::uint64_t bytes) {
  const RequestedPlan requested(request);
  return to_goal(requested.plan(), requested.info(), {.bytes_per_block = bytes});
}

}  // namespace

void add_plans(nb::module_& module) {
  nb::class_<GivenPlan>(module, "GivenPlan", "A plan from a file, read and checked once.")
      .def(
          "__init__",
          [](GivenPlan* self, const std::string& text, const std::string& file) {
            const nb::gil_scoped_release released;
            new (self) GivenPlan(text, file);
          },
          nb::arg("text"), nb::arg("file"))
      .def("facts", &plan_facts, "Its call, and the reason why it does not perform it; empty if it does.");
  RequestClass<ScheduleRequest>(module, "ScheduleRequest", "A call whose plan is requested.")
      .field("collective", &ScheduleRequest::collective)
      .field("spec", &ScheduleRequest::spec)
      .field("procs", &ScheduleRequest::procs)
      .field("root", &ScheduleRequest::root)
      .field("in_place", &ScheduleRequest::in_place)
      .field("arrivals", &ScheduleRequest::arrivals)
      .field("machine", &ScheduleRequest::machine)
      .field("placement", &ScheduleRequest::placement)
      .field("graph", &ScheduleRequest::graph)
      .field("commutative", &ScheduleRequest::commutative)
      .field("given", &ScheduleRequest::given)
      .make_constructor();
  module.def("text", &text, nb::arg("request"), nb::arg("steps") = false, nb::arg("rank") = nb::none(),
             "The plan as text.");
  module.def("json", &json, nb::arg("request"), "The plan as JSON.");
  module.def("goal", &goal, nb::arg("request"), nb::arg("bytes") = 1, "The plan in GOAL, for LogGOPSim.");
  module.def("svg", &draw_requested, nb::arg("request"), nb::arg("rings") = false,
             nb::arg("rounds") = std::vector<std::uint32_t>{}, nb::arg("width") = 0.0,
             "The plan as an SVG picture.");
  module.def("check", &check, nb::arg("request"),
             "Checks the schedules of all ranks: result, error, counts.");
  module.def("statistics", &count, nb::arg("request"),
             "Rounds, messages, blocks, steps and memory of the plan.");
}

}  // namespace convene::binding
