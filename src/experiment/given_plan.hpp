// SPDX-License-Identifier: BSD-3-Clause
// Given plan: a plan from a file, with the call that it claims to perform and the checker's verdict.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collective/core/call.hpp"
#include "experiment/experiment_names.hpp"
#include "schedule/check/checker.hpp"
#include "schedule/print/print.hpp"

namespace convene::experiment {

/// Constant once made; it may be used by several threads.
class GivenPlan {
 public:
  /// Reads the JSON of schedule::to_json() and checks the plan. Throws Error if the text is no plan of a
  /// call; a plan that does not perform its call is kept, with the reason in verdict().
  GivenPlan(std::string_view text, const std::string& file);

  const std::string& file() const { return file_; }
  const PlanInfo& info() const { return info_; }
  const Call& call() const { return call_; }
  std::uint32_t segments() const { return info_.segments; }
  Contract contract() const { return collective::contract(call_, info_.segments); }

  /// Of an operator that commutes.
  const Verdict& verdict() const { return verdict_; }
  /// The verdict if a reduction's operator does not commute.
  Verdict verdict_in_order() const;

  /// The plan, correct or not.
  const Plan& any_plan() const { return plan_; }
  /// The plan. Throws Error if it does not perform its call.
  const Plan& plan() const;

 private:
  std::string file_;
  PlanInfo info_;
  Call call_;
  Plan plan_;
  Verdict verdict_;
};

/// The number of places that the buffers of a checked plan may have, of all ranks together.
inline constexpr std::uint64_t most_checked_places = 1u << 26;

/// The names of a collective's contents, for printers.
Naming naming(Collective collective);

}  // namespace convene::experiment
