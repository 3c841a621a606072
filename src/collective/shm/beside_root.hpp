// SPDX-License-Identifier: BSD-3-Clause
// Flat rooted algorithms in shared memory (gather, scatter, reduce): the root exchanges segments with every
// other rank through two places of that rank.
#pragma once

#include "collective/shm/shm.hpp"

namespace convene::collective {

/// The places of every rank but the root, two each.
inline std::uint64_t places_beside_root(Rank procs, std::span<const Value>) {
  return std::uint64_t{turns} * (procs - 1);
}

/// The number of a rank among those that are not the root.
inline Rank number_beside_root(Rank rank, const Call& call) { return rank < call.root ? rank : rank - 1; }

/// The place for a segment of a rank that is not the root.
inline Range place_beside_root(Rank rank, std::uint32_t segment, const Call& call) {
  return shared_place(number_beside_root(rank, call), segment);
}

/// One place of every rank but the root, for the head of a block (heads.hpp); their number.
inline Range head_place_beside_root(Rank rank, const Call& call) {
  return Range(Buffer::shared, number_beside_root(rank, call));
}
inline std::uint64_t head_places_beside_root(Rank procs, std::span<const Value>) { return procs - 1; }
/// Signals that pass on a head may carry it: each rank gives or awaits one, and the root one of each rank.
inline bool heads_beside_root_can_be_carried(Rank, std::span<const Value>) { return true; }

/// On a rank that is not the root: writes a segment of the input into the rank's place and signals the root.
void put_beside_root(std::uint32_t segment, const Call& call, Builder& builder);

/// Calls at_root(segment) on the root, beside_root(segment) on other ranks, for every segment.
template <class AtRoot, class BesideRoot>
void for_each_segment(const Call& call, AtRoot&& at_root, BesideRoot&& beside_root) {
  const auto segments = static_cast<std::uint32_t>(call.parameters[0]);
  for (std::uint32_t segment = 0; segment < segments; ++segment)
    call.is_root() ? at_root(segment) : beside_root(segment);
}

/// The descriptor of a flat rooted algorithm whose first parameter is the number of segments.
constexpr Algorithm flat_at_root(Algorithm algorithm) {
  algorithm.shared_places = places_beside_root;
  algorithm.signals_can_carry = has_one_segment;
  return algorithm;
}

}  // namespace convene::collective
