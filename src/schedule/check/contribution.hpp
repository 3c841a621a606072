// SPDX-License-Identifier: BSD-3-Clause
// Expressions of contributions: what a place of a reduction holds, with the order and the brackets of its
// operands. "Sum" stands for the result of any operator.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/check/contract.hpp"
#include "schedule/core/slots.hpp"

namespace convene::schedule {

/// All expressions of one simulation, each kept once. Equal numbers are equal expressions, bracket by
/// bracket, and so the same bits under any operator. A content below `procs * segments` is a contribution, a
/// larger one a combination.
class Expressions {
 public:
  Expressions(Rank procs, const Reduction& reduction);

  /// left ∘ right. An invalid combination returns `nothing` and writes the reason, as a clause, to an empty
  /// `fault`: contributions to different segments, a contribution that is in both operands, or, for an
  /// operator that does not commute, ranks that do not follow each other.
  Content combine(Content left, Content right, std::string& fault);

  /// True if a content combines exactly the contributions of ranks 0 … last to a segment.
  bool is_sum(Content content, Rank last, std::uint32_t segment) const;

  /// The segment of the vector that a content is (part of a sum of).
  std::uint32_t segment(Content content) const;
  /// The ranks that contribute to it, ascending.
  std::vector<std::uint32_t> ranks(Content content) const;
  bool is_combined(Content content) const { return content >= contributions(); }

  /// "rank 3's segment 1", "segment 1 of ranks 0-3"
  std::string in_words(Content content) const;
  /// "3", "(0-3)"; with several segments "3.1", "(0-3).1"
  std::string label(Content content) const;

 private:
  struct Node {
    Content left, right;
    std::uint32_t segment;
    Rank first, last;  // the lowest and the highest contributing rank
  };

  Content contributions() const { return static_cast<Content>(procs_ * reduction_.segments); }
  const Node& node(Content content) const { return nodes_[static_cast<std::size_t>(content)]; }
  const std::uint64_t* set(Content content) const {
    return sets_.data() + static_cast<std::size_t>(content) * words_;
  }
  Content add(const Node& node);

  Rank procs_;
  Reduction reduction_;
  std::size_t words_;
  std::vector<Node> nodes_;                           // by content
  std::vector<std::uint64_t> sets_;                   // by content: its ranks, one bit each
  std::unordered_map<std::uint64_t, Content> known_;  // by left and right
};

}  // namespace convene::schedule
