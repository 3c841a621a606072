// SPDX-License-Identifier: BSD-3-Clause
// Evaluation of cost expressions with the parameters of a platform.
#pragma once

#include "model/platform/model_platform.hpp"
#include "model/taulop/cost_expression.hpp"

namespace convene::model {

/// Seconds. Symbols: m is `bytes`, S is the smaller of `segment` and m, and k = m / S. Transmissions are
/// expanded according to `transport`, segmented ones in ⌈size/S⌉ segments. Throws Error if the platform lacks
/// parameters of τ-Lop.
double evaluate(const Expression& expression, const ModelPlatform& platform, double bytes,
                const TransportModel& transport = {}, double segment = 0);

}  // namespace convene::model
