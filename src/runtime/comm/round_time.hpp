// SPDX-License-Identifier: BSD-3-Clause
// Round time: how long a round of a schedule takes on a communicator, for forecasts in rounds.
#pragma once

#include <cstdint>

#include "collective/core/algorithm.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/tag_space.hpp"

namespace convene::runtime {

/// Nanoseconds in which each rank sends so many bytes to the rank above and receives as many from the rank
/// below: the minimum of a few repetitions on the slowest rank; equal on all ranks, at least 1. Collective,
/// waits; there must be an internal communicator.
std::int64_t measure_round(const CommInfo& info, TagSpace& tags, std::uint64_t bytes);

/// Bytes that a round of an algorithm moves in such a call: a block, or a segment of a vector.
std::uint64_t round_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes);

}  // namespace convene::runtime
