// SPDX-License-Identifier: BSD-3-Clause
// Time slices: ranks that share a core, and poll while they wait, run in turn for a slice each. Internal to
// the engine.
//
// A rank that polls never gives its core up, so every rank of a core has the same share of it, in windows of
// one slice: the rank at place i of k ranks runs from (n·k + i) slices on, for one slice, n = 0, 1, … Work
// that is ready in another rank's window waits for the own one; work that outlasts a window is continued in
// the next. Cores are not synchronised: the windows of each begin at a random time, from the seed.
// (Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982, describes what uncoordinated
// slices cost processes that exchange messages.)
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"
#include "simulate/kernel/grid_time.hpp"
#include "simulate/platform/noise.hpp"

namespace convene::simulate::engine {

class TimeSlices {
 public:
  /// `cores`: the core of each rank. `slice`: seconds; 0: ranks of a core work alternately, without windows.
  TimeSlices(double slice, const std::vector<std::uint32_t>& cores, const Noise& noise) : slice_(slice) {
    if (slice == 0) return;
    std::vector<std::uint32_t> ranks_of;
    for (const std::uint32_t core : cores) {
      if (core >= ranks_of.size()) ranks_of.resize(core + 1);
      turn_.push_back({0, ranks_of[core]++});
    }
    RandomPhases phases(noise);
    std::vector<double> phase_of(ranks_of.size());
    for (double& phase : phase_of) phase = phases.next();
    for (Rank rank = 0; rank < cores.size(); ++rank) {
      const std::uint32_t ranks = ranks_of[cores[rank]];
      const double period = slice * ranks;
      turn_[rank].begin = std::fmod(phase_of[cores[rank]] * period + slice * turn_[rank].ranks, period);
      turn_[rank].ranks = ranks;
    }
    if (cores.size() == ranks_of.size() && !shares_a_core()) turn_.clear();
  }

  /// False: every rank has its core for itself, or slices are off.
  bool are_on() const { return !turn_.empty(); }

  /// When the rank will have worked for `work` seconds if it is ready at `ready`: at `ready` or later.
  double end(Rank rank, double ready, double work) const {
    const Turn& turn = turn_[rank];
    if (turn.ranks == 1) return ready + work;
    const double period = slice_ * turn.ranks, pause = period - slice_;
    double at = std::fmod(ready - turn.begin + period, period);  // after the start of the last own window
    if (at >= slice_) {
      ready += period - at;
      at = 0;
    }
    // The work before the last window, in whole windows.
    const double windows = std::ceil((at + work) / slice_) - 1;
    return ready + work + (windows > 0 ? windows * pause : 0);
  }

 private:
  struct Turn {
    double begin = 0;         // of its first window, below the period
    std::uint32_t ranks = 1;  // of its core
  };

  bool shares_a_core() const {
    for (const Turn& turn : turn_)
      if (turn.ranks > 1) return true;
    return false;
  }

  const double slice_;
  std::vector<Turn> turn_;  // by rank; empty if slices are off
};

}  // namespace convene::simulate::engine
