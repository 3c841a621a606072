// SPDX-License-Identifier: BSD-3-Clause
// Options of a simulation.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "schedule/core/order.hpp"
#include "simulate/platform/noise.hpp"

namespace convene::simulate {

enum class Contention : std::uint8_t {
  equal_share,   ///< every channel divides its bandwidth equally (fast)
  max_min_fair,  ///< max-min fairness over paths (exact)
};

struct SimulationOptions {
  Contention contention = Contention::equal_share;
  bool critical_path = false;  ///< costs 21 bytes more per step
  Noise noise = {};            ///< delays of the processors
  /// By rank, seconds: when it starts steps that do not use its own input, before it arrives (in a background
  /// thread) or after (because the schedule is not known before). Empty: when it arrives.
  std::vector<double> begins = {};
  /// By rank (or one for all ranks, if the workload is one schedule): the order in which it starts its steps
  /// and waits for them, as the executor does. A rank with an empty order, and every rank without orders,
  /// starts each step as soon as its predecessors are done. Not together with `begins`.
  std::span<const Order> orders = {};
  std::stop_token stop = {};  ///< polled every few thousand events
};

/// Thrown when a stop was requested.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("the simulation was interrupted") {}
};

}  // namespace convene::simulate
