// SPDX-License-Identifier: BSD-3-Clause
// A plan as a picture: one frame a round, a column for every rank, a row for every place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/check/checker.hpp"
#include "schedule/print/print.hpp"

namespace convene::schedule {

struct SvgOptions {
  bool rings = false;  ///< colour the arrows by the ring that they belong to
  std::vector<std::uint32_t> node_of_rank =
      {};                                  ///< draw the nodes, and show what crosses them; empty: no mapping
  std::vector<std::uint32_t> rounds = {};  ///< only these rounds; empty: all
};

/// Pictures stop here: beyond, a column is too narrow to be read.
inline constexpr Rank most_drawn_procs = 64;

/// A self-contained SVG document. What the places hold is found by playing the plan from the contract's beginning; the
/// plan should have passed the checker. The same plan gives the same bytes. Throws Error for a picture that would be too
/// large, a round that is not there, or a mapping that does not fit the plan.
std::string to_svg(const Plan& plan, const PlanInfo& info, const Contract& contract,
                   const SvgOptions& options = {});

}  // namespace convene::schedule
