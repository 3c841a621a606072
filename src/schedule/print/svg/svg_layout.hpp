// SPDX-License-Identifier: BSD-3-Clause
// The layout of a picture: its contents, their positions and their labels, computed before anything is
// painted.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/print/frames.hpp"
#include "schedule/print/print.hpp"
#include "schedule/print/svg/svg_arrows.hpp"
#include "schedule/print/svg/svg_canvas.hpp"
#include "schedule/print/svg/svg_options.hpp"

namespace convene::schedule::svg {

/// One frame with its arrows and texts.
struct Tile {
  Frame frame;
  Rings rings;
  ArrowLayout arrows;
  std::vector<ArrowLook> looks;
  std::string title, amount, remark;
};

inline constexpr double margin = 16;  ///< around the picture

/// Line types: of signals, and of rings, which colour alone may not distinguish.
inline constexpr std::string_view signal_dashes = "1.5 2.5";
inline constexpr std::string_view dashes[] = {"", "5 2.5", "1.8 2.2", "7 2 1.8 2"};

class Layout {
 public:
  /// Simulates the plan and computes the layout. The arguments must outlive it. Throws Error if there is
  /// nothing to draw or too much.
  Layout(const Plan& plan, const PlanInfo& info, const Contract& contract, const SvgOptions& options);
  Layout(const Layout&) = delete;  // lines refer to the hues
  Layout& operator=(const Layout&) = delete;

  Rank procs() const { return procs_; }
  bool is_sum(Content content) const { return expressions_ && expressions_->is_combined(content); }
  bool has_nodes() const { return !options_.node_of_rank.empty(); }
  bool has_rings() const { return options_.rings; }
  double width() const { return options_.width; }
  bool has_remarks() const { return has_rings() || has_nodes(); }

  const std::vector<Tile>& tiles() const { return tiles_; }
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<Hue>& hues() const { return hues_; }

  // Names.
  std::string_view unit() const { return info_.unit(); }
  std::string sample_name() const;  ///< the content of the legend's sample cell
  /// The source of a content; of a sum, the lowest of its ranks. Empty for `nothing`.
  std::optional<Origin> origin(Content content) const;
  std::string label(Content content) const;
  std::string cell_label(Content content) const;  ///< shorter, for a cell
  std::string label(std::vector<Content> contents) const;
  std::string row_label(std::size_t row) const;
  std::string description() const;
  bool shows_only_output() const { return rows_.size() <= contract_[0].wanted.size(); }

  // Measures, in pixels from the left and the top of a frame's table.
  double pitch = 36, row_height = 18, font = 10, radius = 8.5, gutter = 26, tile_width = 0;
  std::vector<double> x;      ///< by rank: the middle of its column
  std::vector<Box> node_box;  ///< by node that has ranks: x and width
  std::vector<std::uint32_t> node_number;
  double row_y(std::size_t row) const;
  double table_height() const { return row_y(rows_.size() - 1) + row_height; }

 private:
  void name_contents();
  void require_drawable() const;
  void require_rounds() const;
  std::size_t rounds_to_draw() const;
  bool crosses(const Arrow& arrow) const {
    return has_nodes() && options_.node_of_rank[arrow.from] != options_.node_of_rank[arrow.to];
  }
  void measure();
  void narrow_columns();
  void place_columns();
  void lay_out(Tile& tile);
  LineStyle line_of(const Tile& tile, std::size_t arrow) const;
  std::string amount_of(const std::vector<Arrow>& arrows) const;
  std::vector<Arrow> crossing(std::span<const Tile> tiles) const;
  std::string remark_on(const Tile& tile) const;

  const Plan& plan_;
  const PlanInfo& info_;
  const Contract& contract_;
  const SvgOptions& options_;
  const Rank procs_;
  std::vector<Origin> origins_;  // by content that some rank contributes
  std::optional<Expressions> expressions_;
  std::vector<Row> rows_;
  std::vector<Tile> tiles_;
  std::vector<Hue> hues_;  // by rank; by segment, if a vector has more segments than there are ranks
};

}  // namespace convene::schedule::svg
