// SPDX-License-Identifier: BSD-3-Clause
#include "collective/core/collective.hpp"

namespace convene::collective {

std::optional<Collective> find_collective(std::string_view wanted) {
  for (const CollectiveTraits& row : collective_table::rows)
    if (row.name == wanted) return row.collective;
  return std::nullopt;
}

}  // namespace convene::collective
