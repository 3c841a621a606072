// SPDX-License-Identifier: BSD-3-Clause
// The process topology of a communicator, as neighborhood collectives see it.
#pragma once

#include <memory>

#include "mpi/functions.hpp"
#include "schedule/core/slots.hpp"
#include "topology/graph.hpp"

namespace convene::runtime {

/// What is known of a communicator's graph.
struct Neighbors {
  bool has_been_looked_for = false;
  std::shared_ptr<const Graph>
      graph;                ///< null where the communicator has no topology; else this rank's lists at least
  bool is_whole = false;    ///< all ranks' lists are in the graph; the same on all ranks
  bool is_refused = false;  ///< the lists of different ranks contradict each other; likewise
};

/// This rank's own lists, as the MPI has them. Local.
std::shared_ptr<const Graph> own_neighbors(MPI_Comm comm, Rank rank, Rank procs);

/// All ranks' lists, from this rank's own. Collective; null where the MPI fails.
std::shared_ptr<const Graph> all_neighbors(MPI_Comm comm, const Graph& own, Rank rank);

}  // namespace convene::runtime
