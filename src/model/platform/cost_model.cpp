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

std::string missing_parameters(const CostModel& model, const ModelPlatform& platform) {
  for (const ModelChannel& channel : platform.channels)
    if (!model.covers(channel))
      return fmt::format("the platform {} has no parameters {} for the channel {}", in_quotes(platform.name),
                         model.requires_text.empty() ? model.parameters->field : model.requires_text,
                         in_quotes(channel.name));
  return "";
}

void require_parameters(const CostModel& model, const ModelPlatform& platform) {
  if (const std::string missing = missing_parameters(model, platform); !missing.empty())
    throw Error(missing + "; use another model or platform");
}

}  // namespace convene::model
