// SPDX-License-Identifier: BSD-3-Clause
// Pictures of plans in SVG: one frame a round, one column a rank, one row a place.
#pragma once

#include <string>

#include "schedule/check/contract.hpp"
#include "schedule/print/print.hpp"
#include "schedule/print/svg/svg_options.hpp"

namespace convene::schedule {

/// A self-contained SVG document. The contents of places are those of a simulation that starts with the
/// contract's input; the plan should have passed the checker. The same plan gives the same bytes. Throws
/// Error if the picture would be too large, a round does not exist, or the mapping does not fit the plan.
std::string to_svg(const Plan& plan, const PlanInfo& info, const Contract& contract,
                   const SvgOptions& options = {});

}  // namespace convene::schedule
