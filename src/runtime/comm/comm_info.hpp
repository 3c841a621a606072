// SPDX-License-Identifier: BSD-3-Clause
// Communicator facts: queried from the MPI when the handle is created.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "mpi/functions.hpp"
#include "schedule/core/slots.hpp"

namespace convene::runtime {

/// Generation of the set of handles: incremented when a handle is freed or fails. Threads then look handles
/// up again.
inline std::atomic<std::uint64_t> handle_generation{0};

struct CommInfo {
  MPI_Comm comm = MPI_COMM_NULL;
  Rank rank = 0, procs = 1;  ///< of the local group
  bool is_inter = false;
};

/// Queries the MPI. Local.
inline CommInfo info_of(MPI_Comm comm) {
  int inter = 0, rank = 0, procs = 1;
  pmpi.Comm_test_inter(comm, &inter);
  pmpi.Comm_rank(comm, &rank);
  pmpi.Comm_size(comm, &procs);
  return {comm, static_cast<Rank>(rank), static_cast<Rank>(procs), inter != 0};
}

/// Each rank's number in MPI_COMM_WORLD, MPI_UNDEFINED for one of another group. Local.
std::vector<int> ranks_in_world(const CommInfo& info);

}  // namespace convene::runtime
