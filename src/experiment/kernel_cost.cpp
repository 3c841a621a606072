// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/kernel_cost.hpp"

#include <limits>

#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/shared_memory_cost.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::experiment {

namespace {

/// The platform of a kernel has two channels: the memory of a node, and the network.
ModelPlatform with_two_channels(ModelPlatform platform) {
  const std::uint32_t inner = network_channel(platform.channels) - 1;  // such as those of sockets
  platform.channels.erase(platform.channels.begin(), platform.channels.begin() + inner);
  return platform;
}

}  // namespace

SummaTexts summa_texts(const SummaRequest& request, std::uint32_t block_bytes, const ModelPlatform* platform,
                       bool latex) {
  const SummaCost cost = summa(request.columns, request.nodes);
  SummaTexts result{to_text(cost.rows, {.latex = latex}), to_text(cost.columns, {.latex = latex}),
                    to_text(cost.total, {.latex = latex}), std::nullopt, std::nullopt};
  if (!platform) return result;
  const ModelPlatform two = with_two_channels(*platform);
  const SummaCost sized = summa(request.columns, request.nodes, block_bytes);
  const auto seconds = [&](const Expression& expression) {
    // A message of many blocks uses the transport of large messages.
    return evaluate(expression, two, static_cast<double>(block_bytes),
                    transport_of(two, std::numeric_limits<double>::infinity()), segment_of(two));
  };
  result.seconds = seconds(sized.total);
  result.by_iteration = seconds(sized.by_iteration);
  return result;
}

std::string compare_summa(const SummaRequest& first, const SummaRequest& second, bool farther_is_slower) {
  const auto transfers = [](const SummaRequest& request) {
    return simplify(expand(summa(request.columns, request.nodes).total), {.drop_overheads = true});
  };
  return std::string(
      symbol(model::compare(transfers(first), transfers(second), {.farther_is_slower = farther_is_slower})));
}

SharedMemoryTexts shared_memory_texts(const SharedMemoryRequest& request, const ModelPlatform* platform,
                                      bool latex) {
  const Expression cost = request.name == "shared_bcast"
                              ? shared_broadcast(request.procs, request.degree, request.segments)
                          : request.name == "shared_reduce" ? shared_reduce(request.procs)
                                                            : in_situ_reduce(request.procs);
  SharedMemoryTexts result{to_text(simplify(cost), {.latex = latex}), std::nullopt};
  if (!platform) return result;
  const double bytes = static_cast<double>(request.segment) * request.segments;
  ModelPlatform two = with_two_channels(*platform);
  // The source uses L for transfers through shared memory, too.
  if (TauLop* const memory = two.channels.front().find<TauLop>(); memory && !memory->shared.empty())
    memory->transfer = memory->shared;
  result.seconds = evaluate(cost, two, bytes, {}, request.segment);
  return result;
}

}  // namespace convene::experiment
