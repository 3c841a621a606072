// SPDX-License-Identifier: BSD-3-Clause
// Agreed budget: when a trial may take its next step. All values are equal on all ranks: what the ranks have
// left, what they earn per call, and how long exchanges take.
//
// A step waits until its expected cost is earned. A set-up, a cost that occurs once, must be worthwhile, too:
// it may take a small share of the time in calls of the signature so far, which is what a faster algorithm
// could save.
#pragma once

#include <array>
#include <cstdint>

#include "base/layers.hpp"

namespace convene::decide {

class AgreedBudget {
 public:
  /// Limit of set-ups, as a multiple of the budget: 10 × 0.5 % = 5 % of the time in the calls by default.
  static constexpr std::int64_t set_up_shares = 10;
  /// The longest wait, in calls.
  static constexpr std::uint64_t longest = 1u << 16;

  /// Of an agreement, the least of all ranks: nanoseconds that are left (negative: overdrawn), picoseconds
  /// earned per call, millionths of elapsed time that trials may take.
  void note(std::int64_t remaining, std::int64_t income, std::int64_t share);
  /// Duration of an exchange, the greatest of all ranks.
  void note_exchange(std::int64_t nanoseconds);
  /// A native call of the signature takes so long.
  void note_call(std::int64_t nanoseconds) { call_ = nanoseconds; }
  /// Records the expected cost of a set-up that has ended.
  void note_set_up(std::int64_t nanoseconds) { set_ups_ += nanoseconds; }

  /// Calls until a step is affordable whose cost, beside an exchange and `set_up`, is `cost` nanoseconds; at
  /// most `longest`. `calls`: of the signature so far. With a share of 100 % nothing waits.
  std::uint64_t calls_until(std::int64_t cost, std::int64_t set_up, std::uint64_t calls) const;

 private:
  std::uint64_t calls_until_worthwhile(std::int64_t set_up, std::uint64_t calls) const;
  std::int64_t exchange() const;

  std::int64_t remaining_ = 0, income_ = 0, share_ = 0;
  std::array<std::int64_t, 5> exchanges_{};  // the last ones
  std::size_t exchange_ = 0;                 // their number so far
  std::int64_t call_ = 0, set_ups_ = 0;
};

}  // namespace convene::decide
