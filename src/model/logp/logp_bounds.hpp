// SPDX-License-Identifier: BSD-3-Clause
// Bounds of predictions from the schedules of a few ranks: what evaluate_logp_plan() would find is never
// less, without the schedules of all ranks. For models without bursts and synchronous messages (loggp).
#pragma once

#include <optional>
#include <span>

#include "model/logp/message_model.hpp"
#include "model/platform/message_sizes.hpp"
#include "model/platform/model_platform.hpp"

namespace convene::model {

/// The platform and the sizes of the messages. Keeps references.
struct LogPSetting {
  const Mapping& mapping;
  const ModelPlatform& platform;
  const CostModel& model;
  const MessageSizes& sizes;
};

/// Seconds for which one rank is busy: the longest of its processor's and its two ports' times. It takes at
/// least as long from its arrival on.
double busy_seconds(const Schedule& schedule, const LogPSetting& setting);

struct LogPBounds {
  double least, most;  ///< seconds
};

/// Seconds of a plan in which all ranks do the same at the same time, as in rings and butterflies, if all
/// arrive together: each receive is matched with the rank's own send of that order and size. `sample`:
/// schedules of some of its ranks. The bounds differ if the ranks use different channels for the same step.
/// If one rank arrives t seconds later than the others, the plan takes t seconds more: the longest chain of
/// messages begins at any rank. Empty if the sample shows that its ranks differ.
std::optional<LogPBounds> alike_seconds(std::span<const Schedule> sample, const LogPSetting& setting);

}  // namespace convene::model
