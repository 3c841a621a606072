// SPDX-License-Identifier: BSD-3-Clause
// The collectives that can be measured, and the three doors through which each of them is called.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "convene/convene.h"

namespace convene::bench {

/// Whoever is wrong about what was asked for gets one sentence and exit status 2.
struct RequestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Collective {
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  bcast,
  alltoall,
  alltoallv,
  barrier,
  neighbor_allgather,
  neighbor_allgatherv,
  reduce,
  allreduce,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan
};

inline const std::vector<std::string>& collective_names() {
  // In the order of Collective.
  static const std::vector<std::string> names = {"allgather",
                                                 "allgatherv",
                                                 "gather",
                                                 "gatherv",
                                                 "scatter",
                                                 "scatterv",
                                                 "bcast",
                                                 "alltoall",
                                                 "alltoallv",
                                                 "barrier",
                                                 "neighbor_allgather",
                                                 "neighbor_allgatherv",
                                                 "reduce",
                                                 "allreduce",
                                                 "reduce_scatter_block",
                                                 "reduce_scatter",
                                                 "scan",
                                                 "exscan"};
  return names;
}

/// The name has to be one of them.
inline Collective collective_of(const std::string& name) {
  const auto& names = collective_names();
  return static_cast<Collective>(std::find(names.begin(), names.end(), name) - names.begin());
}

inline bool is_one_of(Collective collective, std::initializer_list<Collective> these) {
  return std::find(these.begin(), these.end(), collective) != these.end();
}

/// Whether blocks may be of unequal size.
inline bool is_irregular(Collective collective) {
  using enum Collective;
  return is_one_of(collective,
                   {allgatherv, gatherv, scatterv, alltoallv, neighbor_allgatherv, reduce_scatter});
}

inline bool reduces(Collective collective) { return collective >= Collective::reduce; }

/// Whether it is one of neighbours: on a periodic plane, with those that touch.
inline bool is_neighborhood(Collective collective) {
  using enum Collective;
  return is_one_of(collective, {neighbor_allgather, neighbor_allgatherv});
}

/// Whether a size is that of a whole vector, and not of one of P blocks.
inline bool is_of_vectors(Collective collective) {
  using enum Collective;
  return is_one_of(collective, {bcast, barrier, reduce, allreduce, scan, exscan});
}

/// One way into all collectives.
struct CallTable {
  decltype(&PMPI_Allgather) allgather;
  decltype(&PMPI_Allgatherv) allgatherv;
  decltype(&PMPI_Gather) gather;
  decltype(&PMPI_Gatherv) gatherv;
  decltype(&PMPI_Scatter) scatter;
  decltype(&PMPI_Scatterv) scatterv;
  decltype(&PMPI_Bcast) bcast;
  decltype(&PMPI_Alltoall) alltoall;
  decltype(&PMPI_Alltoallv) alltoallv;
  decltype(&PMPI_Barrier) barrier;
  decltype(&PMPI_Neighbor_allgather) neighbor_allgather;
  decltype(&PMPI_Neighbor_allgatherv) neighbor_allgatherv;
  decltype(&PMPI_Reduce) reduce;
  decltype(&PMPI_Allreduce) allreduce;
  decltype(&PMPI_Reduce_scatter_block) reduce_scatter_block;
  decltype(&PMPI_Reduce_scatter) reduce_scatter;
  decltype(&PMPI_Scan) scan;
  decltype(&PMPI_Exscan) exscan;
};

/// The MPI's own, past any drop-in library.
inline constexpr CallTable pmpi_calls = {PMPI_Allgather,
                                         PMPI_Allgatherv,
                                         PMPI_Gather,
                                         PMPI_Gatherv,
                                         PMPI_Scatter,
                                         PMPI_Scatterv,
                                         PMPI_Bcast,
                                         PMPI_Alltoall,
                                         PMPI_Alltoallv,
                                         PMPI_Barrier,
                                         PMPI_Neighbor_allgather,
                                         PMPI_Neighbor_allgatherv,
                                         PMPI_Reduce,
                                         PMPI_Allreduce,
                                         PMPI_Reduce_scatter_block,
                                         PMPI_Reduce_scatter,
                                         PMPI_Scan,
                                         PMPI_Exscan};

/// As a program calls them.
inline constexpr CallTable program_calls = {MPI_Allgather,
                                            MPI_Allgatherv,
                                            MPI_Gather,
                                            MPI_Gatherv,
                                            MPI_Scatter,
                                            MPI_Scatterv,
                                            MPI_Bcast,
                                            MPI_Alltoall,
                                            MPI_Alltoallv,
                                            MPI_Barrier,
                                            MPI_Neighbor_allgather,
                                            MPI_Neighbor_allgatherv,
                                            MPI_Reduce,
                                            MPI_Allreduce,
                                            MPI_Reduce_scatter_block,
                                            MPI_Reduce_scatter,
                                            MPI_Scan,
                                            MPI_Exscan};

/// Convene's C API.
inline constexpr CallTable convene_calls = {convene_allgather,
                                            convene_allgatherv,
                                            convene_gather,
                                            convene_gatherv,
                                            convene_scatter,
                                            convene_scatterv,
                                            convene_bcast,
                                            convene_alltoall,
                                            convene_alltoallv,
                                            convene_barrier,
                                            convene_neighbor_allgather,
                                            convene_neighbor_allgatherv,
                                            convene_reduce,
                                            convene_allreduce,
                                            convene_reduce_scatter_block,
                                            convene_reduce_scatter,
                                            convene_scan,
                                            convene_exscan};

}  // namespace convene::bench
