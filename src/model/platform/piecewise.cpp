// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/piecewise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"

namespace convene::model {

namespace {

void require_good(const std::vector<Piecewise::Point>& points) {
  if (points.empty()) throw Error("has no points; write a number, or a list of [size, value]");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto [at, value] = points[i];
    if (!std::isfinite(at) || at < 0)
      throw Error(fmt::format("has a point at {}; sizes are 0 or larger", at));
    if (!std::isfinite(value) || value < 0)
      throw Error(fmt::format("has the value {} at {}; values are 0 or larger", value, at));
    if (i > 0 && at < points[i - 1].at)
      throw Error(fmt::format("has a point at {} after one at {}; sizes must ascend", at, points[i - 1].at));
    if (i > 1 && at == points[i - 2].at)
      throw Error(fmt::format("has three points at {}; at most two (a step) are allowed", at));
  }
}

}  // namespace

Piecewise::Piecewise(std::vector<Point> points) : points_(std::move(points)) { require_good(points_); }

Piecewise Piecewise::line(double fixed, double slope) { return Piecewise({{0, fixed}, {1, fixed + slope}}); }

double Piecewise::operator()(double at) const {
  const auto behind = std::upper_bound(points_.begin(), points_.end(), at,
                                       [](double size, const Point& point) { return size < point.at; });
  if (behind == points_.begin()) return points_.front().value;
  if (points_.size() == 1) return points_.front().value;
  // Beyond the end, the line through the last two points; after a step, a constant.
  const auto right = behind == points_.end() ? behind - 1 : behind;
  const auto left = right - 1;
  if (right->at == left->at) return right->value;
  return std::max(0.0,
                  left->value + (at - left->at) * ((right->value - left->value) / (right->at - left->at)));
}

Piecewise Piecewise::scaled(double factor) const {
  Piecewise result = *this;
  for (Point& point : result.points_) point.value *= factor;
  return result;
}

Piecewise Piecewise::levelled() const {
  if (points_.size() == 1) return *this;
  Piecewise result = *this;
  const Point last = points_.back();
  result.points_.push_back({last.at + 1, last.value});
  return result;
}

bool Piecewise::never_falls() const {
  return std::is_sorted(points_.begin(), points_.end(),
                        [](const Point& a, const Point& b) { return a.value < b.value; });
}

}  // namespace convene::model
