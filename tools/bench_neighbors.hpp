// SPDX-License-Identifier: BSD-3-Clause
// Graph for the measurement of neighborhood collectives: a periodic plane, as nearly square as possible, in
// which a rank has its eight adjacent ranks as neighbours. (On a small plane the same rank may occur several
// times.)
#pragma once

#include <mpi.h>

#include <vector>

namespace convene::bench {

struct Neighbors {
  std::vector<int> sources, targets;
};

inline Neighbors neighbors_on_plane(int rank, int procs) {
  int height = 1;
  for (int i = 1; i * i <= procs; ++i)
    if (procs % i == 0) height = i;
  const int width = procs / height, x = rank % width, y = rank / width;
  const auto at = [&](int column, int row) {
    return (row + height) % height * width + (column + width) % width;
  };
  Neighbors neighbors;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if (dx == 0 && dy == 0) continue;
      neighbors.sources.push_back(at(x - dx, y - dy));
      neighbors.targets.push_back(at(x + dx, y + dy));
    }
  return neighbors;
}

inline MPI_Comm make_plane() {
  int rank = 0, procs = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const Neighbors neighbors = neighbors_on_plane(rank, procs);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(neighbors.sources.size()),
                                 neighbors.sources.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(neighbors.targets.size()), neighbors.targets.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return comm;
}

}  // namespace convene::bench
