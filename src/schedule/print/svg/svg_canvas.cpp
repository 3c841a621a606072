// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/svg/svg_canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace convene::schedule::svg {
namespace {

/// Linear light to an sRGB byte.
int srgb(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  return static_cast<int>(
      std::lround(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055)));
}

/// Björn Ottosson's OKLab, in polar form: lightness and chroma as the eye takes them.
std::string oklch(double lightness, double chroma, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double a = chroma * std::cos(angle), b = chroma * std::sin(angle);
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return fmt::format("#{:02x}{:02x}{:02x}", srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                     srgb(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                     srgb(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s));
}

std::string stroke(const LineStyle& line) {
  if (line.width <= 0) return "";
  std::string text = fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", line.colour, number(line.width));
  if (!line.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", line.dashes);
  return text;
}

// Advance widths of the characters from ' ' to '~', in thousandths of the font's size.
// Source: DejaVu Sans 2.37 and DejaVu Sans Bold 2.37, tables hmtx.
constexpr short advances[] = {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
                              636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
                              1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
                              603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
                              500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
                              635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};
constexpr short bold_advances[] = {
    348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
    696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
    683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
    724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
    343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838};
constexpr short other_advance = 838;  // of × and −, the widest of the others in use
static_assert(std::size(advances) == '~' - ' ' + 1 && std::size(bold_advances) == std::size(advances));

double width(std::string_view text, double size, std::span<const short> of) {
  int thousandths = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // the rest of a character of several bytes
    thousandths += c >= ' ' && c <= '~' ? of[static_cast<std::size_t>(c - ' ')] : other_advance;
  }
  return thousandths * size / 1000;
}

/// The attributes of a text but its place and anchor.
std::string attributes(const TextStyle& style) {
  return fmt::format(" font-size=\"{}\" fill=\"{}\"", number(style.size), style.colour);
}

}  // namespace

std::string number(double value) {
  const auto tenths = static_cast<long>(std::lround(value * 10));
  const long whole = std::abs(tenths) / 10, rest = std::abs(tenths) % 10;
  const char* sign = tenths < 0 ? "-" : "";
  return rest == 0 ? fmt::format("{}{}", sign, whole) : fmt::format("{}{}.{}", sign, whole, rest);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

double text_width(std::string_view text, double size) { return width(text, size, advances); }

double bold_width(std::string_view text, double size) { return width(text, size, bold_advances); }

std::vector<std::string> in_lines(std::string_view text, double width, const TextStyle& style,
                                  std::string_view separator) {
  const auto fits = [&](std::string_view line) {
    return (style.bold ? bold_width(line, style.size) : text_width(line, style.size)) <= width;
  };
  std::vector<std::string> lines = {""};
  while (true) {
    const std::size_t end = text.find(separator);
    const std::string_view piece = text.substr(0, end);
    const std::string longer =
        lines.back().empty() ? std::string(piece) : fmt::format("{}{}{}", lines.back(), separator, piece);
    if (lines.back().empty() || fits(longer))
      lines.back() = longer;
    else
      lines.emplace_back(piece);
    if (end == text.npos) return lines;
    text.remove_prefix(end + separator.size());
  }
}

Hue hue(unsigned index, unsigned count) {
  const double degrees = 25 + 360.0 * index / std::max(1u, count);
  return {oklch(0.80, 0.125, degrees), oklch(0.945, 0.035, degrees), oklch(0.55, 0.15, degrees)};
}

double Box::overlap(const Box& other) const {
  const double w = std::min(x + width, other.x + other.width) - std::max(x, other.x);
  const double h = std::min(y + height, other.y + other.height) - std::max(y, other.y);
  return w > 0 && h > 0 ? w * h : 0;
}

void Canvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\"{}", number(x), number(y), attributes(style));
  if (style.anchor != "middle") body_ += fmt::format(" text-anchor=\"{}\"", style.anchor);
  if (style.bold) body_ += " font-weight=\"bold\"";
  body_ += fmt::format(">{}</text>\n", escaped(text));
}

void Canvas::heading(double x, double y, std::string_view text, const TextStyle& style, std::string_view note,
                     const TextStyle& note_style) {
  body_ += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"start\"><tspan{} font-weight=\"bold\">{}</tspan>"
      "<tspan dx=\"{}\"{}>{}</tspan></text>\n",
      number(x), number(y), attributes(style), escaped(text), number(heading_gap), attributes(note_style),
      escaped(note));
}

void Canvas::rectangle(const Box& box, std::string_view fill, const LineStyle& line, double corner) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(box.x), number(box.y),
                       number(box.width), number(box.height));
  if (corner > 0) body_ += fmt::format(" rx=\"{}\"", number(corner));
  body_ += fmt::format(" fill=\"{}\"{}/>\n", fill, stroke(line));
}

void Canvas::circle(double x, double y, double radius, std::string_view fill, const LineStyle& line) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}/>\n", number(x), number(y),
                       number(radius), fill, stroke(line));
}

void Canvas::path(std::string_view d, const LineStyle& line) {
  body_ += fmt::format("<path d=\"{}\" fill=\"none\"{}/>\n", d, stroke(line));
}

void Canvas::shape(std::string_view d, std::string_view fill, const LineStyle& line) {
  body_ += fmt::format("<path d=\"{}\" fill=\"{}\"{}/>\n", d, fill, stroke(line));
}

void Canvas::line(double x1, double y1, double x2, double y2, const LineStyle& line) {
  path(fmt::format("M{} {}L{} {}", number(x1), number(y1), number(x2), number(y2)), line);
}

std::string Canvas::document(double width, double height, std::string_view title,
                             std::string_view description) const {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "style=\"--width:{0}px;max-width:100%;height:auto\" role=\"img\" "
      "font-family=\"Helvetica, Arial, sans-serif\" text-anchor=\"middle\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{4}</svg>\n",
      number(width), number(height), escaped(title), escaped(description), body_);
}

}  // namespace convene::schedule::svg
