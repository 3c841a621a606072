// SPDX-License-Identifier: BSD-3-Clause
// Paired ratio: an estimate of the ratio of two times from pairs of adjacent measurements, with its interval.
//
// A pair contributes x = 2 (a − b) / (a + b), which is log(a / b) up to third order and changes its sign when
// a and b are exchanged. The estimate is the median of the x, its standard error 1.86 · MAD / √n, which is
// that of the median of normally distributed x. Medians, since a few measurements contain the time slice of
// another process.
//
// Only +, −, × and ÷ are used, which IEEE 754 rounds exactly: ranks that add equal pairs obtain equal
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/layers.hpp"

namespace convene::decide {

class PairedRatio {
 public:
  /// Standard errors on each side of the estimate. Large, since the estimate is looked at several times.
  static constexpr double errors = 3.3;

  /// Adds a pair of times in the same unit, both positive.
  void add(std::int64_t a, std::int64_t b);
  std::size_t pairs() const { return differences_.size(); }

  /// The ratio a / b; 1 without pairs.
  double ratio() const;
  /// The upper end of the ratio's 95 % interval.
  double upper() const;
  /// The lower one.
  double lower() const;
  /// True if a is faster than b beyond the interval, and by at least `gain` (0.03: three percent).
  bool is_faster_by(double gain) const;
  /// Sign test: true if a is faster in more pairs than chance explains (`errors` standard deviations). It
  /// holds for x of any distribution, also for one with two peaks, where most deviations from the median may
  /// be 0.
  bool is_mostly_faster() const;
  /// True if the interval excludes that a is faster by `gain`.
  bool excludes_faster_by(double gain) const;

 private:
  struct Estimate {
    double median = 0, square_of_half_width = 0;  // of x
    double standard_error() const;
  };
  Estimate estimate() const;

  std::vector<double> differences_;
};

/// The median; of an even number, the mean of both middle ones. 0 without values.
double median(std::vector<double> values);

}  // namespace convene::decide
