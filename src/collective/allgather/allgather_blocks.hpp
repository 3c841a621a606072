// SPDX-License-Identifier: BSD-3-Clause
// Blocks of allgather algorithms, and their parameters. Place b of the output is rank b's block.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

inline constexpr CollectiveSet allgathers = {Collective::allgather, Collective::allgatherv};

/// This rank's block in the caller's input: sending it depends on no other step.
constexpr Range own_input() { return Range(Buffer::input, 0); }

/// `count` blocks from `first` on, modulo P.
constexpr Range blocks(Rank first, Rank count = 1) { return Range(Buffer::output, first, count); }

/// The blocks from `first` on that a rank holds once it has `count` of them: its own alone is sent
/// from the input.
constexpr Range held_blocks(Rank first, Rank count) {
  return count == 1 ? own_input() : blocks(first, count);
}

/// Copies this rank's block to its place in the output (no step under MPI_IN_PLACE).
inline void place_own_block(const Call& call, Builder& builder) {
  builder.copy(own_input(), blocks(call.rank));
}

constexpr Parameter segments_of_blocks(std::int64_t fallback) {
  return {.name = "segments",
          .summary = "number of segments of a block",
          .fallback = fallback,
          .least = 1,
          .most = 4096,
          .samples = {1, 2, 3, 8}};
}

/// Blocks that are cut into segments; each segment is a place.
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

/// Transfer of a run of blocks that wraps around the end of the output: two pieces in memory.
enum class Wrap : std::int64_t { copy, message };

inline constexpr Parameter wrap_parameter = {
    .name = "wrap",
    .summary = "blocks that wrap around the end of the buffer: copied into one message, or sent as two",
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
