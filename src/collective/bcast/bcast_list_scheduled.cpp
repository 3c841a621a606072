// SPDX-License-Identifier: BSD-3-Clause
// List-scheduled broadcast: every rank that has the vector sends it to the rank that is expected next. So
// early ranks spread it among themselves, and a late rank is a leaf, served at its arrival by the first free
// rank. With balanced arrivals it is a binomial tree.
//
// Source:   this project's own; a list schedule (Graham 1966) of single-port messages, as in
//           allgather_list_scheduled.cpp.
// Requires: nothing. Uses a forecast of arrivals, in rounds of a vector.
// Cost:     P − 1 messages of the vector (N times as many of 1/N of it with N segments), no extra memory. One
//           round after a late last arrival.
// Arrivals: from a forecast. It pays only if ranks receive after their arrival: if the vector is received in
//           the background, the order does not matter.
//
// P = 4, root 0, rank 2 late: a = (0, 0, 5, 0). In a binomial tree rank 3 is a child of rank 2; here rank 2
// has no child.
//
//            before      round 0     round 1
//   rank     0 1 2 3     0 1 2 3     0 1 2 3
//   vector   0 . . .     0 * . .     0 0 * *       (* arrives in this round; at rank 2 after its arrival)
//
// P = 5, a = (0, 0, 5, 0, 0): in round 1 rank 0 serves rank 3, and rank 1 rank 4; rank 2 is last again.
#include <algorithm>
#include <functional>
#include <queue>

#include "collective/bcast/bcast_parameters.hpp"
#include "collective/core/forecast.hpp"
#include "collective/parts/tree_walk.hpp"

namespace convene::collective {
namespace {

/// A rank that has the vector, and when it can send next.
struct Holder {
  std::uint64_t free;  // in rounds after the earliest arrival
  Rank turn;           // among ranks that are free at the same time, the first to receive
  Rank rank;
  std::uint32_t round;  // label of its next send

  bool operator>(const Holder& other) const {
    return free != other.free ? free > other.free : turn > other.turn;
  }
};

/// By relative rank.
std::vector<TreeNode> list_scheduled_tree(const Call& call) {
  const std::vector<std::uint32_t> delays = expected_delays(call);
  const auto relative = [&](Rank rank) { return (rank + call.procs - call.root) % call.procs; };
  const std::vector<Rank> order = others_in_expected_order(call);
  std::vector<TreeNode> nodes(call.procs);
  std::priority_queue<Holder, std::vector<Holder>, std::greater<>> holders;
  holders.push({delays[call.root], 0, 0, 0});
  for (Rank turn = 1; turn < call.procs; ++turn) {
    const Rank rank = relative(order[turn - 1]);
    Holder sender = holders.top();
    holders.pop();
    const std::uint64_t done = std::max<std::uint64_t>(sender.free, delays[order[turn - 1]]) + 1;
    nodes[sender.rank].children.push_back({rank, 1, sender.round});
    nodes[rank].parent = sender.rank;
    nodes[rank].round = sender.round++;
    sender.free = done;
    holders.push(sender);
    holders.push({done, turn, rank, sender.round});
  }
  return nodes;
}

void generate_bcast_list_scheduled(const Call& call, SharedWork& work, Builder& builder) {
  const auto nodes = work.get([&] { return list_scheduled_tree(call); });
  std::size_t most = 1;
  for (const TreeNode& node : *nodes) most = std::max(most, node.children.size());
  pass_down((*nodes)[call.relative()], 0, static_cast<Rank>(call.parameters[0]), static_cast<Rank>(most),
            call, builder);
}

constexpr Parameter bcast_list_scheduled_parameters[] = {bcast_segments(1, {1, 3})};

}  // namespace

extern constinit const Algorithm bcast_list_scheduled = {
    .name = "list_scheduled",
    .summary = "Every rank that has the vector sends it to the next rank that is expected to arrive.",
    .source = "this project; a list schedule after Graham 1966",
    .collectives = {Collective::bcast},
    .arrival_source = ArrivalSource::forecast,
    .rounds =
        "⌈log₂Q⌉ for the Q ranks present, one after a late last arrival; N times as many with N segments",
    .parameters = bcast_list_scheduled_parameters,
    .generate = generate_bcast_list_scheduled,
};

}  // namespace convene::collective
