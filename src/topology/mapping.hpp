// SPDX-License-Identifier: BSD-3-Clause
// Machines as trees of levels, and mappings of ranks to their seats.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layers.hpp"
#include "topology/domains.hpp"

namespace convene::topology {

/// A level of the machine: its name, and the number of its units in each unit of the level above.
struct Level {
  std::string name;
  std::uint32_t count = 1;
  friend bool operator==(const Level&, const Level&) = default;
};

/// The levels, outermost first. The units of the innermost level are the seats: one rank sits on each.
class Machine {
 public:
  /// Reads "node:4 core:8" (levels separated by blanks or commas, outermost first; one must be called
  /// `node`). Throws Error.
  static Machine parse(std::string_view text);

  const std::vector<Level>& levels() const { return levels_; }
  std::uint32_t seats() const;  ///< of the whole machine
  std::uint32_t nodes() const;  ///< of the whole machine
  std::uint32_t seats_per_node() const { return seats() / nodes(); }
  /// True if a level within the nodes is a level of domains.
  bool has_domains() const;
  std::string text() const;  ///< in the form of parse()

 private:
  friend class Mapping;
  std::vector<Level> levels_;
  std::size_t node_level_ = 0;
};

/// Bytes that one rank sends to another.
struct Traffic {
  std::uint32_t from, to;
  std::uint64_t bytes;
};

/// The seat of each rank. Seats are numbered through the machine, so that consecutive seats are neighbours.
class Mapping {
 public:
  /// Fills one node after the other. Throws Error if the processes do not fit, as do the next three.
  static Mapping sequential(const Machine& machine, std::uint32_t procs);
  /// Assigns ranks to nodes round-robin.
  static Mapping cyclic(const Machine& machine, std::uint32_t procs);
  /// Assigns rank i to the first free seat of node nodes[i].
  static Mapping on_nodes(const Machine& machine, std::span<const std::uint32_t> nodes);
  /// `placement` is "sequential", "cyclic" or a list of one node per rank, "0,0,1,1". If `machine` is empty,
  /// a list implies the smallest machine that holds it.
  static Mapping parse(std::string_view machine, std::string_view placement, std::uint32_t procs);

  const Machine& machine() const { return machine_; }
  std::uint32_t procs() const { return static_cast<std::uint32_t>(seats_.size()); }
  std::size_t levels() const { return machine_.levels().size(); }

  std::uint32_t seat_of(std::uint32_t rank) const { return seats_[rank]; }
  std::uint32_t node_of(std::uint32_t rank) const { return seats_[rank] / machine_.seats_per_node(); }
  std::vector<std::uint32_t> node_of_rank() const;
  /// By rank: its domains, from the levels within the nodes that are named so. Empty without such a level.
  std::vector<Domains> domains_of_rank() const;

  /// The number of levels from the seats up to the innermost unit that contains both ranks: 0 for a rank and
  /// itself, 1 for neighbours in the innermost level, levels() for ranks that share only the whole machine.
  std::uint32_t distance(std::uint32_t a, std::uint32_t b) const;
  bool crosses_node(std::uint32_t a, std::uint32_t b) const { return node_of(a) != node_of(b); }

  /// Σ bytes × |node(from) − node(to)|: the communication cost in the work on Sparbit, section 5.3.
  std::uint64_t hop_bytes(std::span<const Traffic> traffic) const;

  /// One line for the machine, then one per node with its ranks.
  std::string text() const;

 private:
  Mapping(Machine machine, std::vector<std::uint32_t> seats);

  Machine machine_;
  std::vector<std::uint32_t> seats_;  // by rank
};

}  // namespace convene::topology
