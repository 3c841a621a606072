// SPDX-License-Identifier: BSD-3-Clause
// What ranks have to find out together for forecasts: what each expects, and how long a round of a schedule takes.
#pragma once

#include <cstdint>

#include "runtime/comm/communicator.hpp"

namespace convene::runtime {

/// The greatest of all ranks' numbers. Collective on the program's communicator; it waits.
std::int64_t greatest(std::int64_t mine, const Communicator& communicator);

/// Nanoseconds in which each rank sends so many bytes to the one above and receives as many from the one below: the least
/// of a few, of the slowest rank; equal on all ranks, at least 1. Collective, where there is an own communicator; it waits.
std::int64_t measure_round(Communicator& communicator, std::uint64_t bytes);

/// PackedBuffer of what a round of an algorithm moves in such a call: a block, or a segment of a vector.
std::uint64_t round_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes);

}  // namespace convene::runtime
