// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/print/svg/svg_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "schedule/core/describe.hpp"
#include "schedule/core/schedule_statistics.hpp"

namespace convene::schedule::svg {
namespace {

constexpr std::size_t most_cells = 80'000;
constexpr Rank most_labelled_procs = 32;  // with more processes, columns are narrower than a label
constexpr std::size_t longest_label = 24, longest_sum = 5, most_strips = 16;
constexpr double buffer_gap = 7, node_gap = 12;

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "4 rings of 2 ranks", "1 ring of 10 ranks, 2 rings of 5 ranks".
std::string ring_sizes(std::vector<std::uint32_t> sizes) {
  if (sizes.empty()) return "no rings";
  std::sort(sizes.rbegin(), sizes.rend());
  std::string text;
  for (std::size_t i = 0; i < sizes.size();) {
    const auto equal = static_cast<std::size_t>(std::count(sizes.begin(), sizes.end(), sizes[i]));
    text +=
        fmt::format("{}{} of {}", text.empty() ? "" : ", ", plural(equal, "ring"), plural(sizes[i], "rank"));
    i += equal;
  }
  return text;
}

}  // namespace

Layout::Layout(const Plan& plan, const PlanInfo& info, const Contract& contract, const SvgOptions& options)
    : plan_(plan),
      info_(info),
      contract_(contract),
      options_(options),
      procs_(static_cast<Rank>(plan.size())) {
  require_drawable();
  origins_ = origins(contract);
  name_contents();
  Frames simulated = simulate_frames(plan, contract, options.rounds);
  rows_ = std::move(simulated.rows);
  expressions_ = std::move(simulated.expressions);
  for (Frame& frame : simulated.frames) tiles_.emplace_back().frame = std::move(frame);
  require_rounds();
  measure();
  for (Tile& tile : tiles_) lay_out(tile);
}

/// Contents for different targets differ by target, and those of one vector by segment.
void Layout::name_contents() {
  for (std::uint32_t content = 0; content < origins_.size(); ++content) {
    if (info_.naming == Naming::target)
      origins_[content] = {content / info_.segments, content % info_.segments, info_.segments};
    if (info_.naming == Naming::segment) origins_[content] = {content, 0, 1};
  }
}

std::size_t Layout::rounds_to_draw() const {
  if (!options_.rounds.empty()) return options_.rounds.size();
  std::size_t rounds = 1;
  for (const Schedule& schedule : plan_) rounds = std::max<std::size_t>(rounds, schedule.rounds());
  return rounds;
}

void Layout::require_drawable() const {
  if (procs_ == 0 || contract_.size() != procs_) throw Error("a picture needs the schedules of all ranks");
  if (procs_ > most_drawn_procs)
    throw Error(fmt::format(
        "a picture supports at most {1} processes, not {0}; use fewer processes, or --format text or json",
        procs_, most_drawn_procs));
  if (has_nodes() && options_.node_of_rank.size() != procs_)
    throw Error(fmt::format("the mapping places {} ranks, but the plan has {}; use equal numbers",
                            options_.node_of_rank.size(), procs_));
  std::size_t rows = 0;
  for (const Schedule& schedule : plan_)
    rows = std::max<std::size_t>({rows, schedule.places(Buffer::input), schedule.places(Buffer::output)});
  const std::size_t cells = rounds_to_draw() * procs_ * rows;
  if (cells > most_cells)
    throw Error(
        fmt::format("a picture of {} rounds of {} processes has {} cells, more than {}; use fewer processes, "
                    "or draw some --rounds only",
                    rounds_to_draw(), procs_, cells, most_cells));
}

void Layout::require_rounds() const {
  for (std::uint32_t round : options_.rounds)
    if (std::none_of(tiles_.begin(), tiles_.end(),
                     [&](const Tile& tile) { return tile.frame.round == round; }))
      throw Error(fmt::format("round {} is out of range; this plan has {}, counted from 0", round,
                              plural(statistics(plan_).rounds, "round")));
}

std::optional<Origin> Layout::origin(Content content) const {
  if (content >= 0 && is_sum(content))
    return Origin{expressions_->ranks(content).front(), expressions_->segment(content),
                  contract_.reduction.segments};
  const auto at = static_cast<std::size_t>(content);
  return content >= 0 && at < origins_.size() && origins_[at].parts > 0 ? std::optional(origins_[at])
                                                                        : std::nullopt;
}

std::string Layout::label(Content content) const {
  const std::optional<Origin> from = origin(content);
  if (!from) return "?";
  if (is_sum(content)) return expressions_->label(content);
  return from->parts == 1 ? fmt::format("{}", from->rank) : fmt::format("{}.{}", from->rank, from->part);
}

/// A sum by its ranks or, if these do not fit, by their number. The row names the segment.
std::string Layout::cell_label(Content content) const {
  if (!is_sum(content)) return label(content);
  const std::vector<std::uint32_t> ranks = expressions_->ranks(content);
  const std::string text = list(ranks);
  return text.size() <= longest_sum ? text : fmt::format("Σ{}", ranks.size());
}

/// Contents as a list: whole blocks by their rank, runs shortened, parts of blocks one by one.
std::string Layout::label(std::vector<Content> contents) const {
  std::sort(contents.begin(), contents.end());
  std::vector<std::uint32_t> whole;
  std::string parts;
  for (std::size_t i = 0; i < contents.size();) {
    const std::optional<Origin> from = origin(contents[i]);
    const std::size_t count = from ? from->parts : 1;
    if (from && !is_sum(contents[i]) && from->part == 0 && i + count <= contents.size() &&
        contents[i + count - 1] == contents[i] + static_cast<Content>(count) - 1) {
      whole.push_back(from->rank);
      i += count;
    } else {
      parts += (parts.empty() ? "" : ",") + label(contents[i++]);
    }
  }
  const std::string blocks = list(whole);
  return blocks + (blocks.empty() || parts.empty() ? "" : ",") + parts;
}

/// Widths and heights, from the number of processes and the longest label.
void Layout::measure() {
  std::uint32_t colours = procs_;
  for (const Origin& origin : origins_) colours = std::max(colours, origin.rank + 1);
  for (std::uint32_t i = 0; i < colours; ++i) hues_.push_back(hue(i, colours));
  double widest = 0;
  for (const Tile& tile : tiles_)
    for (const Arrow& arrow : tile.frame.arrows)
      widest = std::max(widest, text_width(label(arrow.contents), label_size) + 8);
  if (procs_ <= 16) {
    pitch = std::clamp(widest, 34.0, 56.0);
  } else {
    pitch = procs_ <= 32 ? 21 : 12.5;
    row_height = procs_ <= 32 ? 13 : 9;
    font = procs_ <= 32 ? 7.5 : 5.2;
    radius = procs_ <= 32 ? 7 : 5;
  }
  double widest_row = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row)
    widest_row = std::max(widest_row, text_width(row_label(row), 9));
  gutter = std::max(26.0, widest_row + 8);
  place_columns();
  if (options_.width > 0) narrow_columns();
}

/// Narrows columns, at most to the heads of the ranks, so that a frame fits into the wanted width.
void Layout::narrow_columns() {
  const double excess = (tile_width + 2 * margin - options_.width) / procs_;
  if (excess <= 0) return;
  pitch = std::max(pitch - excess, std::min(pitch, 2 * radius + 1));
  node_box.clear();
  node_number.clear();
  place_columns();
}

/// Columns in the order of their nodes, ranks in order within.
void Layout::place_columns() {
  std::vector<Rank> order(procs_);
  std::iota(order.begin(), order.end(), 0);
  if (has_nodes())
    std::stable_sort(order.begin(), order.end(),
                     [&](Rank a, Rank b) { return options_.node_of_rank[a] < options_.node_of_rank[b]; });
  x.resize(procs_);
  double left = gutter + (has_nodes() ? 4 : 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool new_node = has_nodes() && (i == 0 || options_.node_of_rank[order[i]] != node_number.back());
    if (new_node) {
      if (i > 0) left += node_gap;
      node_number.push_back(options_.node_of_rank[order[i]]);
      node_box.push_back({left - 3, 0, 6, 0});
    }
    x[order[i]] = left + pitch / 2;
    left += pitch;
    if (has_nodes()) node_box.back().width += pitch;
  }
  tile_width = left + (has_nodes() ? 4 : 0);
}

LineStyle Layout::line_of(const Tile& tile, std::size_t arrow) const {
  const bool crossing = crosses(tile.frame.arrows[arrow]);
  LineStyle line{.colour = crossing ? accent : local_line, .width = crossing ? 2.0 : 1.1};
  if (!has_nodes()) line = {.colour = ink, .width = 1.1};
  if (has_rings() && !tile.rings.ring_of.empty()) {
    const std::uint32_t ring = tile.rings.ring_of[arrow];
    // The palette has one hue a rank; neighbouring rings get distant ones.
    const auto rings = static_cast<std::uint32_t>(tile.rings.sizes.size());
    line.colour = hues_[ring * procs_ / std::max(1u, rings)].line;
    line.dashes = dashes[ring % std::size(dashes)];
    line.width = crossing ? 2.4 : 1.4;
  }
  if (tile.frame.arrows[arrow].is_shm_signal()) line.dashes = signal_dashes;
  return line;
}

std::string Layout::amount_of(const std::vector<Arrow>& arrows) const {
  std::uint64_t messages = 0, contents = 0, signals = 0;
  for (const Arrow& arrow : arrows) {
    messages += arrow.messages;
    contents += arrow.contents.size();
    signals += arrow.signals;
  }
  if (messages == 0 && signals > 0) return plural(signals, "signal");
  return plural(messages, "message") + ", " + plural(contents, unit());
}

/// The arrows between nodes of some frames.
std::vector<Arrow> Layout::crossing(std::span<const Tile> tiles) const {
  std::vector<Arrow> result;
  for (const Tile& tile : tiles)
    for (const Arrow& arrow : tile.frame.arrows)
      if (crosses(arrow)) result.push_back(arrow);
  return result;
}

std::string Layout::remark_on(const Tile& tile) const {
  if (tile.frame.arrows.empty()) return "";
  std::string remark;
  if (has_rings()) remark = ring_sizes(tile.rings.sizes);
  if (has_nodes()) {
    const std::vector<Arrow> between = crossing({&tile, 1});
    remark += fmt::format("{}between nodes: {}", remark.empty() ? "" : " · ",
                          between.empty() ? "none" : amount_of(between));
  }
  return remark;
}

void Layout::lay_out(Tile& tile) {
  const std::vector<Arrow>& arrows = tile.frame.arrows;
  tile.rings = find_rings(arrows, procs_);
  std::vector<std::vector<std::string>> labels(2);
  for (const Arrow& arrow : arrows) {
    labels[1].push_back(fmt::format("×{}", arrow.contents.size()));
    labels[0].push_back(label(arrow.contents));
    if (labels[0].back().size() > longest_label) labels[0].back() = labels[1].back();
  }
  if (procs_ > most_labelled_procs) labels.clear();
  tile.arrows = lay_out_arrows(arrows, x, pitch, labels);
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    ArrowLook& look = tile.looks.emplace_back();
    look.line = line_of(tile, i);
    if (tile.arrows.label_level < labels.size()) look.label = labels[tile.arrows.label_level][i];
    std::vector<Content> contents = arrows[i].contents;
    std::sort(contents.begin(), contents.end());
    for (Content content : contents)
      if (const auto from = origin(content); from && look.fills.size() < most_strips)
        look.fills.push_back(hues_[from->rank].light);
  }
  tile.title = fmt::format("Round {}", tile.frame.round);
  tile.amount = arrows.empty() ? "local copies" : amount_of(arrows);
  tile.remark = remark_on(tile);
  const double heading = bold_width(tile.title, 12) + heading_gap + text_width(tile.amount, 10);
  tile_width = std::max({tile_width, gutter + heading, gutter + text_width(tile.remark, 10)});
}

double Layout::row_y(std::size_t row) const {
  double y = row_height * static_cast<double>(row);
  for (std::size_t i = 1; i <= std::min(row, rows_.size() - 1); ++i)
    if (rows_[i].buffer != rows_[i - 1].buffer) y += buffer_gap;
  return y;
}

std::string Layout::row_label(std::size_t row) const {
  const auto [buffer, place] = rows_[row];
  if (buffer == Buffer::input)
    return rows_[row + 1].buffer == Buffer::input || place > 0 ? fmt::format("in {}", place) : "in";
  if (buffer == Buffer::shared) return fmt::format("sh {}", place);
  if (buffer != Buffer::output) return fmt::format("s{}.{}", index(buffer) - index(Buffer::scratch), place);
  if (expressions_) return fmt::format("{}", place);
  if (info_.naming == Naming::target) return info_.segments == 1 ? "out" : fmt::format("out {}", place);
  if (info_.naming == Naming::pair || info_.naming == Naming::neighbor) return fmt::format("out {}", place);
  const std::vector<Content>& wanted = contract_[info_.root].wanted;
  return place < wanted.size() && wanted[place] != nothing ? label(wanted[place]) : fmt::format("{}", place);
}

std::string Layout::sample_name() const {
  switch (info_.naming) {
    case Naming::target:
      return fmt::format("{} for rank 0", unit());
    case Naming::pair:
      return info_.peers > 0 ? "blocks of rank 0 (0.1 is for its target 1)"
                             : "blocks of rank 0 (0.1 is for rank 1)";
    case Naming::segment:
      return info_.segments == 1 ? "the root's vector" : "first segment of the root's vector";
    case Naming::source:
    case Naming::empty:
    case Naming::neighbor:
      break;
  }
  return fmt::format("{} of rank 0", unit());
}

std::string Layout::description() const {
  const Statistics all = statistics(plan_);
  std::string text =
      fmt::format("{} · {} · {} · {}", procs_ == 1 ? "1 process" : fmt::format("{} processes", procs_),
                  plural(all.rounds, "round"), plural(all.messages, "message"), plural(all.blocks, unit()));
  if (all.signals > 0) text += " · " + plural(all.signals, "signal");
  if (has_nodes()) text += " · between nodes: " + amount_of(crossing(tiles_));
  for (const auto& [name, value] : info_.parameters) text += fmt::format(" · {}={}", name, value);
  return text;
}

}  // namespace convene::schedule::svg
