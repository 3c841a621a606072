// SPDX-License-Identifier: BSD-3-Clause
// Rooted block: the ideal end of a block of calls with a root, on one rank.
//
// In a collective with a root, data flows from its sources to its sinks: from the root (bcast, scatter), or
// to the root (reduce, gather). A source may leave a call before others have entered it, and run ahead by
// several calls. The time in a call therefore says little. Instead, all ranks begin the calls of a block
// together, and what counts is the time until a rank has left the last one, beyond its ideal: the time that
// the block would take if communication took none, with this program's computation between calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/layers.hpp"

namespace convene::decide {

/// What a rank does in a collective. `peer`: there is no root, all ranks wait for each other.
enum class Part : std::uint8_t { peer, source, sink };

/// Entries of a rank into each call of a block if calls took no time: sums of the gaps before them.
std::vector<std::int64_t> ideal_entries(std::span<const std::int64_t> gaps);

/// The ideal end of a block on a rank. `own`: its ideal entries; `sources`: the latest of all sources for
/// each call. A sink leaves a call when itself and all sources have entered it; a source, at once.
std::int64_t ideal_end(Part part, std::span<const std::int64_t> own, std::span<const std::int64_t> sources);

}  // namespace convene::decide
