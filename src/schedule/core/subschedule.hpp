// SPDX-License-Identifier: BSD-3-Clause
// Composition: where a schedule's ranks and places are in the one around it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// How a schedule over fewer or reordered ranks stands inside a larger one (composition): what its ranks and its blocks
/// are there. A block of the inner schedule may be any number of places of the outer one.
struct Embedding {
  using Places = std::vector<Range>;  ///< outer places, in order

  Rank rank = 0;                      ///< this rank's number in the inner schedule
  std::vector<Rank> ranks;            ///< by inner rank: the outer one
  std::vector<Places> input, output;  ///< by inner place: where it is; empty: the buffer is not used
  /// By inner block. Scratch of the inner schedule lies there too if `scratch_in_blocks`; else it is new scratch of the
  /// outer one, as large as the blocks.
  std::vector<Places> blocks;
  bool scratch_in_blocks = false;
  std::uint32_t first_round = 0;  ///< the inner round 0
  /// Whether an inner rank has these outer places (a range of `input` or `output`) already: then they are not sent to
  /// it. Null: nobody has.
  std::function<bool(Rank rank, const Range& outer)> has = nullptr;
};

/// A view, and where the scratch buffers are that its schedule declared.
class SubSchedule {
 public:
  explicit SubSchedule(Embedding view) : view_(std::move(view)) {}

  const Embedding& view() const { return view_; }
  /// Where the blocks lie that a scratch buffer is like.
  std::vector<Embedding::Places> sized_like(std::span<const Place> blocks) const;
  /// The next scratch buffer, by place; returns its name in the inner schedule.
  Buffer add_scratch(std::vector<Embedding::Places> where);

  /// How many outer places a block is, where all are as many. Throws std::logic_error where they are not.
  std::uint32_t places_of_a_block() const;
  /// Shared places of the inner schedule, from an outer one on, each of them so many; returns the first inner one.
  Place add_shared(Place first, std::uint32_t places, std::uint32_t each);

  /// Places of the inner schedule as those of the one around it, without what the receiver (null: there is none) has
  /// already.
  Embedding::Places lowered(std::span<const Range> given, const Rank* receiver) const;

 private:
  Embedding view_;
  const std::vector<Embedding::Places>& places_of(Buffer buffer) const;

  std::vector<std::vector<Embedding::Places>> scratch_;  // by inner scratch buffer and place
  std::vector<Embedding::Places> shared_;                // by inner place
};

}  // namespace convene::schedule
