// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/svg/print_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "schedule/print/svg/svg_layout.hpp"

namespace convene::schedule {
namespace {

using namespace svg;

constexpr double frame_gap = 26, line_gap = 22, usual_width = 1200;
constexpr TextStyle title_style{.size = 16, .anchor = "start", .bold = true},
    description_style{.size = 11, .colour = grey, .anchor = "start"},
    legend_style{.size = 9.5, .colour = grey, .anchor = "start"};
constexpr TextStyle note{.size = 10, .colour = grey, .anchor = "start"};
constexpr LineStyle thin{.colour = faint, .width = 0.6};

LineStyle strong(double width, std::string_view dashes = {}) { return {ink, width, dashes}; }

class Painter {
 public:
  explicit Painter(const Layout& layout) : layout_(layout) {}
  std::string paint(const PlanInfo& info);

 private:
  void tile(const Tile& tile, double left, double top, double above, bool heads_below);
  void heads(double left, double y);
  void nodes(double left, double top, double bottom);
  void cells(const Frame& frame, double left, double top);
  void cell_labels(const Frame& frame, double left, double top);
  double paragraph(double x, double y, std::string_view text, const TextStyle& style, double step,
                   std::string_view separator = " ");
  double legend(double y, double width);

  std::size_t tiles_per_line() const;
  double heading() const { return layout_.has_remarks() ? 30 : 17; }
  double table_offset() const { return 2 * layout_.radius + (layout_.has_nodes() ? 18 : 5); }
  /// Heads, table, and heads again.
  double columns_height() const { return table_offset() + layout_.table_height() + 5 + 2 * layout_.radius; }

  const Layout& layout_;
  Canvas canvas_;
  double limit_ = std::numeric_limits<double>::max();  // of lines of text
  double right_ = 0;                                   // the end of the widest row or line of text
};

/// The number of frames side by side: what fits into the wanted width or on a page, or more if the picture
/// would become much taller than wide.
std::size_t Painter::tiles_per_line() const {
  const std::size_t count = std::max<std::size_t>(1, layout_.tiles().size());
  const double area = layout_.tile_width * (heading() + columns_height() + 90) * static_cast<double>(count);
  const double wanted =
      layout_.width() > 0 ? layout_.width() - 2 * margin : std::max(usual_width, std::sqrt(area * 1.3));
  const double fitting = (wanted + frame_gap) / (layout_.tile_width + frame_gap);
  const std::size_t most = std::max<std::size_t>(1, static_cast<std::size_t>(fitting));
  const std::size_t lines = (count + most - 1) / most;
  return (count + lines - 1) / lines;
}

void Painter::heads(double left, double y) {
  for (Rank rank = 0; rank < layout_.procs(); ++rank) {
    canvas_.circle(left + layout_.x[rank], y, layout_.radius, layout_.hues()[rank].full, strong(0.9));
    canvas_.text(left + layout_.x[rank], y + 0.36 * layout_.font, fmt::format("{}", rank),
                 {.size = layout_.font, .bold = true});
  }
}

void Painter::nodes(double left, double top, double bottom) {
  for (std::size_t i = 0; i < layout_.node_box.size(); ++i) {
    const Box box{left + layout_.node_box[i].x, top, layout_.node_box[i].width, bottom - top};
    canvas_.rectangle(box, "#f3f4f6", {.colour = "#9ca3af", .width = 1}, 5);
    canvas_.text(box.x + box.width / 2, top + 2 * layout_.radius + 13,
                 fmt::format("node {}", layout_.node_number[i]),
                 {.size = std::min(9.0, box.width / 4.2), .colour = grey});
  }
}

/// One path for all cells of the same look and colour.
void Painter::cells(const Frame& frame, double left, double top) {
  const double inset = std::min(1.0, layout_.pitch * 0.05);
  const std::string width = number(layout_.pitch - 2 * inset),
                    height = number(layout_.row_height - 2 * inset);
  std::string empty;
  std::vector<std::string> kept(layout_.hues().size()), received(kept), copied(kept), combined(kept);
  for (Rank rank = 0; rank < layout_.procs(); ++rank)
    for (std::size_t row = 0; row < layout_.rows().size(); ++row) {
      const Cell& cell = frame.cells[rank][row];
      const std::optional<Origin> from = layout_.origin(cell.content);
      std::string& path = !from                             ? empty
                          : cell.change == Change::kept     ? kept[from->rank]
                          : cell.change == Change::received ? received[from->rank]
                          : cell.change == Change::combined ? combined[from->rank]
                                                            : copied[from->rank];
      path += fmt::format("M{} {}h{}v{}h-{}z", number(left + layout_.x[rank] - layout_.pitch / 2 + inset),
                          number(top + layout_.row_y(row) + inset), width, height, width);
    }
  const double border = layout_.pitch < 20 ? 0.8 : 1.4;
  const auto paint = [&](const std::vector<std::string>& paths, std::string Hue::*fill,
                         const LineStyle& line) {
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (!paths[i].empty()) canvas_.shape(paths[i], layout_.hues()[i].*fill, line);
  };
  if (!empty.empty()) canvas_.shape(empty, "#ffffff", thin);
  paint(kept, &Hue::light, thin);
  paint(copied, &Hue::full, strong(border, "2.5 2"));
  paint(received, &Hue::full, strong(border));
  paint(combined, &Hue::full, strong(2 * border));
}

void Painter::cell_labels(const Frame& frame, double left, double top) {
  for (Rank rank = 0; rank < layout_.procs(); ++rank)
    for (std::size_t row = 0; row < layout_.rows().size(); ++row) {
      const Cell& cell = frame.cells[rank][row];
      if (!layout_.origin(cell.content)) continue;
      const bool is_new = cell.change != Change::kept;
      const std::string label = layout_.cell_label(cell.content);
      const double size = std::min(
          layout_.font, (layout_.pitch - 2) / (is_new ? bold_width(label, 1) : text_width(label, 1)));
      canvas_.text(left + layout_.x[rank], top + layout_.row_y(row) + layout_.row_height / 2 + 0.36 * size,
                   label, {.size = size, .colour = is_new ? ink : grey, .bold = is_new});
    }
}

void Painter::tile(const Tile& tile, double left, double top, double above, bool heads_below) {
  const double margin_end = left + layout_.gutter - 5, radius = layout_.radius;
  canvas_.heading(left + layout_.gutter, top + 11, tile.title, {.size = 12}, tile.amount, note);
  if (!tile.remark.empty()) canvas_.text(left + layout_.gutter, top + 25, tile.remark, note);

  const double upper = top + heading() + above + radius;
  const double table = upper - radius + table_offset();
  const double bottom = table + layout_.table_height();
  const double lower = bottom + 5 + radius;
  if (layout_.has_nodes()) nodes(left, upper - radius - 3, heads_below ? lower + radius + 3 : bottom + 4);
  canvas_.text(margin_end, upper + 3, "rank", {.size = 8, .colour = grey, .anchor = "end"});
  const double size = std::min(9.0, layout_.font);
  for (std::size_t row = 0; row < layout_.rows().size(); ++row)
    canvas_.text(margin_end, table + layout_.row_y(row) + layout_.row_height / 2 + 0.36 * size,
                 layout_.row_label(row), {.size = size, .colour = grey, .anchor = "end"});
  cells(tile.frame, left, table);
  cell_labels(tile.frame, left, table);
  heads(left, upper);
  if (heads_below) heads(left, lower);
  draw_arrows(canvas_, tile.arrows, tile.looks, left, upper - radius - 1, lower + radius + 1, layout_.pitch);
}

/// The elements that the legend has to explain.
struct Used {
  bool copied = false, combined = false, received = false, messages = false, signals = false,
       several_messages = false, labels = false, counts = false, unlabelled = false, rings = false;

  explicit Used(const std::vector<Tile>& tiles) {
    for (const Tile& tile : tiles) {
      for (const auto& column : tile.frame.cells)
        for (const Cell& cell : column) {
          copied |= cell.change == Change::copied;
          combined |= cell.change == Change::combined;
          received |= cell.change == Change::received;
        }
      rings |= !tile.rings.sizes.empty();
      for (const Arrow& arrow : tile.frame.arrows) {
        several_messages |= arrow.messages > 1;
        (arrow.is_shm_signal() ? signals : messages) = true;
      }
      for (const ArrowLook& look : tile.looks) {
        labels |= !look.label.empty();
        counts |= look.label.starts_with("×");
        unlabelled |= look.label.empty();
      }
    }
  }
};

/// Paints a text in lines `step` apart. Returns the y of the last one.
double Painter::paragraph(double x, double y, std::string_view text, const TextStyle& style, double step,
                          std::string_view separator) {
  const std::vector<std::string> lines = in_lines(text, limit_ - x, style, separator);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) y += step;
    canvas_.text(x, y, lines[i], style);
    const double width = style.bold ? bold_width(lines[i], style.size) : text_width(lines[i], style.size);
    right_ = std::max(right_, x + width);
  }
  return y;
}

/// Paints samples of the elements in use. Returns the y of its end.
double Painter::legend(double y, double width) {
  double x = margin;
  const auto item = [&](double sample, std::string_view words, auto&& draw) {
    const double before = sample > 0 ? sample + 6 : 0;
    const double needed = before + text_width(words, 9.5) + 14;
    if (x > margin && x + needed > width - margin) {
      x = margin;
      y += 20;
    }
    draw(Box{x, y, sample, 14});
    y = paragraph(x + before, y + 10.5, words, legend_style, 13) - 10.5;
    x += needed;
  };
  const auto cell = [&](std::string_view words, const std::string& fill, const LineStyle& line, bool is_new) {
    item(24, words, [&](const Box& box) {
      canvas_.rectangle(box, fill, line);
      canvas_.text(box.x + box.width / 2, box.y + 10.5, "0",
                   {.size = 9.5, .colour = is_new ? ink : grey, .bold = is_new});
    });
  };
  const auto arrow = [&](std::string_view words, const LineStyle& line) {
    item(26, words, [&](const Box& box) {
      const double middle = box.y + 7, tip = box.x + box.width;
      canvas_.line(box.x, middle, tip - 5, middle, line);
      canvas_.shape(fmt::format("M{0} {1}L{2} {3}L{2} {4}Z", number(tip), number(middle), number(tip - 6.5),
                                number(middle - 3.2), number(middle + 3.2)),
                    line.colour);
    });
  };

  const Used used(layout_.tiles());
  const Hue& first = layout_.hues()[0];
  cell(layout_.sample_name() + ", held before", first.light, thin, false);
  if (used.received || !used.signals) cell("arrives in this round", first.full, strong(1.4), true);
  if (used.combined) cell("combined", first.full, strong(2.8), true);
  if (used.copied) cell("copied locally", first.full, strong(1.4, "2.5 2"), true);
  std::string what = used.several_messages ? "messages of a pair" : "message";
  if (used.labels)
    what += fmt::format(" and {} {}s", used.several_messages ? "their" : "its", layout_.unit());
  if (used.counts) what += " (×n: how many)";
  if (used.labels && used.unlabelled) what += " where there is room";
  if (layout_.has_nodes()) {
    arrow(what + ", within a node", {.colour = local_line, .width = 1.1});
    arrow("between nodes (heavy)", {.colour = layout_.has_rings() ? ink : accent, .width = 2.0});
  } else if (used.messages || !used.signals) {
    arrow(what, strong(1.1));
  }
  if (used.signals) arrow("signal", strong(1.1, signal_dashes));
  if (layout_.has_rings() && used.rings)
    arrow("one colour and line: one ring", {layout_.hues()[layout_.procs() / 2].line, 1.4, dashes[1]});
  const std::string_view axes = "columns: ranks, rows: places of the output";
  item(0,
       layout_.shows_only_output()
           ? std::string(axes)
           : fmt::format("{} (in: input, {}s: scratch)", axes, used.signals ? "sh: shared, " : ""),
       [](const Box&) {});
  return y + 14;
}

std::string Painter::paint(const PlanInfo& info) {
  const std::string title = fmt::format("{}: {}", info.collective, info.algorithm);
  const std::string description = layout_.description();
  if (layout_.width() > 0) limit_ = layout_.width() - margin;
  double y = paragraph(margin, margin + 13, title, title_style, 20);
  y = paragraph(margin, y + 17, description, description_style, 14, " · ") + 18;

  const std::vector<Tile>& tiles = layout_.tiles();
  const std::size_t per_line = tiles_per_line();
  const double step = layout_.tile_width + frame_gap;
  right_ = std::max(right_, margin + static_cast<double>(per_line) * step - frame_gap);
  if (layout_.width() > 0) limit_ = std::max(right_, limit_);
  const double legend_width = margin + (layout_.width() > 0 ? limit_ : right_);
  for (std::size_t first = 0; first < tiles.size(); first += per_line) {
    const std::size_t end = std::min(first + per_line, tiles.size());
    double above = 0, below = 0;
    for (std::size_t i = first; i < end; ++i) {
      above = std::max(above, tiles[i].arrows.above);
      below = std::max(below, tiles[i].arrows.below);
    }
    for (std::size_t i = first; i < end; ++i)
      tile(tiles[i], margin + static_cast<double>(i - first) * step, y, above, below > 0);
    y += heading() + above + columns_height() - (below > 0 ? 0 : 2 * layout_.radius) + below + line_gap;
  }
  if (tiles.empty()) canvas_.text(margin, y, "no messages", {.size = 11, .anchor = "start"});
  const double end = tiles.empty() ? y : legend(y, legend_width);
  return canvas_.document(right_ + margin, end + margin, title, description);
}

}  // namespace

std::string to_svg(const Plan& plan, const PlanInfo& info, const Contract& contract,
                   const SvgOptions& options) {
  const svg::Layout layout(plan, info, contract, options);
  return Painter(layout).paint(info);
}

}  // namespace convene::schedule
