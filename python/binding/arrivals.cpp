// SPDX-License-Identifier: BSD-3-Clause
// Arrivals: patterns from text, and what is said about calls of which one knows who came and left when.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "arrival/pattern.hpp"
#include "arrival/statistics.hpp"
#include "binding.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

using Rows = std::vector<std::vector<double>>;

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

/// The pattern in its shortest form; throws where it is none, or does not fit so many processes.
std::string pattern(const std::string& text, std::uint32_t procs) {
  const Pattern parsed = Pattern::parse(text);
  parsed.delays(procs);
  return parsed.text();
}

/// Of as many calls as there are different ones, and of a random pattern of so many.
std::vector<std::vector<Nanoseconds>> delays(const std::string& text, std::uint32_t procs,
                                             std::uint64_t calls, std::uint64_t seed) {
  const Pattern pattern = Pattern::parse(text);
  const std::uint64_t wanted = pattern.period() == 0 ? calls : pattern.period();
  std::vector<std::vector<Nanoseconds>> result;
  for (std::uint64_t call = 0; call < wanted; ++call) result.push_back(pattern.delays(procs, seed, call));
  return result;
}

nb::dict describe(const Rows& arrivals, const Rows& exits) {
  if (arrivals.size() != exits.size()) throw std::invalid_argument("as many arrivals as exits are needed");
  std::vector<double> imbalances, means, runs, lasts;
  for (std::size_t call = 0; call < arrivals.size(); ++call) {
    imbalances.push_back(imbalance(arrivals[call]));
    means.push_back(mean_elapsed(arrivals[call], exits[call]));
    runs.push_back(run_time(arrivals[call], exits[call]));
    lasts.push_back(last_arrival_to_last_exit(arrivals[call], exits[call]));
  }
  nb::dict dict;
  dict["imbalance"] = imbalances;
  dict["mean_elapsed"] = means;
  dict["run_time"] = runs;
  dict["last_arrival_to_last_exit"] = lasts;
  return dict;
}

}  // namespace

void add_arrivals(nb::module_& module) {
  module.def("arrival_kinds", &kinds, "What an arrival pattern may be: name, parameters, summary.");
  module.def("arrival_pattern", &pattern, nb::arg("text"), nb::arg("procs"),
             "Checks an arrival pattern, such as uniform:5ms, and writes it in its shortest form.");
  module.def("arrival_delays", &delays, nb::arg("text"), nb::arg("procs"), nb::arg("calls"), nb::arg("seed"),
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
