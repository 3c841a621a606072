// SPDX-License-Identifier: BSD-3-Clause
// Demand of a collective call: what its lower bound is computed from.
#pragma once

#include <vector>

#include "collective/core/collective.hpp"
#include "experiment/experiment_names.hpp"
#include "schedule/core/schedule.hpp"
#include "simulate/platform/lower_bound.hpp"

namespace convene::experiment {

/// The data that a call must move, with blocks of these bytes by rank (of a vector: the same for all). None
/// for neighborhood collectives, whose graph decides.
Demand demand_of(Collective collective, Rank root, const std::vector<double>& blocks);

}  // namespace convene::experiment
