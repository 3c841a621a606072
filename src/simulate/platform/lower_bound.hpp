// SPDX-License-Identifier: BSD-3-Clause
// Lower bound: the least time of any algorithm of a collective that passes messages, on a simulated platform
// and with given arrivals.
//
// Derivation. No input leaves its rank before the rank arrives. Let t be a time, and S(t) the ranks that
// arrive at t or later. Four statements hold for every t; the bound is the largest of all.
//
// 1. Bytes. Let a cut separate the ranks of a unit (a node, a leaf switch, a group of a fat tree, a rank)
//    from all others, with the capacity C of its links in one direction. If rank j needs B bytes of inputs
//    of S(t) from the other side, the first of them enters the link at t + send or later, so the last has
//    passed it at t + send + B/C or later, and is received another latency and recv later:
//        exit(j) ≥ t + send + B/C + latency + recv.
//    B counts a block once however many ranks of the unit need it, and a combined vector once however many
//    ranks contribute. If several ranks of a unit need data of their own, the sum of it bounds the last
//    exit. Links that both directions share carry what the unit needs and what others need of it.
// 2. Memory. Every byte that a rank needs of others passes a link within its node or the node's link to the
//    network. What the ranks of a node need together bounds the last exit, with C the sum of these links.
//    (Not for algorithms that copy through shared memory.)
// 3. Rounds. An input that n other ranks need spreads as in the optimal broadcast tree of LogP: an informed
//    rank informs another each max(send, gap), with latency and recv. With R(n + 1) the tree's time, the last
//    of them exits at arrival + R(n + 1) or later. In reverse, the inputs of n ranks reach rank j through
//    such a tree with recv between messages: exit(j) ≥ t + R'(n + 1). Both hold of ranks, with the lowest
//    latency, and of nodes, with that of the network, as many processors as ranks, and no cost inside.
// 4. Work. A rank that others need sends after it arrives: exit ≥ arrival + send. One that needs others
//    receives after it arrives, unless it may begin before: exit ≥ arrival + recv.
//
// The terms of bytes and of rounds are not added: while a link still carries large segments, a small last
// segment may start towards all ranks at once. Operators and copies are not charged: they can overlap.
// Equality: a single message; a binomial tree of empty messages without latency; a ring, or a pairwise
// exchange, without latency and overhead.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {

/// The data that every algorithm of a collective must move between ranks.
struct Demand {
  enum class Data : std::uint8_t {
    nothing,   ///< unknown: only the own arrival bounds an exit
    inputs,    ///< a destination needs each source's input: bcast, gather, allgather
    parts,     ///< a destination needs a part of its own of each source's input: scatter, alltoall
    combined,  ///< a destination needs the combination of its part of all sources: reductions
  };
  static constexpr std::uint32_t every = std::numeric_limits<std::uint32_t>::max();

  Data data = Data::nothing;
  std::uint32_t source = every;       ///< the only source
  std::uint32_t destination = every;  ///< the only destination
  bool same = true;  ///< combined: all destinations need one vector of equal bytes; otherwise each has a part
  bool prefix = false;        ///< combined: a destination needs the sources before it
  bool empty = false;         ///< a barrier: empty messages are needed, too
  std::vector<double> bytes;  ///< by rank: of a source's input (inputs), or of a destination's part
};

struct LowerBound {
  std::vector<double> exits;  ///< by rank, seconds: it exits then or later
  double end = 0;             ///< the last exit is then or later: at least that of `exits`
};

/// The bounds of a platform with seated ranks.
class LowerBounds {
 public:
  LowerBounds(const SimulatedPlatform& platform, const Seating& seating);

  /// `background`: ranks may receive before they arrive. `shared_memory`: ranks of a node may exchange data
  /// without messages. At most 32 values of t are tried, so the cost is that of a few passes over all ranks.
  LowerBound of(const Demand& demand, std::span<const double> arrivals, bool background = false,
                bool shared_memory = false) const;

 private:
  /// Units of ranks that equal links separate from the rest.
  struct Cut {
    std::vector<std::uint32_t> unit;  // by rank
    std::uint32_t units = 0;
    double seconds_a_byte = 0;  // of the unit's links, in one direction
    double latency = 0;         // the lowest of a message that crosses the cut
    bool both_ways = false, in_memory = false;
  };
  class Evaluation;

  void add_cut(std::vector<std::uint32_t> units, double bandwidth, double latency, bool both_ways);
  void add_network_cuts(const NetworkSpec& network, std::span<const std::uint32_t> node_of_rank);
  void add_memory(const SimulatedPlatform& platform, const Machine& machine);

  std::uint32_t procs_;
  double send_, recv_;
  std::vector<std::uint32_t> node_;  // by rank: numbered without gaps
  std::uint32_t nodes_ = 0, most_on_node_ = 0;
  std::vector<Cut> cuts_;
  double memory_seconds_a_byte_ = 0, lowest_latency_ = 0;
  std::vector<double> spread_, collect_;              // by number of ranks: R and R'
  std::vector<double> spread_nodes_, collect_nodes_;  // by number of nodes
};

}  // namespace convene::simulate
