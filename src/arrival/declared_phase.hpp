// SPDX-License-Identifier: BSD-3-Clause
// Declared phases: phases of computation that a program declares, and forecasts of their ends. Times are in
// seconds on any one clock.
//
// Source: Proficz 2021, section 3 and Listing 1 (linear extrapolation at an edge). Forecasts from earlier
// phases, for programs that declare no edges, are an extension (the source names it as future work).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arrival/predictor.hpp"

namespace convene::arrival {

/// The successive phases before one operation on one rank. There is one forecast per phase: at its first
/// edge, or at its beginning if the phase before had no edge and the earlier durations suffice.
class DeclaredPhase {
 public:
  /// Returns the forecast of the phase's end, if there is one yet. Throws Error if a phase is open.
  std::optional<double> begin(double now);
  /// Declares that the part `fraction` of the work is done. Returns the forecast at the first edge. Throws
  /// Error if no phase is open, or if the fraction is not above 0 and at most 1.
  std::optional<double> edge(double fraction, double now);
  /// Throws Error if no phase is open.
  void end(double now);

  bool is_open() const { return progress_.has_value(); }
  /// The number of ended phases, and of those with a forecast.
  std::uint64_t phases() const { return phases_; }
  std::uint64_t forecasts() const { return forecasts_; }
  /// The sum of |forecast − end| over all forecasts.
  double error() const { return error_; }
  /// The total duration of all phases.
  double duration() const { return duration_; }

 private:
  std::optional<Progress> progress_;
  double start_ = 0;
  std::optional<double> forecast_;  // forecast of this phase
  bool has_edge_ = false, expects_edge_ = true;
  BestPredictor durations_;
  std::uint64_t phases_ = 0, forecasts_ = 0;
  double error_ = 0, duration_ = 0;
};

/// Arrivals in the form of generators: in whole rounds after the earliest, by rank. `round_ns`: the duration
/// of a round, at least 1. Successive arrivals are at most `widest_gap` rounds apart in the result: in a
/// longer gap the ranks that have arrived have nothing left to do, and schedules do not depend on it.
std::vector<std::int32_t> arrivals_in_rounds(const std::vector<std::int64_t>& arrivals_ns,
                                             std::int64_t round_ns, std::int32_t widest_gap);
/// Arrivals in rounds with gaps in which all data of the arrived ranks can reach all of them: each rank, or
/// the vector, has `pieces` pieces, and a round moves one piece.
std::vector<std::int32_t> arrivals_in_rounds_of(std::uint32_t pieces,
                                                const std::vector<std::int64_t>& arrivals_ns,
                                                std::int64_t round_ns);

}  // namespace convene::arrival
