// SPDX-License-Identifier: BSD-3-Clause
// What the allgather algorithms have in common: how they name blocks. Place b of the output is rank b's block.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

inline constexpr CollectiveSet allgathers = {Collective::allgather, Collective::allgatherv};

/// The own block where the caller gave it: nothing has to be waited for before it can be sent.
constexpr Range own_input() { return Range(Buffer::input, 0); }

/// `count` blocks from `first` on, around the end.
constexpr Range blocks(Rank first, Rank count = 1) { return Range(Buffer::output, first, count); }

/// The blocks from `first` on that a rank holds after it has added up `count`: the own one alone may leave
/// from the input.
constexpr Range held_blocks(Rank first, Rank count) {
  return count == 1 ? own_input() : blocks(first, count);
}

/// Puts the own block where it belongs in the output (nothing to do under MPI_IN_PLACE).
inline void place_own_block(const Call& call, Builder& builder) {
  builder.copy(own_input(), blocks(call.rank));
}

constexpr Parameter segments_of_blocks(std::int64_t fallback) {
  return {.name = "segments",
          .summary = "how many parts a block is cut into",
          .fallback = fallback,
          .least = 1,
          .most = 4096,
          .samples = {1, 2, 3, 8}};
}

/// Blocks that are cut into segments, each of which is a place.
class CutBlocks {
 public:
  explicit CutBlocks(const Value& segments) : segments_(static_cast<Rank>(segments)) {}

  Rank segments() const { return segments_; }
  Range own(Rank segment) const { return Range(Buffer::input, segment); }
  Range of(Rank block, Rank segment) const { return Range(Buffer::output, block * segments_ + segment); }
  void place_own(const Call& call, Builder& builder) const {
    builder.copy(Range(Buffer::input, 0, segments_), Range(Buffer::output, call.rank * segments_, segments_));
  }

 private:
  Rank segments_;
};

/// What to do with a run of blocks that goes around the end of the output, and so is two pieces in memory.
enum class Wrap : std::int64_t { copy, message };

inline constexpr Parameter wrap_parameter = {
    .name = "wrap",
    .summary =
        "a run of blocks around the end of the buffer travels as one message, copied together, or as two",
    .fallback = 0,
    .words = {"copy", "message"},
    .samples = {0, 1}};

/// Calls message(range) once, or, under Wrap::message, once for each of the two pieces.
template <class Message>
void each_piece(const Range& run, Rank procs, Wrap wrap, Message&& message) {
  const bool around = run.buffer() == Buffer::output && run.first % procs + run.count() > procs;
  if (wrap == Wrap::copy || !around) return message(run);
  const Rank before_end = procs - run.first % procs;
  message(blocks(run.first, before_end));
  message(blocks(0, run.count() - before_end));
}

}  // namespace convene::collective
