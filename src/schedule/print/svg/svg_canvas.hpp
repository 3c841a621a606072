// SPDX-License-Identifier: BSD-3-Clause
// The canvas of pictures: shapes as SVG text, and perceptually even colours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"

namespace convene::schedule::svg {

/// A number with at most one decimal, the same on every machine.
std::string number(double value);

/// Text with the characters that XML reserves escaped.
std::string escaped(std::string_view text);

/// The width of a text in DejaVu Sans, the widest of the common sans-serif fonts.
double text_width(std::string_view text, double size);
double bold_width(std::string_view text, double size);

/// The colours of one hue, as "#rrggbb": all hues have the same lightness and strength.
struct Hue {
  std::string full;   ///< fills new contents
  std::string light;  ///< fills contents from earlier rounds
  std::string line;   ///< for lines on white
};

/// The hue of member `index` of `count`, evenly around the circle (OKLCH).
Hue hue(unsigned index, unsigned count);

inline constexpr std::string_view ink = "#1f2937", grey = "#6b7280", faint = "#d9dce1", accent = "#c2410c",
                                  local_line = "#64748b";

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double overlap(const Box& other) const;  ///< area
};

inline constexpr double heading_gap = 10;

struct TextStyle {
  double size = 10;
  std::string_view colour = ink;
  std::string_view anchor = "middle";  ///< start, middle, end
  bool bold = false;
};

/// A text in lines of at most this width, broken only at `separator`. A wider piece has a line of its own.
std::vector<std::string> in_lines(std::string_view text, double width, const TextStyle& style,
                                  std::string_view separator = " ");

struct LineStyle {
  std::string_view colour = ink;
  double width = 1;
  std::string_view dashes = {};
};

/// Collects the elements of a document in the order in which they are painted.
class Canvas {
 public:
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  /// A bold text and, `heading_gap` behind it in every font, a note.
  void heading(double x, double y, std::string_view text, const TextStyle& style, std::string_view note,
               const TextStyle& note_style);
  void rectangle(const Box& box, std::string_view fill, const LineStyle& line = {.width = 0},
                 double corner = 0);
  void circle(double x, double y, double radius, std::string_view fill, const LineStyle& line);
  /// An open path, "M… C…".
  void path(std::string_view d, const LineStyle& line);
  /// A closed, filled path.
  void shape(std::string_view d, std::string_view fill, const LineStyle& line = {.width = 0});
  void line(double x1, double y1, double x2, double y2, const LineStyle& line);

  /// The document; `title` and `description` are for screen readers. It shrinks to a narrower window.
  std::string document(double width, double height, std::string_view title,
                       std::string_view description) const;

 private:
  std::string body_;
};

}  // namespace convene::schedule::svg
