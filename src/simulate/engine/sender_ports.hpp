// SPDX-License-Identifier: BSD-3-Clause
// Sender ports: a limit on the number of messages that a rank sends at a time, and a gap between them.
// Internal to the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "simulate/engine/simulator_state.hpp"
#include "simulate/kernel/grid_time.hpp"
#include "simulate/kernel/pool.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate::engine {

class SenderPorts {
 public:
  SenderPorts(const SimulatedPlatform& platform, Rank procs) : ports_(platform.ports), gap_(platform.gap) {
    if (are_limited()) port_.resize(procs);
  }

  /// False: every message may enter the network at once.
  bool are_limited() const { return ports_ > 0 || gap_ > 0; }

  /// Admits a message: the time at which it may enter the network, or nothing if it is queued until a port is
  /// free.
  std::optional<double> admit(Pool<SimMessage>& messages, std::uint32_t id, double now) {
    Port& port = port_[messages[id].from];
    if (ports_ > 0 && port.busy == ports_) {
      messages.push_back(port.queue, id);
      return {};
    }
    ++port.busy;
    const double at = std::max(now, port.next);
    port.next = on_grid(at + gap_);
    return at;
  }

  /// A message of the rank has left the network. Returns the queued message to be admitted next, or `none`.
  std::uint32_t leave(Pool<SimMessage>& messages, Rank rank) {
    Port& port = port_[rank];
    --port.busy;
    return port.queue.empty() ? none : messages.pop_front(port.queue);
  }

 private:
  struct Port {
    std::uint32_t busy = 0;
    FifoQueue queue;
    double next = 0;  // with a gap: when the next message may enter
  };

  const std::uint32_t ports_;
  const double gap_;
  std::vector<Port> port_;  // by rank; empty without limits
};

}  // namespace convene::simulate::engine
