// SPDX-License-Identifier: BSD-3-Clause
// Process topology of a communicator, as used by neighborhood collectives.
#pragma once

#include <memory>

#include "mpi/functions.hpp"
#include "schedule/core/slots.hpp"
#include "topology/graph.hpp"

namespace convene::runtime {

/// What is known of a communicator's graph.
struct Neighbors {
  bool has_been_looked_for = false;
  std::shared_ptr<const Graph> graph;  ///< null if the communicator has no topology; else it has at least
                                       ///< this rank's lists
  bool is_whole = false;               ///< all ranks' lists are in the graph; the same on all ranks
  bool is_refused = false;  ///< the lists of different ranks contradict each other; the same on all ranks
};

/// This rank's own lists, from the MPI. Local.
std::shared_ptr<const Graph> own_neighbors(MPI_Comm comm, Rank rank, Rank procs);

/// All ranks' lists, from this rank's own. Collective; null if the MPI fails.
std::shared_ptr<const Graph> all_neighbors(MPI_Comm comm, const Graph& own, Rank rank);

}  // namespace convene::runtime
