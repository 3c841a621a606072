// SPDX-License-Identifier: BSD-3-Clause
// Prediction of the cost of a plan under any cost model.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "model/platform/cost_model.hpp"

namespace convene::model {

/// The names of all cost models.
std::vector<std::string_view> model_names();
/// Those for which every channel of a platform has parameters.
std::vector<std::string_view> model_names(const ModelPlatform& platform);

/// Prepares the cost of a plan on a mapping, for many sizes. The result keeps references to the request's
/// plan, mapping and platform. Throws Error.
std::unique_ptr<PlanCost> prepare_prediction(const CostModel& model, const PlanRequest& request);

/// Σ bytes × |node(from) − node(to)| over all messages, if m is `bytes` bytes: the cost of a mapping in the
/// work on Sparbit, section 5.3. Not a time.
double hop_bytes(const Plan& plan, const Mapping& mapping, double bytes, Rational place = 1);

}  // namespace convene::model
