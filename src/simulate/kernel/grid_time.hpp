// SPDX-License-Identifier: BSD-3-Clause
// Simulated time: a grid of 2^-40 s, and the event queue whose times are on it.
#pragma once

#include <cstdint>

#include "base/event_queue.hpp"

namespace convene::simulate {

/// The nearest tick of simulated time: 2^-40 s, about a picosecond (coarser from 2,048 s on). On this grid
/// sums and differences of times are exact: events that coincide by one computation coincide by every other,
/// and a later arrival of all ranks shifts all times without a change.
inline double on_grid(double seconds) {
  constexpr double magnet = 6144;  // from 4096 to 8192 the last place of a double is 2^-40
  return seconds + magnet - magnet;
}

/// An event queue that rounds times to the grid.
class GridEventQueue : public EventQueue {
 public:
  void push(double seconds, std::uint32_t what, std::uint32_t stamp = 0) {
    EventQueue::push(on_grid(seconds), what, stamp);
  }
};

}  // namespace convene::simulate
