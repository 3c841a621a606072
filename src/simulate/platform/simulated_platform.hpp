// SPDX-License-Identifier: BSD-3-Clause
// A platform: the machine that a plan is played on. What its nodes are made of, how they are connected, what a message
// costs the processors, and how messages are sent. Times in seconds, sizes in bytes, bandwidths in bytes per second.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "topology/mapping.hpp"

namespace convene::simulate {

/// Who shares a channel's bandwidth.
enum class Shared : std::uint8_t {
  each_way,   ///< the messages of one direction: the link is two channels
  both_ways,  ///< all messages
  no,         ///< nobody: every message has the whole bandwidth
};

/// A link between two parts of a platform, or the medium within one.
struct Link {
  double latency = 0;
  double bandwidth = std::numeric_limits<double>::infinity();
  Shared shared = Shared::each_way;
};

enum class NetworkShape : std::uint8_t { one_switch, tree, fat_tree, dragonfly };

/// What stands between the nodes.
struct NetworkSpec {
  NetworkShape shape = NetworkShape::one_switch;
  Link node;  ///< from each node to its switch or router

  // tree: leaf switches that one link each connects with a core switch.
  std::vector<std::uint32_t> leaves;  ///< by leaf switch: how many nodes
  Link uplink;                        ///< tree and fat tree: above the first switch

  // fat tree: groups of groups of nodes. A message that leaves a group takes one of its up links, by its destination.
  std::vector<std::uint32_t> down;  ///< by level: how many nodes or groups make a group
  std::vector<std::uint32_t> up;    ///< by level but for the last: links that lead up from a group

  // dragonfly: groups of routers; within a group each pair has a link, and so has each pair of groups. The shortest
  // way is taken.
  std::uint32_t groups = 0, routers = 0, nodes_per_router = 0;
  Link local, global;
};

/// What one message costs the processors at its two ends.
struct ProcessorCost {
  double send = 0, recv = 0;  ///< seconds a message
  double copy = 0;            ///< seconds a byte: copies, packing and unpacking
  double combine = 0;         ///< seconds a byte: of a reduction's operator
};

struct Platform {
  std::string name;
  Machine machine = Machine::parse("node:1 core:1");
  std::vector<Link>
      within;  ///< by level of the machine, from `node` on: what messages within such a unit use
  NetworkSpec network;
  ProcessorCost cpu;
  double gap = 0;        ///< seconds from one message that a rank puts into the network to its next
  double eager = 65536;  ///< bytes: larger messages wait for their receiver (rendezvous)
  bool asks = true;  ///< whether they ask first, there and back; else they know when the receiver is ready
  std::uint32_t ports = 0;  ///< how many messages a rank may be sending at a time; 0: any number

  /// Throws Error where the parts do not fit together, as a sentence without the file's name.
  void validate() const;
};

/// Reads the format that docs/reference/formats.md describes. Throws Error as "FILE: …", with the field's name.
Platform parse_platform(std::string_view text, const std::string& file);

/// The ranks' places on a platform's machine: "sequential", "cyclic" or a list of nodes, one for each rank. With more
/// ranks than cores, all nodes get equal shares, and ranks share cores. Throws Error.
struct Seating {
  Mapping mapping;                 ///< on the machine, widened where ranks share cores
  std::vector<std::uint32_t> cpu;  ///< by rank: the core
};
Seating seat(const Platform& platform, std::string_view placement, std::uint32_t procs);

}  // namespace convene::simulate
