// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/lower_bound.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

namespace convene::simulate {
namespace {

constexpr std::size_t most_thresholds = 32;

/// Times of the optimal broadcast tree, by number of informed units. Each of a unit's `processors` starts a
/// message every `spacing` seconds; it arrives `message` seconds later.
std::vector<double> tree_times(std::uint32_t units, std::uint32_t processors, double spacing,
                               double message) {
  std::vector<double> times = {0, 0};
  std::priority_queue<double, std::vector<double>, std::greater<>> next;  // ends of messages
  const auto inform = [&](double at) {
    for (std::uint32_t processor = 0; processor < processors; ++processor) next.push(at + message);
  };
  inform(0);
  while (times.size() <= units) {
    const double end = next.top();
    next.pop();
    next.push(end + spacing);
    times.push_back(end);
    inform(end);
  }
  return times;
}

/// The numbers of the units that occur, without gaps.
std::uint32_t close_gaps(std::vector<std::uint32_t>& units) {
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t& unit : units)
    unit = numbers.try_emplace(unit, static_cast<std::uint32_t>(numbers.size())).first->second;
  return static_cast<std::uint32_t>(numbers.size());
}

double total_bandwidth(const Link& link) {
  if (link.shared == Shared::no) return std::numeric_limits<double>::infinity();
  return link.bandwidth * (link.shared == Shared::each_way ? 2 : 1);
}

double bandwidth_one_way(const Link& link) {
  return link.shared == Shared::no ? std::numeric_limits<double>::infinity() : link.bandwidth;
}

/// The times t: all arrivals, or a selection with the latest.
std::vector<double> thresholds(std::span<const double> arrivals) {
  std::vector<double> all(arrivals.begin(), arrivals.end());
  std::ranges::sort(all, std::greater<>());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() <= most_thresholds) return all;
  std::vector<double> some;
  for (std::size_t i = 0; i < most_thresholds; ++i)
    some.push_back(all[i * (all.size() - 1) / (most_thresholds - 1)]);
  return some;
}

}  // namespace

LowerBounds::LowerBounds(const SimulatedPlatform& platform, const Seating& seating)
    : procs_(seating.mapping.procs()),
      send_(platform.cpu.send),
      recv_(platform.cpu.recv),
      node_(seating.mapping.node_of_rank()) {
  const std::vector<std::uint32_t> node_of_rank = node_;
  nodes_ = close_gaps(node_);
  std::vector<std::uint32_t> on_node(nodes_);
  for (const std::uint32_t node : node_) most_on_node_ = std::max(most_on_node_, ++on_node[node]);
  lowest_latency_ = std::numeric_limits<double>::infinity();
  if (nodes_ > 1) lowest_latency_ = 2 * platform.network.node.latency;
  if (most_on_node_ > 1)
    for (const Link& link : platform.within) lowest_latency_ = std::min(lowest_latency_, link.latency);
  if (procs_ == 1) lowest_latency_ = 0;
  const Link& link = platform.network.node;
  add_cut(node_of_rank, bandwidth_one_way(link), 2 * link.latency, link.shared == Shared::both_ways);
  add_network_cuts(platform.network, node_of_rank);
  add_memory(platform, seating.mapping.machine());
  const double spacing = std::max(send_, platform.gap);
  const double near = send_ + lowest_latency_ + recv_, far = send_ + 2 * link.latency + recv_;
  spread_ = tree_times(procs_, 1, spacing, near);
  collect_ = tree_times(procs_, 1, recv_, near);
  spread_nodes_ = tree_times(nodes_, most_on_node_, spacing, far);
  collect_nodes_ = tree_times(nodes_, most_on_node_, recv_, far);
}

void LowerBounds::add_cut(std::vector<std::uint32_t> units, double bandwidth, double latency,
                          bool both_ways) {
  Cut cut{
      .unit = std::move(units), .seconds_a_byte = 1 / bandwidth, .latency = latency, .both_ways = both_ways};
  cut.units = close_gaps(cut.unit);
  if (cut.units > 1) cuts_.push_back(std::move(cut));
}

void LowerBounds::add_network_cuts(const NetworkSpec& network, std::span<const std::uint32_t> node_of_rank) {
  const bool both_ways = network.uplink.shared == Shared::both_ways;
  const double latency = 2 * network.node.latency, bandwidth = bandwidth_one_way(network.uplink);
  std::vector<std::uint32_t> units(procs_);
  if (network.shape == NetworkShape::tree) {
    std::vector<std::uint32_t> leaf_of_node;
    for (std::uint32_t leaf = 0; leaf < network.leaves.size(); ++leaf)
      leaf_of_node.insert(leaf_of_node.end(), network.leaves[leaf], leaf);
    for (std::uint32_t rank = 0; rank < procs_; ++rank) units[rank] = leaf_of_node[node_of_rank[rank]];
    add_cut(units, bandwidth, latency + 2 * network.uplink.latency, both_ways);
  }
  if (network.shape != NetworkShape::fat_tree) return;
  std::uint32_t in_group = 1;
  for (std::size_t level = 0; level < network.up.size(); ++level) {
    in_group *= network.down[level];
    for (std::uint32_t rank = 0; rank < procs_; ++rank) units[rank] = node_of_rank[rank] / in_group;
    add_cut(units, bandwidth * network.up[level],
            latency + 2 * static_cast<double>(level + 1) * network.uplink.latency, both_ways);
  }
}

/// The links within a node, and those that a single rank's data can pass.
void LowerBounds::add_memory(const SimulatedPlatform& platform, const Machine& machine) {
  if (most_on_node_ == 1) return;
  const double network = nodes_ > 1 ? bandwidth_one_way(platform.network.node) : 0;
  double of_rank = network, of_node = network, units = 1;
  const auto& levels = machine.levels();
  const auto node = std::ranges::find(levels, "node", &Level::name);
  for (std::size_t level = 0; level < platform.within.size(); ++level) {
    of_rank += total_bandwidth(platform.within[level]);
    of_node += units * total_bandwidth(platform.within[level]);
    const auto below = static_cast<std::size_t>(node - levels.begin()) + level + 1;
    if (below < levels.size()) units *= levels[below].count;
  }
  memory_seconds_a_byte_ = 1 / of_node;
  std::vector<std::uint32_t> ranks(procs_);
  std::iota(ranks.begin(), ranks.end(), 0);
  add_cut(std::move(ranks), of_rank, lowest_latency_, false);
  cuts_.back().in_memory = true;
}

/// The statements for all t, each of which raises the bound.
class LowerBounds::Evaluation {
 public:
  Evaluation(const LowerBounds& bounds, const Demand& demand, std::span<const double> arrivals,
             bool background, bool shared_memory)
      : bounds_(bounds),
        demand_(demand),
        arrivals_(arrivals),
        shared_memory_(shared_memory),
        late_(bounds.procs_) {
    bound_.exits.assign(arrivals.begin(), arrivals.end());
    if (demand.data != Demand::Data::nothing) {
      find_ends();
      add_work(background);
      add_spreading();
      for (const double t : thresholds(arrivals)) add_threshold(t);
    }
    for (const double exit : bound_.exits) bound_.end = std::max(bound_.end, exit);
  }

  LowerBound take() { return std::move(bound_); }

 private:
  using Rank = std::uint32_t;

  bool is_one_of(Rank rank, Rank only) const { return only == Demand::every || only == rank; }
  double bytes(Rank rank) const { return demand_.bytes.empty() ? 0 : demand_.bytes[rank]; }
  /// Who has data that others need, and who needs data. (Nothing depends on empty blocks.)
  void find_ends() {
    const bool of_sources = demand_.data == Demand::Data::inputs;
    const bool are_all_empty =
        !demand_.empty && std::ranges::none_of(demand_.bytes, [](double bytes) { return bytes > 0; });
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      const bool has_bytes = demand_.empty || bytes(rank) > 0;
      source_.push_back(is_one_of(rank, demand_.source) && (of_sources ? has_bytes : !are_all_empty));
      destination_.push_back(is_one_of(rank, demand_.destination) && (of_sources || has_bytes));
    }
    sources_ = static_cast<Rank>(std::ranges::count(source_, true));
    destinations_ = static_cast<Rank>(std::ranges::count(destination_, true));
  }

  void raise(Rank rank, double exit) { bound_.exits[rank] = std::max(bound_.exits[rank], exit); }
  void raise_end(double end) { bound_.end = std::max(bound_.end, end); }

  /// The number of other ranks that need a rank's input.
  Rank needed_by(Rank rank) const {
    if (!source_[rank]) return 0;
    if (demand_.prefix) return bounds_.procs_ - 1 - rank;
    return destinations_ - static_cast<Rank>(destination_[rank]);
  }
  bool needs_others(Rank rank) const {
    if (!destination_[rank]) return false;
    return demand_.prefix ? rank > 0 : sources_ > static_cast<Rank>(source_[rank]);
  }

  void add_work(bool background) {
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      if (needed_by(rank) > 0) raise(rank, arrivals_[rank] + bounds_.send_);
      if (needs_others(rank) && !background) raise(rank, arrivals_[rank] + bounds_.recv_);
    }
  }

  void add_spreading() {
    std::vector<bool> has(bounds_.nodes_);
    for (Rank rank = 0; rank < bounds_.procs_; ++rank)
      if (destination_[rank]) has[bounds_.node_[rank]] = true;
    const auto nodes = static_cast<std::size_t>(std::ranges::count(has, true));
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      const Rank others = needed_by(rank);
      if (others == 0) continue;
      raise_end(arrivals_[rank] + bounds_.spread_[others + 1]);
      if (!demand_.prefix)
        raise_end(arrivals_[rank] + bounds_.spread_nodes_[nodes + (has[bounds_.node_[rank]] ? 0 : 1)]);
    }
  }

  void add_threshold(double t) {
    Rank late = 0;
    for (Rank rank = 0; rank < bounds_.procs_; ++rank)
      late += static_cast<Rank>(late_[rank] = source_[rank] && arrivals_[rank] >= t);
    if (late == 0) return;
    add_collecting(t, late);
    for (const Cut& cut : bounds_.cuts_)
      if (!cut.in_memory || !shared_memory_) add_cut(t, cut);
    if (bounds_.memory_seconds_a_byte_ > 0 && !shared_memory_) add_memory(t, late);
  }

  /// Rounds in which data of late ranks reach a destination.
  void add_collecting(double t, Rank late) {
    if (demand_.prefix) return;
    std::vector<bool> has(bounds_.nodes_);
    for (Rank rank = 0; rank < bounds_.procs_; ++rank)
      if (late_[rank]) has[bounds_.node_[rank]] = true;
    const auto nodes = static_cast<std::size_t>(std::ranges::count(has, true));
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      const Rank others = late - static_cast<Rank>(late_[rank]);
      if (!destination_[rank] || others == 0) continue;
      raise(rank, t + bounds_.collect_[others + 1]);
      raise(rank, t + bounds_.collect_nodes_[nodes + (has[bounds_.node_[rank]] ? 0 : 1)]);
    }
  }

  /// Late sources: of each unit, and of all.
  struct Late {
    std::vector<Rank> count;   // by unit
    std::vector<double> sent;  // by unit: bytes of its inputs
    Rank all = 0;
    double all_sent = 0;
    Rank first = Demand::every, other_first = Demand::every;  // the first of all, and of other units
    std::size_t most = 0, next = 0;                           // the units with the most bytes
  };

  Late late_by_unit(const Cut& cut) const {
    Late found{.count = std::vector<Rank>(cut.units), .sent = std::vector<double>(cut.units)};
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      if (!late_[rank]) continue;
      ++found.count[cut.unit[rank]];
      ++found.all;
      found.sent[cut.unit[rank]] += bytes(rank);
      found.all_sent += bytes(rank);
      if (found.first == Demand::every)
        found.first = rank;
      else if (found.other_first == Demand::every && cut.unit[rank] != cut.unit[found.first])
        found.other_first = rank;
    }
    if (found.sent[1] > found.sent[0]) found.most = 1;
    found.next = 1 - found.most;
    for (std::size_t unit = 2; unit < found.sent.size(); ++unit) {
      if (found.sent[unit] > found.sent[found.most])
        found.next = std::exchange(found.most, unit);
      else if (found.sent[unit] > found.sent[found.next])
        found.next = unit;
    }
    return found;
  }

  /// Whether a destination needs data of late ranks outside its unit.
  bool crosses(Rank rank, const Cut& cut, const Late& late) const {
    const Rank unit = cut.unit[rank];
    if (!destination_[rank] || late.count[unit] == late.all) return false;
    if (!demand_.prefix) return true;
    return (cut.unit[late.first] == unit ? late.other_first : late.first) < rank;
  }

  /// The bytes that a destination needs of late ranks outside its unit.
  double needed(Rank rank, Rank unit, const Late& late) const {
    switch (demand_.data) {
      case Demand::Data::inputs:
        return late.all_sent - late.sent[unit];
      case Demand::Data::parts:
        return bytes(rank) * (late.all - late.count[unit]);
      default:
        return bytes(rank);
    }
  }

  void add_cut(double t, const Cut& cut) {
    const Late late = late_by_unit(cut);
    const double least = t + bounds_.send_ + cut.latency + bounds_.recv_;
    const bool is_inputs = demand_.data == Demand::Data::inputs;
    const bool is_shared = is_inputs || (demand_.data == Demand::Data::combined && demand_.same);
    std::vector<double> in(cut.units);  // by unit: bytes that it needs
    double all_parts = 0;               // of all destinations
    std::vector<double> parts(cut.units);
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      const Rank unit = cut.unit[rank];
      if (destination_[rank] && !is_inputs) all_parts += bytes(rank), parts[unit] += bytes(rank);
      if (!crosses(rank, cut, late)) continue;
      const double own = needed(rank, unit, late);
      in[unit] = is_shared ? std::max(in[unit], own) : in[unit] + own;
      raise(rank, least + cut.seconds_a_byte * own);
      // What one other unit sends; combined data need no other unit to be sent alone.
      if (is_inputs)
        raise(rank, least + cut.seconds_a_byte * late.sent[late.most == unit ? late.next : late.most]);
    }
    for (std::size_t unit = 0; unit < cut.units; ++unit) {
      double out = 0;
      if (late.count[unit] > 0) {
        if (is_inputs)
          out = late.sent[unit] * (has_destination_outside(unit, cut) ? 1 : 0);
        else if (is_shared)
          out = has_destination_outside(unit, cut) && !demand_.prefix ? bytes(0) : 0;
        else
          out = (all_parts - parts[unit]) * (demand_.data == Demand::Data::parts ? late.count[unit] : 1);
      }
      const double most = cut.both_ways ? in[unit] + out : std::max(in[unit], out);
      if (most > 0) raise_end(least + cut.seconds_a_byte * most);
    }
  }

  bool has_destination_outside(std::size_t unit, const Cut& cut) const {
    if (demand_.destination != Demand::every) return cut.unit[demand_.destination] != unit;
    return cut.units > 1;
  }

  /// What the ranks of a node need together of other ranks.
  void add_memory(double t, Rank late) {
    double all_sent = 0;
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) all_sent += late_[rank] ? bytes(rank) : 0;
    Rank first = 0;
    while (!late_[first]) ++first;
    std::vector<double> received(bounds_.nodes_);
    for (Rank rank = 0; rank < bounds_.procs_; ++rank) {
      const Rank others = late - static_cast<Rank>(late_[rank]);
      if (!destination_[rank] || others == 0 || (demand_.prefix && first >= rank)) continue;
      double& sum = received[bounds_.node_[rank]];
      if (demand_.data == Demand::Data::inputs)
        sum += all_sent - (late_[rank] ? bytes(rank) : 0);
      else
        sum += bytes(rank) * (demand_.data == Demand::Data::parts ? others : 1);
    }
    const double most = *std::ranges::max_element(received);
    if (most > 0)
      raise_end(t + bounds_.send_ + most * bounds_.memory_seconds_a_byte_ + bounds_.lowest_latency_ +
                bounds_.recv_);
  }

  const LowerBounds& bounds_;
  const Demand& demand_;
  const std::span<const double> arrivals_;
  const bool shared_memory_;
  std::vector<bool> source_, destination_, late_;
  Rank sources_ = 0, destinations_ = 0;
  LowerBound bound_;
};

LowerBound LowerBounds::of(const Demand& demand, std::span<const double> arrivals, bool background,
                           bool shared_memory) const {
  return Evaluation(*this, demand, arrivals, background, shared_memory).take();
}

}  // namespace convene::simulate
