// SPDX-License-Identifier: BSD-3-Clause
// The collectives, and what each of them promises: stated once, here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schedule/checker.hpp"

namespace convene {

enum class Collective : std::uint8_t { allgather, allgatherv };

inline constexpr Collective all_collectives[] = {Collective::allgather, Collective::allgatherv};

std::string_view name(Collective collective);
std::optional<Collective> find_collective(std::string_view name);

/// How many places a rank's input and output have when a block is cut into `segments` places.
struct Places {
  std::uint32_t input, output;
};
Places places(Collective collective, Rank procs, std::uint32_t segments);

/// Under MPI_IN_PLACE: the place of the output where the input's first place is.
Place in_place_at(Collective collective, Rank rank, std::uint32_t segments);

/// What every rank's buffers hold before and must hold afterwards.
/// Content b * segments + s is segment s of rank b's block.
Contract contract(Collective collective, Rank procs, bool in_place, std::uint32_t segments);

}  // namespace convene
