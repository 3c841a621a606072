// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::model {

bool has_parameters(const CostModel& model, const ModelPlatform& platform) {
  return std::ranges::all_of(platform.channels, model.covers);
}

void require_parameters(const CostModel& model, const ModelPlatform& platform) {
  for (const ModelChannel& channel : platform.channels)
    if (!model.covers(channel))
      throw Error(fmt::format(
          "the platform {} has no parameters {} for the channel {}; use another model or platform",
          in_quotes(platform.name),
          model.requires_text.empty() ? model.parameters->field : model.requires_text,
          in_quotes(channel.name)));
}

}  // namespace convene::model
