// SPDX-License-Identifier: BSD-3-Clause
// Catalogue of cost models.
#pragma once

#include <span>
#include <string_view>

#include "model/platform/cost_model.hpp"

namespace convene::model {

/// All models, in the order of cost_models.hpp.
std::span<const CostModel* const> cost_models();

/// The model of this name. Throws Error.
const CostModel& find_model(std::string_view name);

}  // namespace convene::model
