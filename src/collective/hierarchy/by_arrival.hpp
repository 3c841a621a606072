// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks in by_arrival(X), for predictions from the plan of X.
#pragma once

#include "collective/core/composition.hpp"

namespace convene::collective {

/// The ranks by their numbers in `part`, the plan of X with root 0, for a call of by_arrival(X): the steps of
/// rank ranks[n] are those of schedule n, with ranks for numbers.
Ranks ranks_by_arrival(const Call& call, const Plan& part);

}  // namespace convene::collective
