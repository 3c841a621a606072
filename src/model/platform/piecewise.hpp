// SPDX-License-Identifier: BSD-3-Clause
// Piecewise linear functions of a size: parameters measured at some points.
#pragma once

#include <string>
#include <vector>

#include "base/layers.hpp"

namespace convene::model {

/// A function given by points: linear between two of them, constant before the first, and beyond the last on
/// the line through the last two. Two points of the same size are a step (a protocol's threshold); the later
/// one holds at that size.
class Piecewise {
 public:
  struct Point {
    double at, value;
    friend bool operator==(const Point&, const Point&) = default;
  };

  Piecewise() = default;
  /// A constant function.
  explicit Piecewise(double constant) : points_{{0, constant}} {}
  /// `fixed` + `slope` × size.
  static Piecewise line(double fixed, double slope);
  /// Throws Error if there are no points, or if they do not ascend, are negative or are not finite.
  explicit Piecewise(std::vector<Point> points);

  double operator()(double at) const;

  /// The same function, but constant beyond the last point.
  Piecewise levelled() const;
  /// The function with every value multiplied by `factor`.
  Piecewise scaled(double factor) const;
  bool never_falls() const;
  const std::vector<Point>& points() const { return points_; }
  friend bool operator==(const Piecewise&, const Piecewise&) = default;

 private:
  std::vector<Point> points_{{0, 0}};
};

}  // namespace convene::model
