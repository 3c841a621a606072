// SPDX-License-Identifier: BSD-3-Clause
// Predictions under a forecast: LogGP's seconds of an algorithm if ranks arrive as expected, and bounds of
// them that need the schedules of a few ranks only.
//
// Design notes
// - The parameters are the built-in ones of trial candidates; those of the measured channel are scaled to the
//   measured round. Each rank's processor is busy until the rank arrives.
// - Work is counted in steps of schedules that are built and evaluated, never in time, so that all ranks stop
//   at the same point.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "decide/rules.hpp"
#include "model/logp/logp_bounds.hpp"
#include "topology/mapping.hpp"

namespace convene::decide {

/// A call and its forecast; equal on all ranks.
struct ForecastCall {
  CallContext context;
  Rank root = 0;
  std::vector<std::int32_t> arrivals;          ///< by rank, in rounds after the earliest
  double round_seconds = 0;                    ///< of a measured round; 0: that of the built-in parameters
  double round_bytes = 0;                      ///< sent by each rank in a round
  std::vector<std::string_view> besides = {};  ///< algorithms that are not candidates: they are tried anyway
};

/// What the schedules of a few ranks show of an algorithm.
struct ForecastEstimate {
  /// From the first arrival to the last exit. Of rings and butterflies: one rank's time, and the last
  /// arrival. Of trees and pipelines: the first segment's time, and that for which the busiest rank is busy
  /// with the others. Of other algorithms a lower bound: the time for which a rank is busy from its arrival
  /// on.
  double seconds = 0;
  double by_arrival = std::numeric_limits<double>::infinity();  ///< the same of by_arrival(X), if estimated
  std::uint64_t steps = 0;  ///< of all schedules, if those of the other ranks are as long
  bool is_alike = false;    ///< a ring or a butterfly: no order of the ranks is better than another
  bool is_bound = false;    ///< `seconds` is a lower bound only
  bool is_exact = false;    ///< `seconds` and `by_arrival` are what seconds() returns
};

/// The algorithm by arrival; itself if that is no other one, or not possible.
Spec by_arrival(const Spec& spec, const CallContext& context);

class ForecastModel {
 public:
  static constexpr double unknown = std::numeric_limits<double>::infinity();

  /// Keeps a reference to the call.
  explicit ForecastModel(const ForecastCall& call);

  /// Takes the steps that it builds from the budget. `unknown` if the algorithm cannot be evaluated.
  ForecastEstimate estimate(const Spec& spec, std::uint64_t& budget) const;

  /// All schedules; empty if they have more steps than the budget, from which they are taken.
  Plan plan(const Spec& spec, std::uint64_t& budget) const;

  /// Seconds from the first arrival to the last exit of a plan of an algorithm. Infinite if it is not done at
  /// the limit, or cannot be evaluated.
  double seconds(const Spec& spec, const Plan& plan, double limit) const;
  /// The same of by_arrival(X), from the plan of X. With a root other than 0, another plan of X is built.
  double seconds_by_arrival(const Spec& spec, const Plan& plan, double limit, std::uint64_t& budget) const;

 private:
  Call call_of(const Spec& spec) const;
  model::MessageSizes sizes_of(const Spec& spec) const;
  std::vector<Rank> sampled_ranks() const;
  Plan plan(const Spec& spec, std::uint64_t& budget, Rank root) const;
  double evaluate(const Plan& plan, const Mapping& mapping, std::span<const double> arrivals,
                  const model::MessageSizes& sizes, double limit) const;
  double evaluate_by_arrival(const Spec& spec, const Plan& plan, const model::MessageSizes& sizes,
                             double limit) const;

  const ForecastCall& call_;
  ModelPlatform platform_;
  std::vector<Rank> nodes_;  // by rank
  Mapping mapping_;
  std::vector<double> arrivals_;  // by rank, in seconds
  Rank latest_ = 0;
  double last_ = 0;  // its arrival
};

}  // namespace convene::decide
