// SPDX-License-Identifier: BSD-3-Clause
// For tests that name no algorithm: every algorithm of every collective, selected by a property.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// An algorithm as one of a collective that it serves.
struct Served {
  Collective collective;
  const Algorithm* algorithm;
};

/// Those for which `wanted(collective, algorithm)` is true.
template <class Wanted>
std::vector<Served> all_served(Wanted&& wanted) {
  std::vector<Served> result;
  for (const Collective collective : all_collectives)
    for (const Algorithm* algorithm : catalogue(collective))
      if (wanted(collective, *algorithm)) result.push_back({collective, algorithm});
  return result;
}

/// Name of a suite's test of it.
inline std::string test_name(const testing::TestParamInfo<Served>& of) {
  return std::string(name(of.param.collective)) + "_" + std::string(of.param.algorithm->name);
}

}  // namespace convene::collective
