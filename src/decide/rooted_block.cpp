// SPDX-License-Identifier: BSD-3-Clause
#include "decide/rooted_block.hpp"

#include <algorithm>
#include <numeric>

namespace convene::decide {

std::vector<std::int64_t> ideal_entries(std::span<const std::int64_t> gaps) {
  std::vector<std::int64_t> entries(gaps.size());
  std::partial_sum(gaps.begin(), gaps.end(), entries.begin());
  return entries;
}

std::int64_t ideal_end(Part part, std::span<const std::int64_t> own, std::span<const std::int64_t> sources) {
  if (own.empty()) return 0;
  std::int64_t waited = 0;  // in this call and those before
  if (part == Part::sink)
    for (std::size_t call = 0; call < own.size(); ++call)
      waited = std::max(waited, sources[call] - own[call]);
  return own.back() + waited;
}

}  // namespace convene::decide
