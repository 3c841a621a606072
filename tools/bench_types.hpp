// SPDX-License-Identifier: BSD-3-Clause
// Item types, operators of reductions, and block sizes by rank.
#pragma once

#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench_collective.hpp"

namespace convene::bench {

struct ItemType {
  std::string name;
  MPI_Datatype type;
  std::size_t bytes;
};

inline const std::vector<ItemType>& item_types() {
  static const std::vector<ItemType> types = {{"byte", MPI_BYTE, 1},
                                              {"int", MPI_INT, sizeof(int)},
                                              {"long", MPI_LONG, sizeof(long)},
                                              {"float", MPI_FLOAT, sizeof(float)},
                                              {"double", MPI_DOUBLE, sizeof(double)}};
  return types;
}

inline const ItemType& item_type(const std::string& name) {
  for (const ItemType& each : item_types())
    if (each.name == name) return each;
  throw RequestError("unknown type '" + name + "'");
}

inline MPI_Op operation(const std::string& name) {
  return name == "max" ? MPI_MAX : name == "min" ? MPI_MIN : MPI_SUM;
}

/// Distributions of block sizes. Source: Loch 2021, section 6.3.
inline const std::vector<std::string>& distributions() {
  static const std::vector<std::string> names = {"regular",   "broadcast", "spike",
                                                 "half_full", "linear",    "geometric"};
  return names;
}

/// Block of each rank in items, with a mean of `mean`; rounded down. (The broadcast's only block has that
/// size, and the geometric ones do not exactly sum to P of them.)
inline std::vector<int> block_counts(const std::string& distribution, int procs, std::size_t mean) {
  const auto p = static_cast<double>(procs);
  const auto c = static_cast<double>(mean);
  std::vector<int> counts;
  for (int i = 0; i < procs; ++i) {
    double items = c;
    if (distribution == "broadcast") items = i == 0 ? c : 0;
    if (distribution == "spike" && procs > 1) items = i == 0 ? p * c : p * c / (p - 1);
    if (distribution == "half_full") items = i % 2 == 0 ? 2 * c : 0;
    if (distribution == "linear" && procs > 1) items = 2 * c * (p - 1 - i) / (p - 1);
    if (distribution == "geometric" && procs > 1) items = p * c / ((i + 1.5) * std::log(p));
    counts.push_back(static_cast<int>(items));
  }
  return counts;
}

}  // namespace convene::bench
