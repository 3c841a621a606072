// SPDX-License-Identifier: BSD-3-Clause
// Algorithms with shared memory: places and signals. A rank that has written a place passes it on by a
// signal; before it writes there again, the readers return it by signals.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// Number of places of a writer, used in turn: while one is read, the next can be written.
inline constexpr std::uint32_t turns = 2;

/// The place that a writer uses for a segment.
inline Range shared_place(Rank writer, std::uint32_t segment) {
  return Range(Buffer::shared, writer * turns + segment % turns);
}

/// True if the place of a segment is reused later.
inline bool comes_again(std::uint32_t segment, std::uint32_t segments) { return segment + turns < segments; }

/// Synchronises all ranks by signals (dissemination): in each round a rank signals another one, at twice the
/// distance each time. The signals cover all shared places, of which every rank has `each`: afterwards,
/// places written before may be read, and places read before may be written. Starts at a round; returns the
/// round after the last one.
Rank signal_around(const Call& call, std::uint32_t each, Rank round, Builder& builder);

/// True if a block is one segment: Algorithm::signals_can_carry where "segments" is the first parameter and
/// no signal but the first of a pair depends on more.
inline bool has_one_segment(Rank, std::span<const Value> parameters) { return parameters[0] == 1; }

constexpr Parameter shared_segments(std::int64_t fallback, std::string_view summary,
                                    ShortList<Value, 8> samples = {1, 2, 3, 7}) {
  return {.name = "segments",
          .summary = summary,
          .fallback = fallback,
          .least = 1,
          .most = 65536,
          .samples = samples};
}

}  // namespace convene::collective
