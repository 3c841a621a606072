// SPDX-License-Identifier: BSD-3-Clause
// Memory of a communicator: Convene's handle, and the native communicator that it holds.
#pragma once

#include <malloc.h>
#include <mpi.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "convene/convene.h"

namespace convene::bench {

/// Bytes that this process has taken from the heap; with glibc before 2.33, at most 2 GiB.
inline double heap_in_use() {
#if __GLIBC_PREREQ(2, 33)
  const auto info = mallinfo2();
#else
  const auto info = mallinfo();
#endif
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Bytes of heap for one more communicator, mean over many. (If the MPI keeps its communicators in a pool,
/// the real usage is larger.)
inline double heap_of_duplicate() {
  constexpr std::size_t many = 64;
  std::vector<MPI_Comm> duplicates(many, MPI_COMM_NULL);
  const double before = heap_in_use();
  for (MPI_Comm& duplicate : duplicates) MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  const double used = heap_in_use() - before;
  for (MPI_Comm& duplicate : duplicates) MPI_Comm_free(&duplicate);
  return used / many;
}

/// Bytes of Convene's handle on a fresh communicator after one small call by this algorithm.
inline std::size_t handle_after(const char* uses) {
  int procs = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm fresh = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  std::vector<char> all(static_cast<std::size_t>(procs));
  const char mine = 1;
  convene_footprint footprint{};
  convene_use(fresh, uses);
  convene_allgather(&mine, 1, MPI_CHAR, all.data(), 1, MPI_CHAR, fresh);
  convene_memory(fresh, &footprint);
  MPI_Comm_free(&fresh);
  return footprint.communicator;
}

/// Collective.
inline nlohmann::json footprint() {
  return {{"handle_native", handle_after("")},
          {"handle_ring", handle_after("allgather=ring")},
          {"handle_sparbit", handle_after("allgather=sparbit")},
          {"mpi_duplicate", heap_of_duplicate()}};
}

}  // namespace convene::bench
