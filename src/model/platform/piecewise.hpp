// SPDX-License-Identifier: BSD-3-Clause
// Parameters that depend on a size: straight lines between measured points.
#pragma once

#include <string>
#include <vector>

#include "base/layers.hpp"

namespace convene::model {

/// A function given by points: straight between two of them, level before the first, and beyond the last on the line
/// through the last two. Two points of the same size are a step (a protocol's threshold); the later one holds there.
class Piecewise {
 public:
  struct Point {
    double at, value;
    friend bool operator==(const Point&, const Point&) = default;
  };

  Piecewise() = default;
  /// The same value everywhere.
  explicit Piecewise(double constant) : points_{{0, constant}} {}
  /// `fixed` + `slope` × size.
  static Piecewise line(double fixed, double slope);
  /// Throws Error where the points are none, not ascending, negative or not finite.
  explicit Piecewise(std::vector<Point> points);

  double operator()(double at) const;

  /// The same, but level beyond the last point.
  Piecewise levelled() const;
  /// The same points, with every value times `factor`.
  Piecewise scaled(double factor) const;
  bool never_falls() const;
  const std::vector<Point>& points() const { return points_; }
  friend bool operator==(const Piecewise&, const Piecewise&) = default;

 private:
  std::vector<Point> points_{{0, 0}};
};

}  // namespace convene::model
