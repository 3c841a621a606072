// SPDX-License-Identifier: BSD-3-Clause
// Segment holders: which ranks of each node hold a part of a segment, for reductions that combine within
// nodes before a part leaves one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/layers.hpp"
#include "patterns/bit_rows.hpp"

namespace convene::patterns {

/// The holders of segments, by node, and the messages between nodes in a round. The ranks of a node have
/// successive positions.
class SegmentHolders {
 public:
  /// The node of each position, from 0 on.
  SegmentHolders(std::vector<std::uint32_t> node_of, std::uint32_t segments)
      : node_of_(std::move(node_of)),
        segments_(segments),
        begin_(nodes() + 1, 0),
        holders_(std::size_t{nodes()} * segments),
        total_(segments, 0),
        alone_(segments, node_of_.size()),
        may_leave_(1, node_of_.size()),
        has_received_(nodes(), false) {
    for (const std::uint32_t node : node_of_) ++begin_[node + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  }

  std::uint32_t nodes() const { return node_of_.back() + 1; }
  std::uint32_t node(std::uint32_t at) const { return node_of_[at]; }
  std::uint32_t begin(std::uint32_t node) const { return begin_[node]; }
  std::uint32_t end(std::uint32_t node) const { return begin_[node + 1]; }

  void add(std::uint32_t at, std::uint32_t segment) {
    Holders& there = holders(node(at), segment);
    if (there.count == 1) alone_.clear(segment, there.sum);
    there.sum ^= at;
    if (++there.count == 1) alone_.set(segment, at);
    ++total_[segment];
  }
  void remove(std::uint32_t at, std::uint32_t segment) {
    Holders& there = holders(node(at), segment);
    there.sum ^= at;
    if (--there.count == 1) alone_.set(segment, there.sum);
    if (there.count == 0) alone_.clear(segment, at);
    --total_[segment];
  }
  /// On a node; on all nodes.
  std::uint32_t count(std::uint32_t node, std::uint32_t segment) const {
    return holders_[std::size_t{node} * segments_ + segment].count;
  }
  std::uint32_t count(std::uint32_t segment) const { return total_[segment]; }

  /// One message of a round leaves each node, and one enters it. `sink` sends none.
  void start_round(std::uint32_t sink) {
    may_leave_.set_run(0, 0, node_of_.size());
    may_leave_.clear(0, sink);
    has_received_.assign(nodes(), false);
  }
  bool may_receive(std::uint32_t node) const { return !has_received_[node]; }
  void cross(std::uint32_t sender, std::uint32_t receiver) {
    for (std::uint32_t at = begin(node(sender)); at < end(node(sender)); ++at) may_leave_.clear(0, at);
    has_received_[node(receiver)] = true;
  }
  /// Whether the ranks of a word of positions may send a segment to another node: those that hold it alone.
  BitRows::Word may_cross(std::uint32_t segment, std::size_t word) const {
    return alone_.row(segment)[word] & may_leave_.row(0)[word];
  }

 private:
  /// Of a segment on a node. The sum is the exclusive or of the positions: that of one is itself.
  struct Holders {
    std::uint32_t count = 0, sum = 0;
  };
  Holders& holders(std::uint32_t node, std::uint32_t segment) {
    return holders_[std::size_t{node} * segments_ + segment];
  }

  std::vector<std::uint32_t> node_of_;
  std::uint32_t segments_;
  std::vector<std::uint32_t> begin_;  // by node: its first position; and the end
  std::vector<Holders> holders_;      // by node and segment
  std::vector<std::uint32_t> total_;  // by segment
  BitRows alone_;                     // by segment and position: the only holder on its node
  BitRows may_leave_;                 // by position: its node has sent no message in this round
  std::vector<bool> has_received_;    // by node, in this round
};

}  // namespace convene::patterns
