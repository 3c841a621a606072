// SPDX-License-Identifier: BSD-3-Clause
#include "topology/mapping.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::topology {
namespace {

// A limit above all real machines, for which every product of counts fits 32 bits.
constexpr std::uint64_t most_seats = 1u << 28;

/// On one line, whatever the text holds.
std::string quoted(std::string_view text) {
  std::string result = in_quotes(text);
  result.front() = result.back() = '"';
  return result;
}

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The nonempty parts of a text between any of these characters.
std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Level parse_level(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string_view name = text.substr(0, colon);
  const bool named =
      !name.empty() && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
  const auto count = colon < text.size() ? whole_number(text.substr(colon + 1)) : std::nullopt;
  if (!named || !count || *count == 0)
    throw Error("the machine's level " + quoted(text) +
                " is not of the form NAME:COUNT with a count of at least 1; "
                "an example is \"node:4 core:8\"");
  return {std::string(name), *count};
}

void require_fit(const Machine& machine, std::uint32_t procs) {
  if (procs <= machine.seats()) return;
  throw Error(std::to_string(procs) + " processes do not fit on " + quoted(machine.text()) + ", which has " +
              std::to_string(machine.seats()) + " seats; name more nodes or more cores, or fewer processes");
}

std::vector<std::uint32_t> parse_nodes(std::string_view text) {
  std::vector<std::uint32_t> nodes;
  for (std::string_view part : split(text, ", ")) {
    const auto node = whole_number(part);
    if (!node)
      throw Error("the placement " + quoted(text) + " is unknown (at " + quoted(part) +
                  "); use \"sequential\", \"cyclic\" or one node per rank, such as \"0,0,1,1\"");
    nodes.push_back(*node);
  }
  return nodes;
}

/// The smallest machine of nodes and cores whose nodes hold these ranks.
Machine just_large_enough(std::span<const std::uint32_t> nodes) {
  std::uint32_t last = 0, cores = 1;
  for (std::uint32_t node : nodes) {
    last = std::max(last, node);
    cores = std::max(cores, static_cast<std::uint32_t>(std::count(nodes.begin(), nodes.end(), node)));
  }
  return Machine::parse("node:" + std::to_string(std::uint64_t{last} + 1) + " core:" + std::to_string(cores));
}

}  // namespace

Machine Machine::parse(std::string_view text) {
  Machine machine;
  std::uint64_t seats = 1;
  for (std::string_view part : split(text, " ,\t")) {
    Level level = parse_level(part);
    for (const Level& other : machine.levels_)
      if (other.name == level.name)
        throw Error("the machine " + quoted(text) + " has two levels named " + quoted(level.name));
    seats *= level.count;
    if (seats > most_seats)
      throw Error("the machine " + quoted(text) + " has more than " + std::to_string(most_seats) + " seats");
    machine.levels_.push_back(std::move(level));
  }
  const auto node = std::find_if(machine.levels_.begin(), machine.levels_.end(),
                                 [](const Level& level) { return level.name == "node"; });
  if (node == machine.levels_.end())
    throw Error("the machine " + quoted(text) +
                " has no level named \"node\"; an example is \"node:4 core:8\"");
  machine.node_level_ = static_cast<std::size_t>(node - machine.levels_.begin());
  return machine;
}

std::uint32_t Machine::seats() const {
  std::uint32_t product = 1;
  for (const Level& level : levels_) product *= level.count;
  return product;
}

std::uint32_t Machine::nodes() const {
  std::uint32_t product = 1;
  for (std::size_t i = 0; i <= node_level_; ++i) product *= levels_[i].count;
  return product;
}

bool Machine::has_domains() const {
  return std::any_of(levels_.begin() + static_cast<std::ptrdiff_t>(node_level_) + 1, levels_.end(),
                     [](const Level& level) { return find_domain_level(level.name).has_value(); });
}

std::string Machine::text() const {
  std::string result;
  for (const Level& level : levels_) {
    if (!result.empty()) result += ' ';
    result += level.name + ':' + std::to_string(level.count);
  }
  return result;
}

Mapping::Mapping(Machine machine, std::vector<std::uint32_t> seats)
    : machine_(std::move(machine)), seats_(std::move(seats)) {}

Mapping Mapping::sequential(const Machine& machine, std::uint32_t procs) {
  require_fit(machine, procs);
  std::vector<std::uint32_t> seats(procs);
  for (std::uint32_t rank = 0; rank < procs; ++rank) seats[rank] = rank;
  return {machine, std::move(seats)};
}

Mapping Mapping::cyclic(const Machine& machine, std::uint32_t procs) {
  require_fit(machine, procs);
  const std::uint32_t nodes = machine.nodes(), per_node = machine.seats_per_node();
  std::vector<std::uint32_t> seats(procs);
  for (std::uint32_t rank = 0; rank < procs; ++rank) seats[rank] = rank % nodes * per_node + rank / nodes;
  return {machine, std::move(seats)};
}

Mapping Mapping::on_nodes(const Machine& machine, std::span<const std::uint32_t> nodes) {
  std::vector<std::uint32_t> taken(machine.nodes(), 0), seats;
  for (std::uint32_t node : nodes) {
    const std::string who =
        "rank " + std::to_string(seats.size()) + " is mapped to node " + std::to_string(node);
    if (node >= machine.nodes())
      throw Error(who + ", but " + quoted(machine.text()) + " has nodes 0 to " +
                  std::to_string(machine.nodes() - 1));
    if (taken[node] == machine.seats_per_node())
      throw Error(who + ", whose " + std::to_string(machine.seats_per_node()) +
                  " seats are taken; name more cores or another node");
    seats.push_back(node * machine.seats_per_node() + taken[node]++);
  }
  return {machine, std::move(seats)};
}

Mapping Mapping::parse(std::string_view machine, std::string_view placement, std::uint32_t procs) {
  const bool empty = split(machine, " ,\t").empty();
  if (placement == "sequential" || placement == "cyclic") {
    if (empty)
      throw Error("a " + std::string(placement) + " placement needs a machine, such as \"node:4 core:8\"");
    return placement == "cyclic" ? cyclic(Machine::parse(machine), procs)
                                 : sequential(Machine::parse(machine), procs);
  }
  const std::vector<std::uint32_t> nodes = parse_nodes(placement);
  if (nodes.size() != procs)
    throw Error("the placement " + quoted(placement) + " names " + std::to_string(nodes.size()) +
                " nodes for " + std::to_string(procs) + " processes; name one node per rank");
  return on_nodes(empty ? just_large_enough(nodes) : Machine::parse(machine), nodes);
}

std::vector<std::uint32_t> Mapping::node_of_rank() const {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < procs(); ++rank) nodes.push_back(node_of(rank));
  return nodes;
}

std::vector<Domains> Mapping::domains_of_rank() const {
  if (!machine_.has_domains()) return {};
  std::vector<Domains> domains(procs());
  std::uint32_t seats = machine_.seats_per_node();  // of a unit
  for (std::size_t i = machine_.node_level_ + 1; i < levels(); ++i) {
    seats /= machine_.levels()[i].count;
    const auto level = find_domain_level(machine_.levels()[i].name);
    for (std::uint32_t rank = 0; level && rank < procs(); ++rank)
      domains[rank][static_cast<std::size_t>(*level)] = seats_[rank] % machine_.seats_per_node() / seats;
  }
  return domains;
}

std::uint32_t Mapping::distance(std::uint32_t a, std::uint32_t b) const {
  std::uint32_t climbed = 0;
  std::uint32_t unit_a = seats_[a], unit_b = seats_[b];
  for (std::size_t level = levels(); unit_a != unit_b; --level, ++climbed) {
    unit_a /= machine_.levels()[level - 1].count;
    unit_b /= machine_.levels()[level - 1].count;
  }
  return climbed;
}

std::uint64_t Mapping::hop_bytes(std::span<const Traffic> traffic) const {
  std::uint64_t cost = 0;
  for (const Traffic& t : traffic) {
    const std::uint32_t from = node_of(t.from), to = node_of(t.to);
    cost += t.bytes * (from > to ? from - to : to - from);
  }
  return cost;
}

std::string Mapping::text() const {
  std::vector<std::vector<std::uint32_t>> by_seat(machine_.nodes());
  for (std::uint32_t rank = 0; rank < procs(); ++rank) by_seat[node_of(rank)].push_back(rank);
  std::string result = std::to_string(procs()) + " ranks on " + machine_.text() + '\n';
  for (std::size_t node = 0; node < by_seat.size(); ++node) {
    if (by_seat[node].empty()) continue;
    result += "node " + std::to_string(node) + ':';
    for (std::uint32_t rank : by_seat[node]) result += ' ' + std::to_string(rank);
    result += '\n';
  }
  return result;
}

}  // namespace convene::topology
