// SPDX-License-Identifier: BSD-3-Clause
// Simulations: one algorithm on a platform, for several sizes and arrivals.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "experiment/interruption.hpp"
#include "experiment/simulation_request.hpp"
#include "request_class.hpp"
#include "schedule/core/describe.hpp"
#include "simulate/platform/simgrid.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

nb::dict describe(const CriticalStep& step) {
  nb::dict dict;
  dict["rank"] = step.rank;
  dict["step"] = step.step;
  dict["kind"] = str(name(step.kind));
  dict["round"] = step.round;
  dict["ready"] = step.ready;
  dict["finished"] = step.finished;
  dict["waited"] = step.waited;
  return dict;
}

nb::dict describe(const SimulationSummary& summary) {
  nb::dict dict, channels;
  dict["seconds"] = summary.slowest;
  dict["mean"] = summary.mean;
  dict["waiting"] = summary.waiting;
  dict["seconds_bound"] = summary.slowest_bound;
  dict["mean_bound"] = summary.mean_bound;
  dict["messages"] = summary.messages;
  dict["bytes"] = summary.bytes;
  for (const auto& [kind, busy] : summary.busiest) channels[kind.c_str()] = busy;
  dict["channels"] = channels;
  nb::list path;
  for (const CriticalStep& step : summary.path) path.append(describe(step));
  dict["critical_path"] = path;
  if (!summary.exits.empty()) dict["exits"] = summary.exits;
  return dict;
}

nb::list simulate(const SimulationRequest& request, const SimulatedPlatform& platform,
                  const nb::object& on_run) {
  std::function<void()> report = [] {};
  if (!on_run.is_none())
    report = [&] {
      const nb::gil_scoped_acquire acquired;
      on_run();
    };
  const std::vector<SimulationSummary> summaries = [&] {
    const nb::gil_scoped_release released;
    return simulate_requested(request, platform, Interruption::token(), report);
  }();
  nb::list list;
  for (const SimulationSummary& summary : summaries) list.append(describe(summary));
  return list;
}

nb::tuple extent(const SimulationRequest& request, const SimulatedPlatform& platform) {
  const SimulationExtent found = [&] {
    const nb::gil_scoped_release released;
    return simulation_extent(request, platform);
  }();
  return nb::make_tuple(found.refusal, found.steps);
}

nb::dict platform_facts(const SimulatedPlatform& platform) {
  nb::dict dict;
  dict["name"] = platform.name;
  dict["machine"] = platform.machine.text();
  dict["nodes"] = platform.machine.nodes();
  dict["cores"] = platform.machine.seats();
  dict["send"] = platform.cpu.send;
  dict["recv"] = platform.cpu.recv;
  dict["copy"] = platform.cpu.copy;
  dict["eager"] = platform.eager;
  return dict;
}

std::vector<Rank> nodes(const SimulatedPlatform& platform, const std::string& placement, Rank procs) {
  return seat(platform, placement, procs).mapping.node_of_rank();
}

std::string simgrid(const SimulatedPlatform& platform, const std::string& placement, Rank procs) {
  return simgrid_platform(platform, seat(platform, placement, procs));
}

void add_simulation_request(nb::module_& module) {
  RequestClass<SimulationRequest>(module, "SimulationRequest", "An algorithm, sizes and arrival patterns.")
      .field("collective", &SimulationRequest::collective)
      .field("spec", &SimulationRequest::spec)
      .field("procs", &SimulationRequest::procs)
      .field("root", &SimulationRequest::root)
      .field("placement", &SimulationRequest::placement)
      .field("sizes", &SimulationRequest::sizes)
      .field("arrivals", &SimulationRequest::arrivals)
      .field("exact", &SimulationRequest::exact)
      .field("critical_path", &SimulationRequest::critical_path)
      .field("exits", &SimulationRequest::exits)
      .field("ordered", &SimulationRequest::ordered)
      .field("noise", &SimulationRequest::noise)
      .field("noise_mean", &SimulationRequest::noise_mean)
      .field("noise_shape", &SimulationRequest::noise_shape)
      .field("seed", &SimulationRequest::seed)
      .field("stream", &SimulationRequest::stream)
      .field("forecasts", &SimulationRequest::forecasts)
      .field("begins", &SimulationRequest::begins)
      .field("blocks", &SimulationRequest::blocks)
      .field("given", &SimulationRequest::given)
      .make_constructor();
}

}  // namespace

void add_simulation(nb::module_& module) {
  nb::class_<SimulatedPlatform>(module, "SimulatedPlatform", "A platform of simulations, read once.")
      .def(
          "__init__",
          [](SimulatedPlatform* self, const std::string& text, const std::string& file) {
            new (self) SimulatedPlatform(parse_simulated_platform(text, file));
          },
          nb::arg("text"), nb::arg("file"))
      .def("facts", &platform_facts,
           "Its name, machine, nodes and cores, and the cost of messages on processors.")
      .def("nodes_of_ranks", &nodes, nb::arg("placement"), nb::arg("procs"), "The node of each rank.")
      .def("simgrid", &simgrid, nb::arg("placement"), nb::arg("procs"),
           "XML for SimGrid, for a number of ranks.");
  add_simulation_request(module);
  module.def("simulate", &simulate, nb::arg("request"), nb::arg("platform"), nb::arg("on_run") = nb::none(),
             "Simulates every arrival pattern at every size, the patterns of the first size first. on_run is "
             "called after each run.");
  module.def(
      "simulation_extent", &extent, nb::arg("request"), nb::arg("platform"),
      "The reason why a request is too large to be simulated, empty if it is not, and the steps of a run.");
  module.def("stop_simulations", &Interruption::set, nb::arg("stop"),
             "Stops current and future simulations of all threads; they raise RuntimeError.");
}

}  // namespace convene::binding
