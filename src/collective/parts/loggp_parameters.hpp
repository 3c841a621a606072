// SPDX-License-Identifier: BSD-3-Clause
// Parameters of the LogGP-optimal gather and scatter, and the resulting costs.
#pragma once

#include <algorithm>

#include "collective/core/algorithm.hpp"
#include "patterns/loggp_tree.hpp"

namespace convene::collective {

/// Charge of the model for the data of a message of n items of s bytes: (s − 1)G for each item as in the
/// source, or (n·s − 1)G, which is literal LogGP.
enum class Charge : std::int64_t { item, message };

/// L, o and g in nanoseconds, G in picoseconds per byte; the limits keep times of 2^20 ranks within 64 bits.
/// Defaults: L = 4.5 µs and the mean of o_s = 2.4 µs and o_r = 1.1 µs as measured on CHiC (Viertel 2007),
/// g = 3 µs as in its figure 5.7, and G of a link of 1 GB/s.
inline constexpr Parameter loggp_parameters[] = {
    {.name = "latency",
     .summary = "L of the LogGP model, in nanoseconds",
     .fallback = 4500,
     .least = 0,
     .most = 1'000'000'000,
     .samples = {4500}},
    {.name = "overhead",
     .summary = "o of the LogGP model, in nanoseconds, at each end of a message",
     .fallback = 1750,
     .least = 0,
     .most = 1'000'000'000,
     .samples = {1750}},
    {.name = "gap",
     .summary = "g of the LogGP model, in nanoseconds: the gap between two messages of a rank",
     .fallback = 3000,
     .least = 0,
     .most = 1'000'000'000,
     .samples = {3000}},
    {.name = "byte_gap",
     .summary = "G of the LogGP model, in picoseconds per byte",
     .fallback = 1000,
     .least = 0,
     .most = 100'000,
     .samples = {1000}},
    {.name = "item",
     .summary = "size of one rank's block, in bytes",
     .fallback = 64,
     .least = 1,
     .most = 1 << 26,
     .samples = {1, 4096}},
    {.name = "charge",
     .summary = "cost of n blocks of s bytes in a message: (s − 1)G for each block, as in the source, or "
                "(n·s − 1)G for the message",
     .fallback = 0,
     .words = {"item", "message"},
     .samples = {0}},
};

/// The costs given by a call's parameters.
inline LogGPCosts loggp_costs(const std::vector<Value>& parameters) {
  constexpr std::int64_t nanosecond = 1000;
  const auto number = [&](std::size_t i) { return static_cast<std::int64_t>(parameters[i]); };
  const std::int64_t latency = number(0) * nanosecond, overhead = number(1) * nanosecond;
  const std::int64_t per_byte = number(3), bytes = number(4);
  LogGPCosts costs{.hop = overhead + latency + overhead,
                   .gap = std::max(number(2) * nanosecond, per_byte)};  // a message has at least one byte
  if (static_cast<Charge>(parameters[5]) == Charge::item) {
    costs.item = (bytes - 1) * per_byte;
  } else {
    costs.item = bytes * per_byte;
    costs.base = -per_byte;
  }
  return costs;
}

}  // namespace convene::collective
