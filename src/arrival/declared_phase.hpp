// SPDX-License-Identifier: BSD-3-Clause
// A phase of computation as a program declares it, and when it is forecast to end. Times are in seconds on any one clock.
//
// Source: Proficz 2021, section 3 and Listing 1 (linear extrapolation at an edge). That a program which declares no edges
// is forecast from its earlier phases is this project's own (the source names it as future work).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrival/predictor.hpp"

namespace convene::arrival {

/// The phases before one operation on one rank, one after the other. A forecast is given once a phase: at its first edge,
/// or at its beginning where the phase before had no edge and the earlier durations say enough.
class DeclaredPhase {
 public:
  /// Returns the forecast of the phase's end, if there is one yet. Throws Error where one is open.
  std::optional<double> begin(double now);
  /// The part `fraction` of the work is done. Likewise, at the first edge; throws Error where none is open, or the
  /// fraction is not above 0 and at most 1.
  std::optional<double> edge(double fraction, double now);
  /// Throws Error where none is open.
  void end(double now);

  bool is_open() const { return progress_.has_value(); }
  /// Phases that have ended, and those of them for which a forecast was given.
  std::uint64_t phases() const { return phases_; }
  std::uint64_t forecasts() const { return forecasts_; }
  /// Of the forecasts that were given: |forecast − end|, added up.
  double error() const { return error_; }
  /// How long all phases took together.
  double duration() const { return duration_; }

 private:
  std::optional<Progress> progress_;
  double start_ = 0;
  std::optional<double> told_;  // the forecast that was given in this phase
  bool has_edge_ = false, expects_edge_ = true;
  BestPredictor durations_;
  std::uint64_t phases_ = 0, forecasts_ = 0;
  double error_ = 0, duration_ = 0;
};

/// Arrivals as generators take them: in whole rounds after the earliest, by rank. `round_ns`: a round's duration, at least
/// 1. No two successive arrivals are more than `widest_gap` rounds apart in the result: in a longer wait nothing is left to do
/// for those who are there, and schedules need not be made for it.
std::vector<std::int32_t> arrivals_in_rounds(const std::vector<std::int64_t>& arrivals_ns,
                                             std::int64_t round_ns, std::int32_t widest_gap);
/// Likewise, with gaps in which all that is there can come everywhere: of each rank, or of a vector, there are so many
/// pieces, one of which a round moves.
std::vector<std::int32_t> arrivals_in_rounds_of(std::uint32_t pieces,
                                                const std::vector<std::int64_t>& arrivals_ns,
                                                std::int64_t round_ns);

}  // namespace convene::arrival
