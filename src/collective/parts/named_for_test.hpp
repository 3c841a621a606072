// SPDX-License-Identifier: BSD-3-Clause
// Algorithms by name, for tests.
#pragma once

#include <stdexcept>
#include <string_view>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// Throws std::logic_error if there is none.
inline const Algorithm& algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* each : catalogue(collective))
    if (each->name == name) return *each;
  throw std::logic_error("no such algorithm");
}

}  // namespace convene::collective
