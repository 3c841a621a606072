// SPDX-License-Identifier: BSD-3-Clause
// Offset and drift of one clock relative to another: arithmetic only.
//
// Source: Cristian 1989, "Probabilistic clock synchronization", Distributed Computing 3, section 4 (the
// shortest of several round trips, whose half bounds the error).
#pragma once

#include <vector>

#include "base/durations.hpp"

namespace convene::clock {

/// One measurement of another clock. All in nanoseconds.
struct ClockOffset {
  Nanoseconds at = 0;      ///< time of the measurement on this rank's clock
  Nanoseconds offset = 0;  ///< own clock minus the other
  Nanoseconds error = -1;  ///< bound of the offset's error; negative: no measurement

  bool is_known() const { return error >= 0; }
};

/// The best of several round trips: a request sent at own time `before`, answered with the other clock's time
/// `there`, and received at own time `after`. The shortest round trip is the least disturbed; half of it
/// bounds the error.
class RoundTrips {
 public:
  void add(Nanoseconds before, Nanoseconds there, Nanoseconds after);
  const ClockOffset& best() const { return best_; }

 private:
  ClockOffset best_;
};

/// The other clock's time as a linear function of the own one's: a straight line through all measurements, if
/// they are far enough apart for a drift that exceeds their errors; otherwise the measurement with the
/// smallest error, and no drift.
class ClockLine {
 public:
  /// Adds a measurement, later than all before. The number of stored measurements is limited: above it, every
  /// other one is dropped.
  void add(const ClockOffset& look);

  bool is_known() const { return !looks_.empty(); }
  Nanoseconds to_other(Nanoseconds own) const { return own - offset_at(own); }
  Nanoseconds to_own(Nanoseconds other) const;
  Nanoseconds offset_at(Nanoseconds own) const;
  /// Seconds per second by which the own clock gains on the other; 0 if unknown.
  double drift() const { return drift_; }
  /// Error bound of to_other(own): the errors of the measurements and their distances from the line and, away
  /// from them, the possible error of the drift.
  Nanoseconds error_at(Nanoseconds own) const;

  static constexpr Nanoseconds least_span = 1'000'000'000;
  static constexpr std::size_t most_looks = 32;
  /// Bound of the unknown drift between two clocks, in seconds per second: computers' oscillators.
  static constexpr double unknown_drift = 50e-6;

 private:
  void fit();

  std::vector<ClockOffset> looks_;
  Nanoseconds at_ = 0, offset_ = 0, error_ = 0;  // a point of the line
  Nanoseconds from_ = 0, to_ = 0;                // between these the line is as precise as its measurements
  double drift_ = 0, drift_error_ = unknown_drift;
};

}  // namespace convene::clock
