// SPDX-License-Identifier: BSD-3-Clause
#include "decide/agreed_budget.hpp"

#include <algorithm>

namespace convene::decide {
namespace {

constexpr std::int64_t thousand = 1000, million = 1'000'000;

}  // namespace

void AgreedBudget::note(std::int64_t remaining, std::int64_t income, std::int64_t share) {
  remaining_ = remaining;
  income_ = income;
  share_ = share;
}

void AgreedBudget::note_exchange(std::int64_t nanoseconds) {
  if (nanoseconds > 0) exchanges_[exchange_++ % exchanges_.size()] = nanoseconds;
}

/// The median: a time slice of another process would stop trials for long.
std::int64_t AgreedBudget::exchange() const {
  std::array<std::int64_t, 5> sorted = exchanges_;
  const auto end = sorted.begin() + std::min(exchange_, sorted.size());
  std::sort(sorted.begin(), end);
  return sorted[static_cast<std::size_t>(end - sorted.begin()) / 2];
}

std::uint64_t AgreedBudget::calls_until(std::int64_t cost, std::int64_t set_up, std::uint64_t calls) const {
  if (share_ >= million) return 0;
  const std::int64_t lacking = exchange() + cost + set_up - remaining_;
  std::uint64_t wait = 0;
  if (lacking > 0)
    wait = income_ > 0 ? 1 + static_cast<std::uint64_t>(lacking * thousand / income_) : longest;
  return std::min(std::max(wait, calls_until_worthwhile(set_up, calls)), longest);
}

std::uint64_t AgreedBudget::calls_until_worthwhile(std::int64_t set_up, std::uint64_t calls) const {
  if (set_up == 0) return 0;
  const std::int64_t per_call = set_up_shares * share_ * call_;  // millionths of nanoseconds
  if (per_call <= 0) return longest;
  const auto needed = static_cast<std::uint64_t>((set_ups_ + set_up) * million / per_call);
  return needed > calls ? needed - calls : 0;
}

}  // namespace convene::decide
