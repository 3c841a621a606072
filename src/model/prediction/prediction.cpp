// SPDX-License-Identifier: BSD-3-Clause
#include "model/prediction/prediction.hpp"

#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/names.hpp"
#include "model/platform/message_sizes.hpp"
#include "model/prediction/model_catalogue.hpp"

namespace convene::model {

namespace {

/// Throws Error if the platform was measured on one node and the mapping uses several.
void require_network(const ModelPlatform& platform, const Mapping& mapping) {
  const bool is_of_one_node = platform.channels.size() == 1 && !platform.machine.empty() &&
                              Machine::parse(platform.machine).nodes() == 1;
  for (Rank rank = 1; is_of_one_node && rank < mapping.procs(); ++rank)
    if (mapping.node_of(rank) != mapping.node_of(0))
      throw Error(
          fmt::format("the platform {} is of one node and has no network; use one node (--nodes 1), or a "
                      "platform that was measured on several",
                      in_quotes(platform.name)));
}

}  // namespace

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const CostModel* model : cost_models()) names.push_back(model->name);
  return names;
}

std::vector<std::string_view> model_names(const ModelPlatform& platform) {
  std::vector<std::string_view> names;
  for (const CostModel* model : cost_models())
    if (has_parameters(*model, platform)) names.push_back(model->name);
  return names;
}

namespace {

/// Throws Error with the models that the platform has parameters for.
void require_model(const CostModel& model, const ModelPlatform& platform) {
  const std::string missing = missing_parameters(model, platform);
  if (missing.empty()) return;
  const std::vector<std::string_view> known = model_names(platform);
  throw Error(missing + (known.empty() ? "; no model has all of its parameters there: use another platform"
                                       : fmt::format("; use --model {}", fmt::join(known, " or "))));
}

}  // namespace

std::unique_ptr<PlanCost> prepare_prediction(const CostModel& model, const PlanRequest& request) {
  require_network(request.platform, request.mapping);
  if (request.packed && !model.has_packing)
    throw Error(fmt::format("{} has no cost of packing; omit --packed, or use taulop", model.name));
  require_model(model, request.platform);
  return model.prepare(model, request);
}

double hop_bytes(const Plan& plan, const Mapping& mapping, double bytes, Rational place) {
  if (mapping.procs() != plan.size())
    throw Error(
        fmt::format("the plan is for {} processes and the mapping for {}", plan.size(), mapping.procs()));
  const MessageSizes sizes = MessageSizes::uniform(bytes * place.value());
  double sum = 0;
  for (const Schedule& schedule : plan)
    for (StepId step = 0; step < schedule.size(); ++step) {
      if (schedule[step].kind != StepKind::send) continue;
      const std::uint32_t from = mapping.node_of(schedule.rank()), to = mapping.node_of(schedule[step].peer);
      sum += sizes.bytes(schedule, step) * (from > to ? from - to : to - from);
    }
  return sum;
}

}  // namespace convene::model
