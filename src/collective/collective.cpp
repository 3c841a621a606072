// SPDX-License-Identifier: BSD-3-Clause
#include "collective/collective.hpp"

#include <numeric>

namespace convene {

std::string_view name(Collective collective) {
  switch (collective) {
    case Collective::allgather:
      return "allgather";
    case Collective::allgatherv:
      return "allgatherv";
  }
  return "?";
}

std::optional<Collective> find_collective(std::string_view wanted) {
  for (Collective collective : all_collectives)
    if (name(collective) == wanted) return collective;
  return std::nullopt;
}

Places places(Collective, Rank procs, std::uint32_t segments) { return {segments, procs * segments}; }

Place in_place_at(Collective, Rank rank, std::uint32_t segments) { return rank * segments; }

Contract contract(Collective collective, Rank procs, bool in_place, std::uint32_t segments) {
  const Places size = places(collective, procs, segments);
  Contract result(procs);
  for (Rank rank = 0; rank < procs; ++rank) {
    RankContract& mine = result[rank];
    const auto own = static_cast<Content>(rank * segments);
    mine.input.resize(size.input);
    std::iota(mine.input.begin(), mine.input.end(), own);
    mine.output.assign(size.output, nothing);
    if (in_place) {
      const Place at = in_place_at(collective, rank, segments);
      for (Place i = 0; i < size.input; ++i) mine.output[at + i] = mine.input[i];
      mine.input.assign(size.input, nothing);
    }
    mine.wanted.resize(size.output);
    std::iota(mine.wanted.begin(), mine.wanted.end(), 0);
  }
  return result;
}

}  // namespace convene
