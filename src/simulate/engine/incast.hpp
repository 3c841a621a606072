// SPDX-License-Identifier: BSD-3-Clause
// Incast: messages that several nodes send to one node at a time overflow the buffer of the switch before it,
// and TCP waits for a timeout before it sends the lost part again. Internal to the engine.
//
// A message in flight has at most one window in the network. The buffer holds what arrives from several nodes
// faster than the port sends it: the windows of all nodes but the one with the most, whose share passes at
// the rate of the port. A message that enters while W bytes of windows compete for a buffer of B < W bytes
// loses its last packets with probability 1 − B/W; what ends a message has no packets behind it that would
// report the loss, so its sender waits for the timeout, and the whole message for it. It may be lost again.
//
// Sources: Phanishayee et al., "Measurement and analysis of TCP throughput collapse in cluster-based storage
// systems", FAST 2008 (full buffers, and timeouts of 200 ms as the cause of the collapse); Lastovetsky and
// O'Flynn, "A performance model of many-to-one collective communications for parallel computing", IPDPS 2007
// (gathers on Ethernet that take a timeout longer, at random, from a size on).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/platform/noise.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate::engine {

class Incast {
 public:
  Incast(const IncastSpec& spec, const Mapping& mapping, const Noise& noise)
      : spec_(spec), mapping_(mapping), random_(noise), ports_(is_on() ? mapping.machine().nodes() : 0) {}

  bool is_on() const { return spec_.buffer > 0; }

  /// A message enters the network. Returns true if a part of it is lost: it enters again after the timeout.
  bool loses(Rank from, Rank to, double bytes) {
    const std::uint32_t source = mapping_.node_of(from), target = mapping_.node_of(to);
    if (source == target || bytes == 0) return false;
    const double window = std::min(bytes, spec_.window), waiting = competing(ports_[target], source, window);
    if (waiting > spec_.buffer && random_.next() < 1 - spec_.buffer / waiting) return true;
    add(ports_[target], source, window);
    return false;
  }

  /// A message that was not lost has left the network.
  void left(Rank from, Rank to, double bytes) {
    const std::uint32_t source = mapping_.node_of(from), target = mapping_.node_of(to);
    if (source != target && bytes > 0) add(ports_[target], source, -std::min(bytes, spec_.window));
  }

  double timeout() const { return spec_.timeout; }

 private:
  struct Flow {
    std::uint32_t source;
    double windows;  // bytes
  };
  using Port = std::vector<Flow>;  // nodes that are sending

  /// The windows of all nodes but the largest, with a further one from `source`.
  static double competing(const Port& port, std::uint32_t source, double window) {
    double sum = window, most = 0, own = window;
    for (const Flow& flow : port) {
      sum += flow.windows;
      if (flow.source == source)
        own += flow.windows;
      else
        most = std::max(most, flow.windows);
    }
    return sum - std::max(most, own);
  }

  static void add(Port& port, std::uint32_t source, double window) {
    const auto flow =
        std::find_if(port.begin(), port.end(), [&](const Flow& f) { return f.source == source; });
    if (flow == port.end()) {
      port.push_back({source, window});
      return;
    }
    flow->windows += window;
    if (flow->windows < 0.5) port.erase(flow);  // bytes are whole
  }

  const IncastSpec spec_;
  const Mapping& mapping_;
  RandomPhases random_;
  std::vector<Port> ports_;  // by node
};

}  // namespace convene::simulate::engine
