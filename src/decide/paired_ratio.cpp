// SPDX-License-Identifier: BSD-3-Clause
#include "decide/paired_ratio.hpp"

#include <algorithm>
#include <cmath>

namespace convene::decide {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const std::size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void PairedRatio::add(std::int64_t a, std::int64_t b) {
  const auto first = static_cast<double>(a), second = static_cast<double>(b);
  differences_.push_back(2 * (first - second) / (first + second));
}

PairedRatio::Estimate PairedRatio::estimate() const {
  constexpr double error_of_median = 1.86;  // √(π/2) / 0.6745: from the MAD to the median's standard error
  Estimate result{.median = median(differences_)};
  std::vector<double> deviations;
  for (const double each : differences_) deviations.push_back(std::abs(each - result.median));
  result.half_width =
      errors * error_of_median * median(std::move(deviations)) / std::sqrt(static_cast<double>(pairs()));
  return result;
}

double PairedRatio::ratio() const {
  const double x = median(differences_);
  return (2 + x) / (2 - x);
}

bool PairedRatio::is_faster_by(double gain) const {
  const Estimate x = estimate();
  return pairs() > 0 && x.median + x.half_width < 0 && x.median < -gain;
}

bool PairedRatio::excludes_faster_by(double gain) const {
  const Estimate x = estimate();
  return pairs() > 0 && x.median - x.half_width > -gain;
}

}  // namespace convene::decide
