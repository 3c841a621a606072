// SPDX-License-Identifier: BSD-3-Clause
// Simulated platform: the nodes of a machine and their network, the cost of messages on processors, and the
// protocols of messages. Times in seconds, sizes in bytes, bandwidths in bytes per second.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "topology/mapping.hpp"

namespace convene::simulate {

/// The messages that share a link's bandwidth.
enum class Shared : std::uint8_t {
  each_way,   ///< those of one direction: the link is two channels
  both_ways,  ///< all: the link is one channel
  no,         ///< none: every message has the whole bandwidth
};

/// A link between two parts of a platform, or the medium within one.
struct Link {
  double latency = 0;
  double bandwidth = std::numeric_limits<double>::infinity();
  Shared shared = Shared::each_way;
};

enum class NetworkShape : std::uint8_t { one_switch, tree, fat_tree, dragonfly };

/// The network between the nodes.
struct NetworkSpec {
  NetworkShape shape = NetworkShape::one_switch;
  Link node;  ///< from each node to its switch or router

  // tree: leaf switches, each with one link to a core switch.
  std::vector<std::uint32_t> leaves;  ///< by leaf switch: its number of nodes
  Link uplink;                        ///< tree and fat tree: above the first switch

  // fat tree: groups of groups of nodes. The destination of a message selects the uplink by which it leaves a
  // group.
  std::vector<std::uint32_t> down;  ///< by level: the number of nodes or groups in a group
  std::vector<std::uint32_t> up;    ///< by level except the last: the number of uplinks of a group

  // dragonfly: groups of routers, with a link between each pair of routers of a group and between each pair
  // of groups. Messages take the shortest path.
  std::uint32_t groups = 0, routers = 0, nodes_per_router = 0;
  Link local, global;
};

/// The cost of a message on the processors at its ends.
struct ProcessorCost {
  double send = 0, recv = 0;  ///< seconds per message
  double copy = 0;            ///< seconds per byte: copies, packing and unpacking
  double combine = 0;         ///< seconds per byte: the operator of a reduction
};

/// TCP over Ethernet when several nodes send to one at a time (engine/incast.hpp).
struct IncastSpec {
  double buffer = 0;      ///< bytes of a switch for a port; 0: nothing is lost
  double window = 65536;  ///< bytes that a message has in the network at a time
  double timeout = 0.2;   ///< seconds until lost data is sent again
};

struct SimulatedPlatform {
  std::string name;
  Machine machine = Machine::parse("node:1 core:1");
  std::vector<Link>
      within;  ///< by level of the machine, from `node` on: the link of messages within such a unit
  NetworkSpec network;
  ProcessorCost cpu;
  double gap = 0;        ///< seconds between two messages that a rank injects into the network
  double eager = 65536;  ///< bytes: larger messages use the rendezvous protocol
  /// Rendezvous messages send a request and wait for its answer; otherwise the sender knows when the receive
  /// is posted.
  bool rendezvous_handshake = true;
  IncastSpec incast;
  /// Seconds for which each of several ranks of a core runs in turn; 0: they work alternately, without
  /// waiting for their turn.
  double time_slice = 0;
  std::uint32_t ports = 0;  ///< messages that a rank may be sending at a time; 0: no limit

  /// Throws Error if the parts are inconsistent; the text does not name the file.
  void validate() const;
};

/// Reads the format of docs/reference/formats.md. Throws Error: "FILE: …", with the name of the field.
SimulatedPlatform parse_simulated_platform(std::string_view text, const std::string& file);

/// The ranks' seats on a platform's machine: "sequential", "cyclic" or a list of nodes, one per rank. If
/// there are more ranks than cores, the nodes get equal shares and ranks share cores. Throws Error.
struct Seating {
  Mapping mapping;                 ///< on the machine, with more seats per node if ranks share cores
  std::vector<std::uint32_t> cpu;  ///< the core of each rank
};
Seating seat(const SimulatedPlatform& platform, std::string_view placement, std::uint32_t procs);

}  // namespace convene::simulate
