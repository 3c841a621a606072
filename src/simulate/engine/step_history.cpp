// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/step_history.hpp"

#include <algorithm>

namespace convene::simulate::engine {

std::vector<CriticalStep> StepHistory::critical_path(const Workload& workload,
                                                     std::span<const double> exits) const {
  std::vector<CriticalStep> path;
  if (ready_.empty()) return path;
  Rank rank = static_cast<Rank>(std::max_element(exits.begin(), exits.end()) - exits.begin());
  StepId step = by_arrival;
  for (StepId id = 0; id < workload.schedule(rank).size(); ++id)
    if (finished_[workload.first(rank) + id] == exits[rank]) step = id;
  while (step != by_arrival) {
    const std::uint64_t at = workload.first(rank) + step;
    const SimStep& sim_step = workload.sim_step(rank, step);
    path.push_back({.rank = rank,
                    .step = step,
                    .kind = sim_step.kind,
                    .round = workload.schedule(rank)[step].round,
                    .ready = ready_[at],
                    .finished = finished_[at],
                    .waited = other_end_[at] != 0});
    if (other_end_[at]) {  // the path continues at the other end
      const Rank peer = workload.peer(rank, sim_step);
      const std::uint64_t there = workload.first(peer) + sim_step.partner;
      path.push_back({.rank = peer,
                      .step = sim_step.partner,
                      .kind = workload.sim_step(peer, sim_step.partner).kind,
                      .round = workload.schedule(peer)[sim_step.partner].round,
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

}  // namespace convene::simulate::engine
