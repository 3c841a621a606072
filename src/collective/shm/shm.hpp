// SPDX-License-Identifier: BSD-3-Clause
// Algorithms with shared memory: places and signals. A rank that has written a place hands it over by a
// signal; before it writes there again, the readers hand it back.
#pragma once

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// Number of places of a writer, which it uses in turn: while one is read, the next can be written.
inline constexpr std::uint32_t turns = 2;

/// The place that a writer uses for a segment.
inline Range shared_place(Rank writer, std::uint32_t segment) {
  return Range(Buffer::shared, writer * turns + segment % turns);
}

/// True if the place of a segment is used again.
inline bool comes_again(std::uint32_t segment, std::uint32_t segments) { return segment + turns < segments; }

/// Signals by which every rank hears that all have come as far as this one (dissemination): in each round a
/// rank tells another one, twice as far above each time. They speak of all shared places, of which every rank
/// has `each`: those that were written may be read afterwards, and those that were read be written again.
/// From a round on; returns the one behind.
Rank signal_around(const Call& call, std::uint32_t each, Rank round, Builder& builder);

constexpr Parameter shared_segments(std::int64_t fallback, std::string_view summary) {
  return {.name = "segments",
          .summary = summary,
          .fallback = fallback,
          .least = 1,
          .most = 65536,
          .samples = {1, 2, 3, 7}};
}

}  // namespace convene::collective
