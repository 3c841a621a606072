// SPDX-License-Identifier: BSD-3-Clause
#include "decide/paired_ratio.hpp"

#include <algorithm>

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
  const double middle = median(differences_);
  std::vector<double> deviations;
  for (const double each : differences_) deviations.push_back(each < middle ? middle - each : each - middle);
  if (differences_.empty()) return {};
  const double width = errors * error_of_median * median(std::move(deviations));
  return {.median = middle, .square_of_half_width = width * width / static_cast<double>(pairs())};
}

/// By Newton's method: no call of the mathematical library.
double PairedRatio::Estimate::standard_error() const {
  if (!(square_of_half_width > 0)) return 0;
  double root = 1 + square_of_half_width;  // above the root: it decreases from there
  double next = 0;
  while ((next = (root + square_of_half_width / root) / 2) < root) root = next;
  return root / errors;
}

namespace {

constexpr double normal_95 = 1.96;  // standard errors

double ratio_of(double x) {
  constexpr double most = 1.99;
  x = std::clamp(x, -most, most);
  return (2 + x) / (2 - x);
}

}  // namespace

double PairedRatio::ratio() const { return ratio_of(median(differences_)); }

double PairedRatio::upper() const {
  const Estimate x = estimate();
  return ratio_of(x.median + normal_95 * x.standard_error());
}

double PairedRatio::lower() const {
  const Estimate x = estimate();
  return ratio_of(x.median - normal_95 * x.standard_error());
}

bool PairedRatio::is_faster_by(double gain) const {
  const Estimate x = estimate();
  return pairs() > 0 && x.median < -gain && x.median * x.median > x.square_of_half_width;
}

bool PairedRatio::is_mostly_faster() const {
  const auto faster = std::ranges::count_if(differences_, [](double x) { return x < 0; });
  const auto number = static_cast<double>(pairs());
  const double beyond = 2 * static_cast<double>(faster) - number;  // its variance is the number of pairs
  return beyond > 0 && beyond * beyond > errors * errors * number;
}

bool PairedRatio::excludes_faster_by(double gain) const {
  const Estimate x = estimate();
  const double above = x.median + gain;
  return pairs() > 0 && above > 0 && above * above > x.square_of_half_width;
}

}  // namespace convene::decide
