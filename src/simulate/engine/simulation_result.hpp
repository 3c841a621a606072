// SPDX-License-Identifier: BSD-3-Clause
// Simulation results: exit and waiting times, channel use, critical path.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"
#include "simulate/contention/channel_use.hpp"

namespace convene::simulate {

/// A step of the critical path.
struct CriticalStep {
  Rank rank = 0;
  StepId step = 0;
  StepKind kind = StepKind::join;
  std::uint32_t round = 0;
  double ready = 0;     ///< when its predecessors were done
  double finished = 0;  ///< when it was done
  bool waited = false;  ///< it waited for the other end of its message
};

struct SimulationResult {
  std::vector<double> exits;    ///< by rank, seconds: the end of its last step
  std::vector<double> waiting;  ///< by rank, seconds between arrival and exit without work for its processor
  double end = 0;               ///< the last exit
  std::uint64_t messages = 0;
  std::uint64_t events = 0;          ///< of the simulation: its cost
  double bytes = 0;                  ///< sent by all ranks
  std::vector<ChannelUse> channels;  ///< those that carried data
  std::vector<CriticalStep>
      critical_path;  ///< from the first step to the last; empty unless it was requested
};

}  // namespace convene::simulate
