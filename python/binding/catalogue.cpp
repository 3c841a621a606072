// SPDX-License-Identifier: BSD-3-Clause
// Descriptors as dictionaries: every field, so that lists, help and completion can be derived from them.
#include <nanobind/stl/string.h>

#include "binding.hpp"
#include "experiment/spec_requirements.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

std::string_view word(Requirement requirement) {
  switch (requirement) {
    case Requirement::none:
      return "none";
    case Requirement::power_of_two:
      return "power_of_two";
    case Requirement::even:
      return "even";
  }
  return "";
}

std::string_view word(Symmetry symmetry) {
  switch (symmetry) {
    case Symmetry::none:
      return "none";
    case Symmetry::rotation:
      return "rotation";
    case Symmetry::exchange:
      return "exchange";
  }
  return "";
}

std::string_view word(ArrivalSource source) {
  switch (source) {
    case ArrivalSource::none:
      return "none";
    case ArrivalSource::forecast:
      return "forecast";
    case ArrivalSource::messages:
      return "messages";
  }
  return "";
}

template <class Texts>
nb::list strings(const Texts& texts) {
  nb::list list;
  for (std::string_view text : texts) list.append(str(text));
  return list;
}

nb::dict describe(const Parameter& parameter) {
  nb::dict dict;
  dict["name"] = str(parameter.name);
  dict["summary"] = str(parameter.summary);
  dict["default"] = parameter_value(parameter, parameter.fallback);
  dict["words"] = strings(parameter.words);
  dict["is_list"] = parameter.is_list;
  const bool is_number = parameter.words.empty();
  dict["least"] = is_number ? nb::object(nb::int_(parameter.least)) : nb::none();
  dict["most"] = is_number ? nb::object(nb::int_(parameter.most)) : nb::none();
  return dict;
}

nb::dict describe(const PartSlot& slot) {
  nb::dict dict;
  dict["name"] = str(slot.name);
  dict["summary"] = str(slot.summary);
  dict["collective"] = str(name(slot.collective));
  dict["default"] = str(slot.fallback);
  return dict;
}

nb::dict describe(const Algorithm& algorithm) {
  nb::dict dict;
  dict["name"] = str(algorithm.name);
  dict["summary"] = str(algorithm.summary);
  dict["source"] = str(algorithm.source);
  nb::list collectives, parameters, parts;
  for (Collective collective : algorithm.collectives) collectives.append(str(name(collective)));
  for (const Parameter& parameter : algorithm.parameters) parameters.append(describe(parameter));
  dict["collectives"] = collectives;
  dict["requirement"] = str(word(algorithm.requirement));
  dict["symmetry"] = str(word(algorithm.symmetry));
  dict["arrival_source"] = str(word(algorithm.arrival_source));
  dict["rounds"] = str(algorithm.rounds);
  dict["commutative_only"] = algorithm.commutative_only;
  dict["needs_whole_graph"] = algorithm.needs_whole_graph;
  dict["prefers_nodes"] = algorithm.prefers_nodes;
  dict["shares_memory"] = algorithm.shared_places != nullptr;
  dict["native"] = algorithm.is_native();
  dict["parameters"] = parameters;
  if (algorithm.is_composed())
    for (const PartSlot& slot : algorithm.composition->parts) parts.append(describe(slot));
  dict["parts"] = parts;
  return dict;
}

nb::list collectives() {
  nb::list list;
  for (Collective collective : all_collectives) list.append(str(name(collective)));
  return list;
}

nb::list algorithms(const std::string& collective) {
  nb::list list;
  for (const Algorithm* algorithm : catalogue(parse_collective(collective)))
    list.append(describe(*algorithm));
  return list;
}

nb::list samples(const std::string& collective, const std::string& algorithm) {
  const Spec spec = parse_spec(parse_collective(collective), algorithm);
  nb::list list;
  for (const Spec& sample : sample_specs(*spec.algorithm)) list.append(spec_text(sample));
  return list;
}

bool knows_in_place(const std::string& collective) {
  const Call call{.collective = parse_collective(collective), .procs = 2, .in_place = true};
  return in_place_alias(call, 1).has_value();
}

bool shares_memory(const std::string& collective, const std::string& text) {
  const Spec spec = parse_spec(parse_collective(collective), text);
  return collective::shares_memory(spec);
}

bool has_graph(const std::string& collective) { return is_neighborhood(parse_collective(collective)); }

bool combines(const std::string& collective) { return is_reduction(parse_collective(collective)); }

bool has_vector(const std::string& collective) { return has_one_vector(parse_collective(collective)); }

bool is_irregular(const std::string& collective) { return has_unequal_blocks(parse_collective(collective)); }

nb::str arrival_source_of(const std::string& collective, const std::string& text) {
  const Spec spec = parse_spec(parse_collective(collective), text);
  return str(word(arrival_source(spec)));
}

std::uint32_t pieces(const std::string& collective, const std::string& text, Rank procs) {
  const Spec spec = parse_spec(parse_collective(collective), text);
  const Call call{.collective = parse_collective(collective),
                  .procs = procs,
                  .parameters = spec.parameters,
                  .parts = spec.parts};
  return segments(*spec.algorithm, call);
}

bool has_root(const std::string& collective) { return is_rooted(parse_collective(collective)); }

}  // namespace

nb::object parameter_value(const Parameter& parameter, const Value& value) {
  const auto index = static_cast<std::size_t>(value);
  if (value.size() > 1) return str(parameter_text(parameter, value));
  return index < parameter.words.size() ? nb::object(str(parameter.words[index]))
                                        : nb::object(nb::int_(value[0]));
}

nb::dict parameter_values(const Spec& spec) {
  nb::dict dict;
  for (std::size_t i = 0; i < spec.algorithm->parameters.size(); ++i) {
    const Parameter& parameter = spec.algorithm->parameters[i];
    dict[str(parameter.name)] = parameter_value(parameter, spec.parameters[i]);
  }
  for (const auto& [name, text] : part_texts(spec)) dict[str(name)] = str(text);
  return dict;
}

void add_catalogue(nb::module_& module) {
  module.def("collectives", &collectives, "The names of all collectives.");
  module.def("shares_memory", &shares_memory, nb::arg("collective"), nb::arg("spec"),
             "Whether ranks share memory under an algorithm, or a part of it.");
  module.def("arrival_source", &arrival_source_of, nb::arg("collective"), nb::arg("spec"),
             "Source of arrivals of an algorithm, or of a part of it: none, forecast or messages.");
  module.def("pieces", &pieces, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             "Number of pieces into which an algorithm cuts a block, or the vector.");
  module.def("is_neighborhood", &has_graph, nb::arg("collective"),
             "Whether a collective is one of neighbours in a graph.");
  module.def("is_rooted", &has_root, nb::arg("collective"), "Whether a collective's calls have a root.");
  module.def("is_reduction", &combines, nb::arg("collective"),
             "Whether a collective combines what the ranks contribute.");
  module.def("has_one_vector", &has_vector, nb::arg("collective"),
             "Whether the data of a collective is one vector, not a block for each rank.");
  module.def("has_unequal_blocks", &is_irregular, nb::arg("collective"),
             "Whether the caller states a size for each block.");
  module.def("knows_in_place", &knows_in_place, nb::arg("collective"),
             "Whether a schedule is another one under MPI_IN_PLACE.");
  module.def("algorithms", &algorithms, nb::arg("collective"),
             "The descriptors of a collective's algorithms.");
  module.def("samples", &samples, nb::arg("collective"), nb::arg("algorithm"),
             "The algorithm with each combination of parameters that checks try.");
  module.def("unmet", &unmet_by, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             nb::arg("machine") = "", nb::arg("placement") = "", nb::arg("commutative") = true,
             "What the algorithm needs and does not have with so many processes, as a clause; empty where "
             "all is well, or where it depends on nodes that are not given.");
}

}  // namespace convene::binding
