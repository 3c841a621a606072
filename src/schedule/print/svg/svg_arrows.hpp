// SPDX-License-Identifier: BSD-3-Clause
// The arrows of one frame. Arrows to the right run above the columns, arrows to the left below them. Every
// label gets a position on its arrow where it covers no other label.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "schedule/print/frames.hpp"
#include "schedule/print/svg/svg_canvas.hpp"

namespace convene::schedule::svg {

/// One arrow in the band above or below the columns. `out` is the distance from the columns, growing
/// outwards.
struct Curve {
  std::size_t arrow = 0;
  double from = 0, to = 0;  ///< x of its ends
  double height = 0;        ///< of its apex
  bool above = true;
  Box label;  ///< y is `out`; empty: no label
};

struct ArrowLayout {
  std::vector<Curve> curves;    ///< long ones first: short ones are painted over them
  double above = 0, below = 0;  ///< the height that each band needs
  std::size_t label_level = 0;  ///< the first of the given sets of labels without overlaps
};

/// The look of an arrow and its label.
struct ArrowLook {
  LineStyle line;
  std::string label;
  std::vector<std::string> fills;  ///< the label's background, in equal strips
};

inline constexpr double label_size = 8.5, label_height = 11.5;

/// `x` is the middle of every rank's column. `labels` are sets of labels (by arrow), the fullest first; the
/// first one without overlaps is used, or none if all overlap.
ArrowLayout lay_out_arrows(std::span<const Arrow> arrows, std::span<const double> x, double pitch,
                           std::span<const std::vector<std::string>> labels);

/// Paints a layout; the bands begin at y = `top` (upwards) and `bottom` (downwards), the columns' x at
/// `left`.
void draw_arrows(Canvas& canvas, const ArrowLayout& layout, std::span<const ArrowLook> looks, double left,
                 double top, double bottom, double pitch);

}  // namespace convene::schedule::svg
