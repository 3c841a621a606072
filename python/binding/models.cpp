// SPDX-License-Identifier: BSD-3-Clause
// Predictions: what plans cost on a platform, as numbers and as expressions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "base/error.hpp"
#include "binding.hpp"
#include "model/prediction/model_catalogue.hpp"
#include "model/prediction/platform_file.hpp"
#include "model/prediction/prediction.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/shared_memory_cost.hpp"
#include "model/taulop/summa.hpp"
#include "model/taulop/taulop_derivation.hpp"
#include "model/taulop/taulop_parameters.hpp"
#include "topology/mapping.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

using model::Expression;
using model::ModelPlatform;

/// A plan and where its ranks sit.
struct Placed {
  BuiltPlan built;
  Mapping mapping;
  bool is_barrier;

  Placed(const std::string& collective, const std::string& spec, Rank procs, Rank root,
         const std::string& machine, const std::string& placement)
      : built(build(collective, spec, procs, root, machine, placement)),
        mapping(Mapping::parse(machine, placement, procs)),
        is_barrier(parse_collective(collective) == Collective::barrier) {}

  /// What part of m a place holds. A barrier's messages carry nothing.
  model::Rational place() const {
    return is_barrier ? model::Rational(0) : model::Rational(1, built.segments);
  }
};

nb::list names(const std::vector<std::string_view>& texts) {
  nb::list list;
  for (std::string_view text : texts) list.append(str(text));
  return list;
}

/// The descriptors of all models.
nb::list cost_models() {
  nb::list list;
  for (const model::CostModel* each : model::cost_models()) {
    nb::dict dict;
    dict["name"] = str(each->name);
    dict["summary"] = str(each->summary);
    dict["source"] = str(each->source);
    dict["message"] = str(each->message);
    dict["processor"] = str(each->processor);
    dict["port"] = str(each->port);
    dict["parameters"] = str(each->parameters->field);
    dict["packing"] = each->has_packing;
    list.append(dict);
  }
  return list;
}

nb::dict platform(const std::string& text, const std::string& origin) {
  const ModelPlatform found = model::parse_model_platform(text, origin);
  nb::dict dict;
  dict["name"] = found.name;
  dict["description"] = found.description;
  dict["source"] = found.source;
  dict["machine"] = found.machine;
  dict["assumed"] = found.assumed;
  dict["models"] = names(model::model_names(found));
  nb::list channels;
  for (const model::ModelChannel& channel : found.channels) channels.append(channel.name);
  dict["channels"] = channels;
  return dict;
}

std::vector<double> predict(const std::string& collective, const std::string& spec, Rank procs, Rank root,
                            const std::string& machine, const std::string& placement, const std::string& text,
                            const std::string& origin, const std::string& name,
                            const std::vector<std::uint64_t>& sizes, bool packed) {
  const nb::gil_scoped_release others_may_run;
  const Placed placed(collective, spec, procs, root, machine, placement);
  const ModelPlatform found = model::parse_model_platform(text, origin);
  const auto cost = model::prepare_prediction(model::find_model(name), {.plan = placed.built.plan,
                                                                        .mapping = placed.mapping,
                                                                        .platform = found,
                                                                        .place = placed.place(),
                                                                        .packed = packed});
  std::vector<double> seconds;
  for (std::uint64_t bytes : sizes) seconds.push_back(cost->seconds(static_cast<double>(bytes)));
  return seconds;
}

std::vector<double> hop_bytes(const std::string& collective, const std::string& spec, Rank procs, Rank root,
                              const std::string& machine, const std::string& placement,
                              const std::vector<std::uint64_t>& sizes) {
  const Placed placed(collective, spec, procs, root, machine, placement);
  std::vector<double> costs;
  for (std::uint64_t bytes : sizes)
    costs.push_back(
        model::hop_bytes(placed.built.plan, placed.mapping, static_cast<double>(bytes), placed.place()));
  return costs;
}

/// τ-Lop's cost; on memory within nodes and a network between them where no platform is given.
Expression cost(const Placed& placed, const std::string& text, const std::string& origin,
                const model::TransportModel& transport, bool packed = false, bool has_kinds = true) {
  ModelPlatform found =
      text.empty() ? ModelPlatform::two_channels() : model::parse_model_platform(text, origin);
  for (model::ModelChannel& channel : found.channels)
    if (model::TauLop* const taulop = channel.find<model::TauLop>(); taulop && !has_kinds)
      taulop->exchange = taulop->shared = {};
  const model::Derivation how{.transport = transport, .place = placed.place(), .packed = packed};
  return model::derive(placed.built.plan, placed.mapping, found.channels, how);
}

/// The transport of these names, in a platform of so many channels.
model::TransportModel transport(const std::string& memory, const std::string& network,
                                const std::string& text, const std::string& origin) {
  model::TransportModel result;
  if (!text.empty())
    result.network_channel = model::network_channel(model::parse_model_platform(text, origin).channels);
  result.memory = model::parse_memory_transport(memory);
  result.network = model::parse_network_transport(network);
  return result;
}

/// Stage by stage, and simplified to a sum of overheads and transfers.
nb::dict expression(const std::string& collective, const std::string& spec, Rank procs, Rank root,
                    const std::string& machine, const std::string& placement, const std::string& text,
                    const std::string& origin, const std::string& memory, const std::string& network,
                    bool latex, bool packed) {
  const Placed placed(collective, spec, procs, root, machine, placement);
  const model::TransportModel way = transport(memory, network, text, origin);
  const Expression stages = cost(placed, text, origin, way, packed);
  const Expression sum = model::simplify(model::expand(stages, way), {.merge_overheads = true});
  nb::dict dict;
  dict["stages"] = model::to_text(stages, {.latex = latex});
  dict["sum"] = model::to_text(sum, {.latex = latex});
  return dict;
}

/// The cost as a sum of factors times parameters, sizes as multiples of m: [("L", channel, τ, factor), …], by
/// linearity L(A·m, τ) = A·L(m, τ); o once for each message.
nb::list terms(const std::string& collective, const std::string& spec, Rank procs, Rank root,
               const std::string& machine, const std::string& placement, const std::string& text,
               const std::string& origin) {
  const Placed placed(collective, spec, procs, root, machine, placement);
  const model::TransportModel way = transport("copy_in_copy_out", "copies", text, origin);
  const Expression sum =
      model::simplify(model::expand(cost(placed, text, origin, way), way), {.merge_overheads = true});
  nb::list list;
  const auto add = [&](const Expression& term, double factor) {
    if (term.form() != Expression::Form::atom)
      throw Error("the cost of " + collective + " " + spec +
                  " on this mapping is no sum of parameters, but has maxima");
    const model::Atom& atom = term.atom();
    static constexpr const char* names[] = {"o", "L", "c", "gamma", "p", "T", "T_sr"};
    list.append(nb::make_tuple(names[static_cast<std::size_t>(atom.kind)], atom.channel, atom.tau,
                               factor * atom.size.count.value()));
  };
  const auto add_term = [&](const Expression& term) {
    if (term.form() == Expression::Form::times)
      add(term.terms().front(), term.factor().fixed.value());
    else
      add(term, 1);
  };
  if (sum.form() == Expression::Form::sum)
    for (const Expression& term : sum.terms()) add_term(term);
  else
    add_term(sum);
  return list;
}

/// Of the costs without overheads and copies: =, ≤, ≥ or ?.
nb::str compare(const std::string& collective, const std::string& first, const std::string& second,
                Rank procs, Rank root, const std::string& machine, const std::string& placement,
                const std::string& text, const std::string& origin, const std::string& memory,
                const std::string& network, bool farther_is_slower) {
  const model::TransportModel way = transport(memory, network, text, origin);
  const auto transfers = [&](const std::string& spec) {
    const Expression e = cost(Placed(collective, spec, procs, root, machine, placement), text, origin, way,
                              false, false);  // L_sr and L_c bound nothing: one L, as the source has it
    return model::simplify(model::expand(e, way), {.drop_overheads = true, .drop_copies = true});
  };
  return str(model::symbol(
      model::compare(transfers(first), transfers(second), {.farther_is_slower = farther_is_slower})));
}

using Columns = std::vector<std::pair<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>>;

std::vector<model::PartitionColumn> partition_of(const Columns& columns) {
  std::vector<model::PartitionColumn> partition;
  for (const auto& [width, rectangles] : columns) {
    partition.push_back({width, {}});
    for (const auto& [process, height] : rectangles) partition.back().rectangles.push_back({process, height});
  }
  return partition;
}

/// A platform as kernels see it, which know two channels: the memory of a node, and the network.
ModelPlatform platform_of_kernels(const std::string& text, const std::string& origin) {
  ModelPlatform found = model::parse_model_platform(text, origin);
  const std::uint32_t inner = model::network_channel(found.channels) - 1;  // those of sockets, say
  found.channels.erase(found.channels.begin(), found.channels.begin() + inner);
  return found;
}

/// In blocks, as text; and in seconds where a platform is given.
nb::dict summa(const Columns& columns, const std::vector<std::uint32_t>& nodes, std::uint32_t block_bytes,
               const std::string& text, const std::string& origin, bool latex) {
  const std::vector<model::PartitionColumn> partition = partition_of(columns);
  const model::SummaCost cost = model::summa(partition, nodes);
  nb::dict dict;
  dict["rows"] = model::to_text(cost.rows, {.latex = latex});
  dict["columns"] = model::to_text(cost.columns, {.latex = latex});
  dict["total"] = model::to_text(cost.total, {.latex = latex});
  if (text.empty()) return dict;
  const ModelPlatform found = platform_of_kernels(text, origin);
  const Expression total = model::summa(partition, nodes, block_bytes).total;
  // A message has many blocks: it goes as large ones do.
  dict["seconds"] = model::evaluate(total, found, static_cast<double>(block_bytes),
                                    model::transport_of(found, INFINITY), model::segment_of(found));
  return dict;
}

/// Collectives whose steps are transfers: as text, and in seconds where a platform is given.
nb::dict shared_memory(const std::string& name, std::uint32_t procs, std::uint32_t degree,
                       std::uint32_t segments, std::uint32_t segment, const std::string& text,
                       const std::string& origin, bool latex) {
  const Expression cost = name == "shared_bcast"    ? model::shared_broadcast(procs, degree, segments)
                          : name == "shared_reduce" ? model::shared_reduce(procs)
                                                    : model::in_situ_reduce(procs);
  nb::dict dict;
  dict["total"] = model::to_text(model::simplify(cost), {.latex = latex});
  if (text.empty()) return dict;
  const double bytes = static_cast<double>(segment) * segments;
  ModelPlatform found = platform_of_kernels(text, origin);
  // The source writes L for transfers through shared memory, too.
  if (model::TauLop* const memory = found.channels.front().find<model::TauLop>();
      memory && !memory->shared.empty())
    memory->transfer = memory->shared;
  dict["seconds"] = model::evaluate(cost, found, bytes, {}, segment);
  return dict;
}

/// Which of two partitions' costs is the larger: =, ≤, ≥ or ?. Transfers only.
nb::str compare_summa(const Columns& first, const std::vector<std::uint32_t>& first_nodes,
                      const Columns& second, const std::vector<std::uint32_t>& second_nodes,
                      bool farther_is_slower) {
  const auto transfers = [](const Columns& columns, const std::vector<std::uint32_t>& nodes) {
    return model::simplify(model::expand(model::summa(partition_of(columns), nodes).total),
                           {.drop_overheads = true});
  };
  return str(model::symbol(model::compare(transfers(first, first_nodes), transfers(second, second_nodes),
                                          {.farther_is_slower = farther_is_slower})));
}

}  // namespace

void add_models(nb::module_& module) {
  module.def(
      "models", [] { return names(model::model_names()); }, "The names of the models that predict times.");
  module.def("cost_models", &cost_models, "The descriptors of the cost models, in the order of models().");
  module.def("platform", &platform, nb::arg("text"), nb::arg("origin"),
             "Reads a platform file: what it says about itself, and which models it has parameters for.");
  module.def("predict", &predict, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root"),
             nb::arg("machine"), nb::arg("placement"), nb::arg("platform"), nb::arg("origin"),
             nb::arg("model"), nb::arg("sizes"), nb::arg("packed") = false, "Seconds for each size.");
  module.def("hop_bytes", &hop_bytes, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             nb::arg("root"), nb::arg("machine"), nb::arg("placement"), nb::arg("sizes"),
             "Bytes times the distance of their nodes, for each size.");
  module.def("expression", &expression, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             nb::arg("root"), nb::arg("machine"), nb::arg("placement"), nb::arg("platform"),
             nb::arg("origin"), nb::arg("memory"), nb::arg("network"), nb::arg("latex"),
             nb::arg("packed") = false, "The cost under τ-Lop: its stages, and their sum.");
  module.def("terms", &terms, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root"),
             nb::arg("machine"), nb::arg("placement"), nb::arg("platform"), nb::arg("origin"),
             "τ-Lop's cost as a sum: (name, channel, τ, factor of the value for m bytes).");
  module.def("summa", &summa, nb::arg("columns"), nb::arg("nodes"), nb::arg("block_bytes"),
             nb::arg("platform"), nb::arg("origin"), nb::arg("latex"),
             "What SUMMA's communication costs on a partition, in blocks; and seconds on a platform.");
  module.def("shared_memory", &shared_memory, nb::arg("name"), nb::arg("procs"), nb::arg("degree"),
             nb::arg("segments"), nb::arg("segment"), nb::arg("platform"), nb::arg("origin"),
             nb::arg("latex"), "What shared_bcast, shared_reduce or in_situ_reduce costs within a node.");
  module.def("compare_summa", &compare_summa, nb::arg("first"), nb::arg("first_nodes"), nb::arg("second"),
             nb::arg("second_nodes"), nb::arg("farther_is_slower"),
             "Which of two partitions costs more on every machine: =, ≤, ≥ or ?.");
  module.def("compare", &compare, nb::arg("collective"), nb::arg("first"), nb::arg("second"),
             nb::arg("procs"), nb::arg("root"), nb::arg("machine"), nb::arg("placement"), nb::arg("platform"),
             nb::arg("origin"), nb::arg("memory"), nb::arg("network"), nb::arg("farther_is_slower"),
             "Which of two costs is the larger on every machine: =, ≤, ≥, or ? where machines differ.");
}

}  // namespace convene::binding
