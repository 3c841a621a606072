// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/svg/svg_arrows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace convene::schedule::svg {
namespace {

// A curve is the cubic Bézier (from, 0) (from, 4h/3) (to, 4h/3) (to, 0): upright at both ends, apex at height
// h.
double curve_x(const Curve& curve, double t) {
  return curve.from + (curve.to - curve.from) * t * t * (3 - 2 * t);
}
double curve_out(const Curve& curve, double t) { return 4 * curve.height * t * (1 - t); }

/// Places the ends of several arrows at one column side by side, the longest innermost, so that nested arrows
/// do not cross.
void spread_ends(std::vector<Curve>& curves, std::span<const Arrow> arrows, std::span<const double> x,
                 double pitch) {
  const double room = 0.38 * pitch;
  for (const bool start : {true, false}) {
    const auto rank = [&](const Curve& c) { return start ? arrows[c.arrow].from : arrows[c.arrow].to; };
    for (Curve& curve : curves) {
      std::size_t longer = 0, all = 0;
      for (const Curve& other : curves) {
        if (other.above != curve.above || rank(other) != rank(curve)) continue;
        ++all;
        longer += other.height > curve.height || (other.height == curve.height && other.arrow < curve.arrow);
      }
      const double off = room * static_cast<double>(longer + 1) / static_cast<double>(all + 1);
      const double outwards = curve.above == start ? off : -off;
      (start ? curve.from : curve.to) = x[rank(curve)] + outwards;
    }
  }
}

std::vector<Curve> bend(std::span<const Arrow> arrows, std::span<const double> x, double pitch) {
  double longest = 1;
  for (const Arrow& arrow : arrows)
    longest = std::max(longest, std::abs(x[arrow.to] - x[arrow.from]) / pitch);
  const double rise = std::min(6.5, 72 / std::max(1.0, longest - 1));
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    const double span = std::abs(x[arrows[i].to] - x[arrows[i].from]) / pitch;
    Curve& curve = curves.emplace_back();
    curve.arrow = i;
    curve.above = x[arrows[i].to] > x[arrows[i].from];
    curve.height = std::min(15.0, 0.45 * pitch) + rise * std::max(0.0, span - 1);
  }
  spread_ends(curves, arrows, x, pitch);
  std::stable_sort(curves.begin(), curves.end(),
                   [](const Curve& a, const Curve& b) { return a.height > b.height; });
  return curves;
}

/// Possible positions of a label: on the curve, the nearer to its apex the better, or above the apex of a
/// short one.
std::vector<Box> label_places(const Curve& curve, double width) {
  const auto around = [&](double x, double out) {
    return Box{x - width / 2, out - label_height / 2, width, label_height};
  };
  std::vector<Box> places;
  if (std::abs(curve.to - curve.from) < 1.7 * width) {
    places.push_back(around(curve_x(curve, 0.5), curve.height + label_height / 2 + 1));
  } else {
    for (double off : {0.0, -0.06, 0.06, -0.12, 0.12, -0.18, 0.18, -0.24, 0.24})
      if (const double out = curve_out(curve, 0.5 + off); out > label_height)
        places.push_back(around(curve_x(curve, 0.5 + off), out));
    places.push_back(around(curve_x(curve, 0.5), curve.height + label_height / 2 + 1));
  }
  return places;
}

/// Places the label of every curve; false if one had to cover another.
bool place_labels(std::vector<Curve>& curves, const std::vector<std::string>& labels) {
  for (Curve& curve : curves) curve.label = {};
  for (const bool above : {true, false}) {
    std::vector<Box> taken;
    for (Curve& curve : curves) {
      if (curve.above != above || labels[curve.arrow].empty()) continue;
      const double width = text_width(labels[curve.arrow], label_size) + 5;
      const std::vector<Box> places = label_places(curve, width);
      const auto free = std::find_if(places.begin(), places.end(), [&](const Box& place) {
        return std::none_of(taken.begin(), taken.end(),
                            [&](const Box& other) { return place.overlap(other) > 0; });
      });
      if (free == places.end()) return false;
      curve.label = *free;
      taken.push_back(*free);
    }
  }
  return true;
}

void draw_label(Canvas& canvas, const Box& box, const ArrowLook& look) {
  const double strip = box.width / static_cast<double>(std::max<std::size_t>(1, look.fills.size()));
  for (std::size_t i = 0; i < look.fills.size(); ++i)
    canvas.rectangle({box.x + strip * static_cast<double>(i), box.y, strip, box.height}, look.fills[i]);
  canvas.rectangle(box, look.fills.empty() ? "#ffffff" : "none", {.colour = look.line.colour, .width = 0.8},
                   1.5);
  canvas.text(box.x + box.width / 2, box.y + box.height / 2 + 0.36 * label_size, look.label,
              {.size = label_size});
}

}  // namespace

ArrowLayout lay_out_arrows(std::span<const Arrow> arrows, std::span<const double> x, double pitch,
                           std::span<const std::vector<std::string>> labels) {
  ArrowLayout layout;
  layout.curves = bend(arrows, x, pitch);
  while (layout.label_level < labels.size() && !place_labels(layout.curves, labels[layout.label_level]))
    ++layout.label_level;
  for (Curve& curve : layout.curves) {
    if (layout.label_level == labels.size()) curve.label = {};
    double& band = curve.above ? layout.above : layout.below;
    band = std::max({band, curve.height + 3, curve.label.y + curve.label.height + 2});
  }
  return layout;
}

void draw_arrows(Canvas& canvas, const ArrowLayout& layout, std::span<const ArrowLook> looks, double left,
                 double top, double bottom, double pitch) {
  const double scale = std::clamp(pitch / 36, 0.5, 1.0);
  for (const Curve& curve : layout.curves) {
    const ArrowLook& look = looks[curve.arrow];
    const double base = curve.above ? top : bottom, out = curve.above ? -1 : 1;
    const double head = scale * (4.5 + look.line.width), half = scale * (2.1 + 0.7 * look.line.width);
    const double from = left + curve.from, to = left + curve.to, bow = base + out * curve.height * 4 / 3;
    LineStyle line = look.line;
    line.width *= scale;
    canvas.path(fmt::format("M{} {}C{} {} {} {} {} {}", number(from), number(base), number(from), number(bow),
                            number(to), number(bow), number(to), number(base + out * head * 0.8)),
                line);
    canvas.shape(fmt::format("M{} {}L{} {}L{} {}Z", number(to), number(base), number(to - half),
                             number(base + out * head), number(to + half), number(base + out * head)),
                 look.line.colour);
  }
  for (const Curve& curve : layout.curves) {
    if (curve.label.width <= 0) continue;
    Box box = curve.label;
    box.x += left;
    box.y = curve.above ? top - box.y - box.height : bottom + box.y;
    draw_label(canvas, box, looks[curve.arrow]);
  }
}

}  // namespace convene::schedule::svg
