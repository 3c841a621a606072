// SPDX-License-Identifier: BSD-3-Clause
// The optimal scatter tree in the LogGP model: one rank scatters to P ranks (or P ranks gather to one) in
// minimal time.
#pragma once

#include <cstdint>
#include <vector>

#include "patterns/tree.hpp"

namespace convene::patterns {

/// The cost of a message of n items, in picoseconds.
struct LogGPCosts {
  std::int64_t hop = 0;   ///< L′ = o_s + L + o_r
  std::int64_t gap = 0;   ///< g: between the starts of two messages of a rank
  std::int64_t item = 0;  ///< a item
  std::int64_t base = 0;  ///< a message: the transfer takes n·item + base
  std::int64_t data(std::uint32_t items) const { return items * item + base; }
};

/// The time t(P) and the number of items to send first, for all numbers of ranks up to a size:
///   t(1) = 0, t(P) = min over 0 < n < P of data(n) + max{L′ + t(n), g + t(P − n)}.
/// The source (Viertel 2007, section 5.1.3, after Alexandrov et al. 1997) charges (s − 1)G for each item of s
/// bytes: data(n) = n(s − 1)G. In the literal model a message of n items is one of n·s bytes:
/// data(n) = n·s·G − G; then g must be at least G.
class LogGPTree {
 public:
  /// O(size).
  LogGPTree(const LogGPCosts& costs, std::uint32_t size);

  /// Time until the last of `size` ranks has its item; picoseconds.
  std::int64_t time(std::uint32_t size) const { return time_[size]; }
  /// n: the number of ranks, of `size`, whose items are sent first.
  std::uint32_t part(std::uint32_t size) const { return part_[size]; }

  /// The tree. It refers to this object.
  Split split() const;

 private:
  std::vector<std::int64_t> time_;
  std::vector<std::uint32_t> part_;
};

}  // namespace convene::patterns
