// SPDX-License-Identifier: BSD-3-Clause
// Arrivals: patterns from text, and statistics of calls whose arrivals and exits are known.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrival/pattern.hpp"
#include "arrival/statistics.hpp"
#include "binding.hpp"
#include "experiment/call_statistics.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

nb::list kinds() {
  nb::list list;
  for (const PatternKind& kind : pattern_kinds()) {
    nb::dict dict;
    dict["name"] = str(kind.name);
    dict["parameters"] = str(kind.parameters);
    dict["summary"] = str(kind.summary);
    list.append(dict);
  }
  return list;
}

nb::dict describe(const std::vector<std::vector<double>>& arrivals,
                  const std::vector<std::vector<double>>& exits) {
  const CallStatistics found = call_statistics(arrivals, exits);
  nb::dict dict;
  dict["imbalance"] = found.imbalance;
  dict["mean_elapsed"] = found.mean_elapsed;
  dict["run_time"] = found.run_time;
  dict["last_arrival_to_last_exit"] = found.last_arrival_to_last_exit;
  return dict;
}

}  // namespace

void add_arrivals(nb::module_& module) {
  module.def("arrival_kinds", &kinds, "What an arrival pattern may be: name, parameters, summary.");
  module.def("arrival_pattern", &shortest_pattern, nb::arg("text"), nb::arg("procs"),
             "Checks an arrival pattern, such as uniform:5ms, and writes it in its shortest form.");
  module.def("arrival_delays", &delays_of_calls, nb::arg("text"), nb::arg("procs"), nb::arg("calls"),
             nb::arg("seed"),
             "Each rank's delay in nanoseconds, for each call: so many of a random pattern, else as many as "
             "differ.");
  module.def("call_statistics", &describe, nb::arg("arrivals"), nb::arg("exits"),
             "For each call: imbalance, mean elapsed time, run time, last arrival to last exit.");
  module.def("absorption", &absorption, nb::arg("balanced_run_time"), nb::arg("run_time"),
             nb::arg("imbalance"), "How much of the imbalance was absorbed, in the same unit.");
  module.def("normalised_absorption", &normalised_absorption, nb::arg("balanced_run_time"),
             nb::arg("run_time"), nb::arg("imbalance"));
}

}  // namespace convene::binding
