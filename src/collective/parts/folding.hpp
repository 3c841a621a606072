// SPDX-License-Identifier: BSD-3-Clause
// Folding: algorithms for a certain number of ranks on more ranks. The first ranks form pairs of neighbours;
// one of a pair, the core, receives the other's contribution and later returns the result. Cores are numbered
// in the order of their ranks, so sums over runs of cores keep the order.
#pragma once

#include "collective/parts/partial.hpp"

namespace convene::collective {

struct Folding {
  Rank procs, cores;
  Rank preferred = 0;  ///< this rank is the core of its pair; in other pairs it is the lower one

  Rank pairs() const { return procs - cores; }
  bool has_partner(Rank rank) const { return rank < 2 * pairs(); }
  Rank partner(Rank rank) const { return rank ^ 1; }
  Rank core(Rank rank) const { return has_partner(rank) ? rank / 2 : rank - pairs(); }
  Rank rank(Rank core) const {
    if (core >= pairs()) return core + pairs();
    return preferred / 2 == core ? preferred : 2 * core;
  }
  bool is_core(Rank of) const { return rank(core(of)) == of; }
  OperandOrder side_of_partner(Rank rank) const {
    return partner(rank) > rank ? OperandOrder::above : OperandOrder::below;
  }

  /// Number of contributions that a core receives from above: of its partner, and of each of the partners
  /// number ^ 2^k above it, if the number of cores is a power of two.
  std::uint32_t above(Rank rank) const {
    std::uint32_t count = has_partner(rank) && side_of_partner(rank) == OperandOrder::above;
    for (Rank distance = 1; distance < cores; distance *= 2) count += (core(rank) & distance) == 0;
    return count;
  }

  /// One rank of a pair sends its places, and the core receives them.
  void fold(Rank own, Partial& partial, std::span<const Place> places) const {
    if (!has_partner(own)) return;
    if (is_core(own))
      partial.take(partner(own), places, side_of_partner(own));
    else
      partial.send(partner(own), places);
  }
  /// The core sends the result.
  void unfold(Rank own, Partial& partial, std::span<const Place> places) const {
    if (!has_partner(own)) return;
    if (is_core(own))
      partial.send(partner(own), places);
    else
      partial.replace(partner(own), places);
  }
};

}  // namespace convene::collective
