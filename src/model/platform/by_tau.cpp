// SPDX-License-Identifier: BSD-3-Clause
#include "model/platform/by_tau.hpp"

#include <algorithm>
#include <iterator>

namespace convene::model {

double at(const ByTau& table, double bytes, std::uint32_t tau) {
  if (table.empty()) return 0;
  const auto above = table.lower_bound(tau);
  if (above != table.end() && (above->first == tau || above == table.begin())) return above->second(bytes);
  const auto below = above == table.end() ? table.begin() : std::prev(above);
  const auto end = above == table.end() ? std::prev(above) : above;
  if (below == end) return end->second(bytes);  // the table has a single τ
  const double from = below->second(bytes), to = end->second(bytes);
  const double share =
      (static_cast<double>(tau) - below->first) / static_cast<double>(end->first - below->first);
  return std::max(from, from + share * (to - from));
}

}  // namespace convene::model
