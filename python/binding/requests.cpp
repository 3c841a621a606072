// SPDX-License-Identifier: BSD-3-Clause
// Text of users: specs, uses, rules, sizes. Wrong text becomes a RequestError with one sentence.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "base/names.hpp"
#include "base/sizes.hpp"
#include "binding.hpp"
#include "decide/rules.hpp"
#include "experiment/spec_requirements.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

nb::dict parameters(const std::string& collective, const std::string& spec) {
  return parameter_values(parse_spec(parse_collective(collective), spec));
}

nb::list uses(const std::string& text) {
  nb::list list;
  for (const Use& use : parse_uses(text))
    list.append(nb::make_tuple(str(name(use.collective)), spec_text(use.spec)));
  return list;
}

nb::list rules(const std::string& path) {
  nb::list list;
  for (const Rule& rule : load_rules(path)) {
    nb::dict dict;
    dict["line"] = rule.line;
    dict["collective"] = str(name(rule.collective));
    dict["use"] = spec_text(rule.use);
    list.append(dict);
  }
  return list;
}

nb::tuple size_range(const std::string& text) {
  const SizeRange range = parse_size_range(text);
  return nb::make_tuple(range.least, range.most);
}

std::string no_such_name(const std::string& kind, const std::string& wanted,
                         const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return no_such(kind, wanted, views);
}

}  // namespace

void add_requests(nb::module_& module) {
  module.def("spec", &complete_spec, nb::arg("collective"), nb::arg("spec"), nb::arg("options") = Options{},
             "Checks an algorithm with its parameters and writes it in its shortest form.");
  module.def("parameters", &parameters, nb::arg("collective"), nb::arg("spec"),
             "The values of all parameters.");
  module.def("uses", &uses, nb::arg("text"), "Reads 'allgather=sparbit,allgatherv=ring'.");
  module.def("rules", &rules, nb::arg("path"), "Reads a rules file.");
  module.def("size", &parse_size, nb::arg("text"), "Bytes from '4KiB'.");
  module.def("size_text", &format_size, nb::arg("size"), "'4 KiB' from bytes.");
  module.def("size_range", &size_range, nb::arg("text"), "Bytes from '8:1MiB': the least and the most.");
  module.def("no_such", &no_such_name, nb::arg("kind"), nb::arg("wanted"), nb::arg("known"),
             "The error message for an unknown name, with the nearest known ones.");
}

}  // namespace convene::binding
