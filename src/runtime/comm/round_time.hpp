// SPDX-License-Identifier: BSD-3-Clause
// Round time: the duration of a round of a schedule on a communicator, for forecasts in rounds.
#pragma once

#include <cstdint>

#include "collective/core/algorithm.hpp"
#include "runtime/comm/comm_info.hpp"
#include "runtime/comm/tag_space.hpp"

namespace convene::runtime {

/// Nanoseconds in which each rank sends this many bytes to the rank above and receives as many from the rank
/// below: the minimum of a few repetitions on the slowest rank; equal on all ranks, at least 1. Collective,
/// waits; requires an internal communicator.
std::int64_t measure_round(const CommInfo& info, TagSpace& tags, std::uint64_t bytes);

/// Bytes per round of an algorithm in such a call: a block, or a segment of a vector.
std::uint64_t round_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes);

}  // namespace convene::runtime
