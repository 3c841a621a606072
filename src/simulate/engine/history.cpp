// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/history.hpp"

#include <algorithm>

namespace convene::simulate {

std::vector<CriticalStep> History::critical_path(const Source& source, std::span<const double> exits) const {
  std::vector<CriticalStep> path;
  if (ready_.empty()) return path;
  Rank rank = static_cast<Rank>(std::max_element(exits.begin(), exits.end()) - exits.begin());
  StepId step = by_arrival;
  for (StepId id = 0; id < source.schedule(rank).size(); ++id)
    if (finished_[source.first(rank) + id] == exits[rank]) step = id;
  while (step != by_arrival) {
    const std::uint64_t at = source.first(rank) + step;
    const Move& move = source.move(rank, step);
    path.push_back({.rank = rank,
                    .step = step,
                    .kind = move.kind,
                    .round = source.schedule(rank)[step].round,
                    .ready = ready_[at],
                    .finished = finished_[at],
                    .waited = other_end_[at] != 0});
    if (other_end_[at]) {  // the way leads through what made the other end ready
      const Rank peer = source.peer(rank, move);
      const std::uint64_t there = source.first(peer) + move.partner;
      path.push_back({.rank = peer,
                      .step = move.partner,
                      .kind = source.move(peer, move.partner).kind,
                      .round = source.schedule(peer)[move.partner].round,
                      .ready = ready_[there],
                      .finished = finished_[there]});
      rank = peer;
      step = released_by_[there];
    } else {
      step = released_by_[at];
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace convene::simulate
