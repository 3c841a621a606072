// SPDX-License-Identifier: BSD-3-Clause
// Schedule request: a call in words, and the plan that it describes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/core/algorithm.hpp"
#include "collective/core/spec.hpp"
#include "experiment/experiment_names.hpp"
#include "experiment/given_plan.hpp"
#include "schedule/check/checker.hpp"
#include "schedule/print/print.hpp"

namespace convene::experiment {

struct ScheduleRequest {
  std::string collective;
  std::string spec;  ///< the algorithm with its parameters, as in rules: "sparbit;send=packed"
  Rank procs = 0, root = 0;
  bool in_place = false;
  std::vector<std::int32_t> arrivals;  ///< the forecast: a round for each rank, or empty
  std::string machine, placement;      ///< empty if unknown
  std::string graph;                   ///< of a neighborhood collective
  bool commutative = true;             ///< the operator of a reduction
  /// A plan from a file, in place of `spec`. Its collective, number of processes and root must be the same;
  /// in_place, arrivals and graph are the file's.
  std::shared_ptr<const GivenPlan> given = nullptr;
};

/// Throws Error if a plan from a file is of another call.
void require_same_call(const GivenPlan& given, const std::string& collective, Rank procs, Rank root);

/// A request whose algorithm exists and can run the call, or with a plan from a file.
class RequestedPlan {
 public:
  /// Throws Error.
  explicit RequestedPlan(const ScheduleRequest& request);

  /// Builds the plan. Throws Error before it is built if it has too many steps, or if the file's is not
  /// correct.
  Plan plan() const;
  /// Builds the plan to track the contents of its places. Throws Error if that needs too much memory.
  Plan plan_with_contents() const;
  std::uint32_t segments() const {
    return given_ ? given_->segments() : collective::segments(*spec_.algorithm, call_);
  }
  /// False if a place has a number of bytes, not a share of its block.
  bool has_shares() const { return given_ || spec_.algorithm->cut != Cut::head_first; }
  Contract contract() const { return collective::contract(call_, segments()); }
  PlanInfo info() const;
  const Call& call() const { return call_; }

 private:
  void require_few_steps() const;
  void require_few_places() const;

  Spec spec_;  // without an algorithm if the plan is given
  Call call_;
  std::string graph_;
  std::shared_ptr<const GivenPlan> given_;
};

/// Simulates all ranks symbolically: whether the plan is correct, why not, and its counts.
Verdict check_requested(const ScheduleRequest& request);

/// The plan as an SVG picture, with nodes if the request has a machine or a placement. `rounds`: those drawn;
/// empty: all. `width`: rounds stand side by side within so many pixels; 0: as many as look well.
std::string draw_requested(const ScheduleRequest& request, bool rings,
                           const std::vector<std::uint32_t>& rounds, double width = 0);

}  // namespace convene::experiment
