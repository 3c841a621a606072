// SPDX-License-Identifier: BSD-3-Clause
// Blocks whose first bytes, the head, pass through shared memory, while the rest is a message
// (Cut::head_first). Only its two ranks need to know the size of a block: a shared place has the size of a
// head, whatever the block's size is, and where there is no rest, both omit the message.
#pragma once

#include "collective/shm/shm.hpp"

namespace convene::collective {

inline Range whole_block(Buffer buffer, Rank block) { return Range(buffer, 2 * block, 2); }

/// Writes the head of a block of the input into a shared place and signals its reader. give_rest() follows.
inline void give_head(Rank block, Rank to, const Range& place, Builder& builder) {
  builder.copy(Range(Buffer::input, 2 * block), place);
  builder.send(to, place);
}

/// Sends the rest of a block of the input.
inline void give_rest(Rank block, Rank to, Builder& builder) {
  builder.send(to, Range(Buffer::input, 2 * block + 1));
}

/// Writes the head of a block and sends its rest at once.
inline void give_block(Rank block, Rank to, const Range& place, Builder& builder) {
  give_head(block, to, place, builder);
  give_rest(block, to, builder);
}

/// Copies the head of a block of the output from its shared place, once it is there. take_rest() follows.
inline void take_head(Rank block, Rank from, const Range& place, Builder& builder) {
  builder.recv(from, place);
  builder.copy(place, Range(Buffer::output, 2 * block));
}

/// Receives the rest of a block of the output.
inline void take_rest(Rank block, Rank from, Builder& builder) {
  builder.recv(from, Range(Buffer::output, 2 * block + 1));
}

inline constexpr Parameter head_parameter = {
    .name = "head",
    .summary = "bytes of a block that pass through shared memory; the rest is a message",
    .fallback = 16384,
    .least = 1,
    .most = 1 << 30};

}  // namespace convene::collective
