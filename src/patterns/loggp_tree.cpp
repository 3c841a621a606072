// SPDX-License-Identifier: BSD-3-Clause
#include "patterns/loggp_tree.hpp"

#include <algorithm>

namespace convene::patterns {

// The end of the part that is sent, data(n) + L′ + t(n), grows with n. The end of the rest,
// data(n) + g + t(P − n), does not: one more rank makes t grow by at least data(n + 1) − data(n). (By
// induction: either a part of n > 1 can be made smaller by one, or n = 1, and then
// t(P) ≥ data(1) + g + t(P − 1).) So the optimal n is where the ends cross or one before, and the crossing
// moves only up as P grows, since t(P − n) grows and all else is constant.
LogGPTree::LogGPTree(const LogGPCosts& costs, std::uint32_t size) : time_(size + 1, 0), part_(size + 1, 0) {
  std::uint32_t crossing = 1;
  for (std::uint32_t procs = 2; procs <= size; ++procs) {
    const auto end_of_part = [&](std::uint32_t n) { return costs.data(n) + costs.hop + time_[n]; };
    const auto end_of_rest = [&](std::uint32_t n) { return costs.data(n) + costs.gap + time_[procs - n]; };
    const auto end = [&](std::uint32_t n) { return std::max(end_of_part(n), end_of_rest(n)); };
    while (crossing + 1 < procs && end_of_part(crossing) < end_of_rest(crossing)) ++crossing;
    const std::uint32_t before = std::max(crossing - 1, 1u);
    part_[procs] = end(before) <= end(crossing) ? before : crossing;
    time_[procs] = end(part_[procs]);
  }
}

Split LogGPTree::split() const {
  return [this](const Run& run, std::vector<std::uint32_t>& parts) { parts.push_back(part(run.size)); };
}

}  // namespace convene::patterns
