// SPDX-License-Identifier: BSD-3-Clause
// Locality-aware Bruck: the ranks of a node share the messages to other nodes. A node that has the blocks of
// h consecutive nodes, its own first, receives the next k·h nodes' in one round, h by each of k ranks from a
// different node; then its ranks exchange what they received. Each block enters each other node once.
//
// Source:   Bienz, Gautam and Kharel 2022 (EuroMPI/USA, arXiv 2206.03564). There one rank of each node is idle
//           between nodes (⌈log_L N⌉ rounds), and nodes are equal. Here all have a message, and in the last
//           round they have equal shares of what is missing.
// Requires: the requirements of its part on the numbers of ranks per node.
// Cost:     ⌈log_{k+1} N⌉ messages between N nodes per rank, and (N − 1)P blocks in all; one more exchange
//           within the nodes than that. k ranks of a node have messages: as many as the smallest node has. On
//           a node with fewer ranks than k, some have several. No extra memory.
//
//            before      round 0     round 1     round 2      (ranks 0 1 and 2 3 share a node; k = 2)
//   rank     0 1 2 3     0 1 2 3     0 1 2 3     0 1 2 3
//   block 0  0 . . .     0 * . .     0 0 * .     0 0 0 *      In round 1, the last one between nodes, both
//   block 1  . 1 . .     * 1 . .     1 1 . *     1 1 * 1      ranks receive half of the other node's blocks.
//   block 2  . . 2 .     . . 2 *     * . 2 2     2 * 2 2
//   block 3  . . . 3     . . * 3     . * 3 3     * 3 3 3      (* arrives in this round)
//
//   P = 6 on three nodes: in round 1 the first rank of a node receives the next node's blocks, the second one
//   those of the node after that.
#include <algorithm>

#include "collective/allgather/allgather_blocks.hpp"
#include "collective/hierarchy/hierarchy.hpp"
#include "collective/parts/partial.hpp"

namespace convene::collective {

extern const Algorithm allgather_locality_bruck;

namespace {

/// A message to each node in a round, carried by port `port`: from the node `distance` above it, the blocks
/// of the `count` nodes from `first` above it on; of a single node the part number `part` of `parts`.
struct PortMessage {
  Rank port, distance, first, count, part = 0, parts = 1;
};

/// The messages by which nodes that hold the blocks of `held` nodes, of which `lacking` more exist, receive
/// more.
std::vector<PortMessage> messages_of_round(Rank held, Rank lacking, Rank ports) {
  std::vector<PortMessage> messages;
  if (lacking < ports) {  // several ranks share the blocks of a node
    for (Rank port = 0; port < ports; ++port) {
      const Rank node = port * lacking / ports, begin = (node * ports + lacking - 1) / lacking,
                 end = ((node + 1) * ports + lacking - 1) / lacking;
      const Rank distance = held + node / held * held;
      messages.push_back({port, distance, held + node, 1, port - begin, end - begin});
    }
    return messages;
  }
  const Rank share = std::min(held, (lacking + ports - 1) / ports);
  for (Rank port = 0; port * share < lacking && port < ports; ++port)
    messages.push_back(
        {port, held + port * share, held + port * share, std::min(share, lacking - port * share)});
  return messages;
}

/// Ranks of a node by port, and the blocks of nodes in the output.
class Ports {
 public:
  Ports(const Hierarchy& nodes, std::uint32_t segments, Rank wanted) : nodes_(nodes), segments_(segments) {
    ports_ = static_cast<Rank>(nodes.members(0).size());
    for (Rank node = 1; node < nodes.nodes(); ++node)
      ports_ = std::min(ports_, static_cast<Rank>(nodes.members(node).size()));
    if (wanted > 0) ports_ = wanted;
  }

  Rank ports() const { return ports_; }
  /// The number, among the ranks of a node, of the one that has a port.
  Rank member(Rank node, Rank port) const {
    return static_cast<Rank>(std::uint64_t{port} * nodes_.members(node).size() / ports_);
  }
  Rank rank(Rank node, Rank port) const { return nodes_.members(node)[member(node, port)]; }
  Rank above(Rank node, Rank distance) const { return (node + distance) % nodes_.nodes(); }
  Rank below(Rank node, Rank distance) const { return (node + nodes_.nodes() - distance) % nodes_.nodes(); }

  /// What the node receives with a message.
  std::vector<Range> blocks(Rank node, const PortMessage& message) const {
    std::vector<Range> ranges;
    for (Rank i = 0; i < message.count; ++i) {
      const Ranks& members = nodes_.members(above(node, message.first + i));
      const auto edge = [&](Rank part) { return members.size() * part / message.parts; };
      for (std::size_t at = edge(message.part); at < edge(message.part + 1); ++at)
        for (std::uint32_t segment = 0; segment < segments_; ++segment)
          append(ranges, Buffer::output, members[at] * segments_ + segment);
    }
    return ranges;
  }

 private:
  const Hierarchy& nodes_;
  const std::uint32_t segments_;
  Rank ports_ = 1;
};

/// A call whose first parameter is the one that Hierarchy reads: one leader per node.
Call with_one_leader(Call call) {
  call.parameters = {1};
  return call;
}

void generate_allgather_locality_bruck(const Call& given, Builder& builder) {
  const Call call = with_one_leader(given);
  HierarchicalCall at(allgather_locality_bruck, call, builder);
  const Hierarchy& nodes = at.nodes();
  const Ranks& members = nodes.own_members();
  const Ports ports(nodes, at.segments(), static_cast<Rank>(given.parameters[0]));
  const Rank node = nodes.own_node();
  const auto own = at.own(Buffer::input), all = at.all(Buffer::output);
  // Each rank of the node has its piece, the others' come to it.
  const auto exchange_within = [&](const Embedding::Places& mine,
                                   const std::vector<Embedding::Places>& pieces) {
    if (members.size() > 1)
      at.run(0, {.collective = Collective::allgather,
                 .ranks = members,
                 .input = {mine},
                 .output = pieces,
                 .blocks = pieces});
    at.pass(0, Collective::allgather, Among::node);
  };

  if (members.size() == 1) builder.copy(at.block(own, call.rank), at.block(all, call.rank));
  exchange_within(at.block(own, call.rank), at.each(all, members));
  for (Rank held = 1; held < nodes.nodes();) {
    const auto messages = messages_of_round(held, nodes.nodes() - held, ports.ports());
    std::vector<Embedding::Places> pieces(members.size());
    builder.round(at.round());
    for (const PortMessage& message : messages) {
      const Rank target = ports.below(node, message.distance), source = ports.above(node, message.distance);
      if (ports.rank(node, message.port) != call.rank) continue;
      builder.send(ports.rank(target, message.port), ports.blocks(target, message));
      builder.recv(ports.rank(source, message.port), ports.blocks(node, message));
    }
    Rank received = 0;
    for (const PortMessage& message : messages) {
      Embedding::Places& piece = pieces[ports.member(node, message.port)];
      const std::vector<Range> blocks = ports.blocks(node, message);
      piece.insert(piece.end(), blocks.begin(), blocks.end());
      received = std::max(received, message.first + message.count - held);
    }
    at.pass_round();
    exchange_within(pieces[number_in(members, call.rank)], pieces);
    held += received;
  }
}

std::string unmet_of_locality_bruck(const Algorithm& algorithm, const Call& call) {
  // Its blocks in the last exchange differ in size.
  if (shares_memory(call.parts.front())) return "cannot have a shared-memory part here";
  return unmet_in_hierarchy(algorithm, with_one_leader(call));
}

std::uint32_t pieces_of_locality_bruck(const Algorithm& algorithm, const Call& call) {
  return pieces_in_hierarchy(algorithm, with_one_leader(call));
}

constexpr Parameter allgather_locality_bruck_parameters[] = {
    {.name = "leaders",
     .summary = "ranks of each node that have messages to other nodes; 0: as many as the smallest node has",
     .fallback = 0,
     .least = 0,
     .most = 1024,
     .samples = {0, 1, 2, 3}}};

constexpr PartSlot allgather_locality_bruck_parts[] = {
    {"within", "allgather within a node", Collective::allgather, "bruck", Among::node}};

constexpr Composition allgather_locality_bruck_composition = {
    .parts = allgather_locality_bruck_parts,
    .unmet = unmet_of_locality_bruck,
    .pieces = pieces_of_locality_bruck,
};

}  // namespace

extern constinit const Algorithm allgather_locality_bruck = {
    .name = "locality_bruck",
    .summary =
        "Bruck between nodes, with one message by each rank of a node, and exchanges within the nodes.",
    .source = "Bienz, Gautam and Kharel 2022 (arXiv 2206.03564)",
    .collectives = allgathers,
    .rounds = "⌈log_{k+1} N⌉ between N nodes with k ranks each, and one more exchange within them",
    .parameters = allgather_locality_bruck_parameters,
    .composition = &allgather_locality_bruck_composition,
    .generate = generate_allgather_locality_bruck,
};

}  // namespace convene::collective
