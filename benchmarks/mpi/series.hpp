// SPDX-License-Identifier: BSD-3-Clause
// Series of times over repetitions, as the benchmarks of call tables print them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <vector>

/// The maximum over all ranks.
inline double slowest(double mine) {
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/// A member of a JSON object: times in seconds.
inline void print(const char* name, const std::vector<double>& values) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.10f", i ? ", " : "", values[i]);
  std::printf("]");
}
