// SPDX-License-Identifier: BSD-3-Clause
// Predictions: the cost of plans on a platform, as numbers and as expressions.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "experiment/cost_request.hpp"
#include "experiment/kernel_cost.hpp"
#include "experiment/summa_simulation.hpp"
#include "model/prediction/model_catalogue.hpp"
#include "model/prediction/platform_file.hpp"
#include "model/prediction/prediction.hpp"
#include "request_class.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

nb::list names(const std::vector<std::string_view>& texts) {
  nb::list list;
  for (std::string_view text : texts) list.append(str(text));
  return list;
}

/// The descriptors of all models.
nb::list cost_models() {
  nb::list list;
  for (const CostModel* each : model::cost_models()) {
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

nb::dict facts(const ModelPlatform& platform) {
  nb::dict dict;
  dict["name"] = platform.name;
  dict["description"] = platform.description;
  dict["source"] = platform.source;
  dict["machine"] = platform.machine;
  dict["assumed"] = platform.assumed;
  dict["models"] = names(model::model_names(platform));
  nb::list channels;
  for (const ModelChannel& channel : platform.channels) channels.append(channel.name);
  dict["channels"] = channels;
  return dict;
}

using NamePair = std::pair<std::string, std::string>;

nb::dict expression(const ScheduleRequest& request, const ModelPlatform* platform, const NamePair& transport,
                    bool latex, bool packed) {
  const CostTexts found = cost_texts(request, platform, {transport.first, transport.second}, latex, packed);
  nb::dict dict;
  dict["stages"] = found.stages;
  dict["sum"] = found.sum;
  return dict;
}

nb::list terms(const ScheduleRequest& request, const ModelPlatform* platform) {
  nb::list list;
  for (const CostTerm& term : cost_terms(request, platform))
    list.append(nb::make_tuple(term.name, term.channel, term.tau, term.factor));
  return list;
}

std::string compare(const ScheduleRequest& first, const ScheduleRequest& second,
                    const ModelPlatform* platform, const NamePair& transport, bool farther_is_slower) {
  return compare_costs(first, second, platform, {transport.first, transport.second}, farther_is_slower);
}

/// Widths, and of each column the processes and heights of its rectangles.
using Columns = std::vector<std::pair<std::uint32_t, std::vector<std::pair<std::uint32_t, std::uint32_t>>>>;

void construct_summa(SummaRequest* self, const Columns& columns, const std::vector<std::uint32_t>& nodes) {
  SummaRequest request{{}, nodes};
  for (const auto& [width, rectangles] : columns) {
    request.columns.push_back({width, {}});
    for (const auto& [process, height] : rectangles)
      request.columns.back().rectangles.push_back({process, height});
  }
  new (self) SummaRequest(std::move(request));
}

nb::dict summa(const SummaRequest& request, std::uint32_t block_bytes, const ModelPlatform* platform,
               bool latex) {
  const SummaTexts found = summa_texts(request, block_bytes, platform, latex);
  nb::dict dict;
  dict["rows"] = found.rows;
  dict["columns"] = found.columns;
  dict["total"] = found.total;
  if (found.seconds) dict["seconds"] = *found.seconds;
  if (found.by_iteration) dict["by_iteration"] = *found.by_iteration;
  return dict;
}

nb::dict simulate_summa(const SummaRequest& request, std::uint32_t block_bytes,
                        const SimulatedPlatform& platform, bool exact) {
  const SummaRun run = [&] {
    const nb::gil_scoped_release released;
    return experiment::simulate_summa(request, block_bytes, platform, exact);
  }();
  nb::dict dict;
  dict["seconds"] = run.seconds;
  dict["messages"] = run.messages;
  dict["bytes"] = run.bytes;
  return dict;
}

nb::dict shared_memory(const SharedMemoryRequest& request, const ModelPlatform* platform, bool latex) {
  const SharedMemoryTexts found = shared_memory_texts(request, platform, latex);
  nb::dict dict;
  dict["total"] = found.total;
  if (found.seconds) dict["seconds"] = *found.seconds;
  return dict;
}

void add_kernels(nb::module_& module) {
  nb::class_<SummaRequest>(module, "SummaRequest", "A partition of matrices, and the nodes of processes.")
      .def("__init__", &construct_summa, nb::arg("columns"), nb::arg("nodes"));
  RequestClass<SharedMemoryRequest>(module, "SharedMemoryRequest", "A collective within a node.")
      .field("name", &SharedMemoryRequest::name)
      .field("procs", &SharedMemoryRequest::procs)
      .field("degree", &SharedMemoryRequest::degree)
      .field("segments", &SharedMemoryRequest::segments)
      .field("segment", &SharedMemoryRequest::segment)
      .make_constructor();
  module.def("summa", &summa, nb::arg("request"), nb::arg("block_bytes"), nb::arg("platform").none(),
             nb::arg("latex"), "The cost of SUMMA's communication, in blocks; and seconds on a platform.");
  module.def(
      "simulate_summa", &simulate_summa, nb::arg("request"), nb::arg("block_bytes"), nb::arg("platform"),
      nb::arg("exact"),
      "Simulates SUMMA's communication: seconds from the common start to the end of the last process.");
  module.def("shared_memory", &shared_memory, nb::arg("request"), nb::arg("platform").none(),
             nb::arg("latex"), "The cost of shared_bcast, shared_reduce or in_situ_reduce within a node.");
  module.def("compare_summa", &compare_summa, nb::arg("first"), nb::arg("second"),
             nb::arg("farther_is_slower"),
             "Which of two partitions costs more on every machine: =, ≤, ≥ or ?.");
}

}  // namespace

void add_models(nb::module_& module) {
  nb::class_<ModelPlatform>(module, "ModelPlatform", "A platform of cost models, read once.")
      .def(
          "__init__",
          [](ModelPlatform* self, const std::string& text, const std::string& origin) {
            new (self) ModelPlatform(model::parse_model_platform(text, origin));
          },
          nb::arg("text"), nb::arg("origin"))
      .def("facts", &facts, "What the file states about itself, and the models with parameters.");
  module.def(
      "models", [] { return names(model::model_names()); }, "The names of the models that predict times.");
  module.def("cost_models", &cost_models, "The descriptors of the cost models, in the order of models().");
  module.def("predict", &predict_seconds, nb::arg("request"), nb::arg("platform"), nb::arg("model"),
             nb::arg("sizes"), nb::arg("packed") = false, nb::call_guard<nb::gil_scoped_release>(),
             "Seconds for each size.");
  module.def("hop_bytes", &count_hop_bytes, nb::arg("request"), nb::arg("sizes"),
             "Bytes times the distance of their nodes, for each size.");
  module.def("expression", &expression, nb::arg("request"), nb::arg("platform").none(), nb::arg("transport"),
             nb::arg("latex"), nb::arg("packed") = false, "The cost under τ-Lop: its stages, and their sum.");
  module.def("terms", &terms, nb::arg("request"), nb::arg("platform").none(),
             "τ-Lop's cost as a sum: (name, channel, τ, factor of the value for m bytes).");
  module.def("compare", &compare, nb::arg("first"), nb::arg("second"), nb::arg("platform").none(),
             nb::arg("transport"), nb::arg("farther_is_slower"),
             "Which of two costs is the larger on every machine: =, ≤, ≥, or ? where machines differ.");
  add_kernels(module);
}

}  // namespace convene::binding
