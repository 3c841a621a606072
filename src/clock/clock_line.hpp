// SPDX-License-Identifier: BSD-3-Clause
// How far one clock is from another, and how fast it drifts: arithmetic only.
//
// Source: Cristian 1989, "Probabilistic clock synchronization", Distributed Computing 3, section 4 (the
// shortest of several round trips, whose half bounds the error).
#pragma once

#include <vector>

#include "base/durations.hpp"

namespace convene::clock {

/// One look at another clock. All in nanoseconds.
struct ClockOffset {
  Nanoseconds at = 0;      ///< when, by the own clock
  Nanoseconds offset = 0;  ///< own clock minus the other
  Nanoseconds error = -1;  ///< the offset is right within so much; negative: nobody has looked

  bool is_known() const { return error >= 0; }
};

/// The best of several round trips: what was asked at own time `before` and answered with the other's time
/// `there` came back at own time `after`. The shortest is the least disturbed; half of it is the error.
class RoundTrips {
 public:
  void add(Nanoseconds before, Nanoseconds there, Nanoseconds after);
  const ClockOffset& best() const { return best_; }

 private:
  ClockOffset best_;
};

/// The other clock's time as a linear function of the own one's: a straight line through all looks, where
/// they are far enough apart to tell a drift from their errors; else the look with the least error, and no
/// drift.
class ClockLine {
 public:
  /// Adds a look, later than all before. Only so many are kept: then every other one is forgotten.
  void add(const ClockOffset& look);

  bool is_known() const { return !looks_.empty(); }
  Nanoseconds to_other(Nanoseconds own) const { return own - offset_at(own); }
  Nanoseconds to_own(Nanoseconds other) const;
  Nanoseconds offset_at(Nanoseconds own) const;
  /// Seconds that the own clock gains on the other in a second; 0 while it cannot be told.
  double drift() const { return drift_; }
  /// Within how much to_other(own) is right: the looks' errors and distances from the line, and, away from
  /// them, what the drift may be off by.
  Nanoseconds error_at(Nanoseconds own) const;

  static constexpr Nanoseconds least_span = 1'000'000'000;
  static constexpr std::size_t most_looks = 32;
  /// How far apart two clocks may drift of which nothing is known, in seconds a second: oscillators of
  /// computers.
  static constexpr double unknown_drift = 50e-6;

 private:
  void fit();

  std::vector<ClockOffset> looks_;
  Nanoseconds at_ = 0, offset_ = 0, error_ = 0;  // a point of the line
  Nanoseconds from_ = 0, to_ = 0;                // between these the line is as good as its looks
  double drift_ = 0, drift_error_ = unknown_drift;
};

}  // namespace convene::clock
