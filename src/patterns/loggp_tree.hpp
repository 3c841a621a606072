// SPDX-License-Identifier: BSD-3-Clause
// The tree through which one rank scatters to P ranks (or P ranks gather to one) in the shortest time that the LogGP
// model allows.
#pragma once

#include <cstdint>
#include <vector>

#include "patterns/tree.hpp"

namespace convene::patterns {

/// What a message of n items costs. Picoseconds.
struct LogGPCosts {
  std::int64_t hop = 0;   ///< L′ = o_s + L + o_r
  std::int64_t gap = 0;   ///< g: until the same rank may begin its next message
  std::int64_t item = 0;  ///< of each item in a message
  std::int64_t base = 0;  ///< of a message, beside its items: n·item + base bytes' time
  std::int64_t data(std::uint32_t items) const { return items * item + base; }
};

/// t(P) and how many items to hand on first, for all numbers of ranks up to a size:
///   t(1) = 0, t(P) = min over 0 < n < P of data(n) + max{L′ + t(n), g + t(P − n)}.
/// The source (Viertel 2007, section 5.1.3, after Alexandrov et al. 1997) charges (s − 1)G for each item of s bytes:
/// data(n) = n(s − 1)G. In the literal model a message of n items is one of n·s bytes: data(n) = n·s·G − G; then g must
/// be at least G.
class LogGPTree {
 public:
  /// O(size).
  LogGPTree(const LogGPCosts& costs, std::uint32_t size);

  /// Time until the last of `size` ranks has its item; picoseconds.
  std::int64_t time(std::uint32_t size) const { return time_[size]; }
  /// n: how many ranks of `size` are handed to another one first.
  std::uint32_t part(std::uint32_t size) const { return part_[size]; }

  /// The tree, as long as this object lives.
  Split split() const;

 private:
  std::vector<std::int64_t> time_;
  std::vector<std::uint32_t> part_;
};

}  // namespace convene::patterns
