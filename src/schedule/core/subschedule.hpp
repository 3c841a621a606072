// SPDX-License-Identifier: BSD-3-Clause
// Composition: the embedding of a schedule over fewer or reordered ranks in a larger one.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// The outer ranks and places of an inner schedule. An inner block may be any number of outer places.
struct Embedding {
  using Places = std::vector<Range>;  ///< outer places, in order

  Rank rank = 0;                      ///< this rank's number in the inner schedule
  std::vector<Rank> ranks;            ///< by inner rank: the outer one
  std::vector<Places> input, output;  ///< by inner place; empty: the buffer is not used
  std::vector<Places> blocks;         ///< by inner block
  /// Scratch of the inner schedule lies in the blocks, too; else it is new scratch of the outer one, as large
  /// as they are.
  bool scratch_in_blocks = false;
  std::uint32_t first_round = 0;  ///< the outer number of the inner round 0
  /// True if an inner rank has these outer places (a range of `input` or `output`) already. They are not sent
  /// to it. Null: no rank has any.
  std::function<bool(Rank rank, const Range& outer)> has = nullptr;
};

/// An inner schedule under construction: its embedding, and the outer places of the buffers that it declared.
class SubSchedule {
 public:
  explicit SubSchedule(Embedding embedding) : embedding_(std::move(embedding)) {}

  const Embedding& embedding() const { return embedding_; }
  /// The outer places of the blocks that a scratch buffer is sized like.
  std::vector<Embedding::Places> sized_like(std::span<const Place> blocks) const;
  /// Adds the next scratch buffer, by place; returns its name in the inner schedule.
  Buffer add_scratch(std::vector<Embedding::Places> where);

  /// The number of outer places of each block. Throws std::logic_error if it differs between blocks.
  std::uint32_t places_of_a_block() const;
  /// Adds shared places of the inner schedule: each is `each` outer ones, from `first` on. Returns the first
  /// inner one.
  Place add_shared(Place first, std::uint32_t places, std::uint32_t each);

  /// The outer places of inner ones, without those that the receiver (may be null) has already.
  Embedding::Places lowered(std::span<const Range> given, const Rank* receiver) const;

 private:
  const std::vector<Embedding::Places>& places_of(Buffer buffer) const;

  Embedding embedding_;
  std::vector<std::vector<Embedding::Places>> scratch_;  // by inner scratch buffer and place
  std::vector<Embedding::Places> shared_;                // by inner place
};

}  // namespace convene::schedule
