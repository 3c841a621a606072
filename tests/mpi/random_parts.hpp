// SPDX-License-Identifier: BSD-3-Clause
// Common parts of the programs that draw random calls.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using Random = std::mt19937_64;

inline int below(Random& random, int limit) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(std::max(limit, 1)));
}

/// True if an algorithm uses memory that the ranks of a node share.
inline bool shares_node_memory(const std::string& spec) {
  return spec.find("shared") != std::string::npos || spec.find("in_situ") != std::string::npos;
}

struct Comm {
  std::string name;
  MPI_Comm handle;
};

inline std::vector<Comm> make_communicators() {
  int rank = 0, procs = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  std::vector<Comm> all{{"MPI_COMM_WORLD", MPI_COMM_WORLD}, {"MPI_COMM_SELF", MPI_COMM_SELF}};
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  all.push_back({"a duplicate", made});
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
  all.push_back({"a half", made});
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made);
  all.push_back({"reversed ranks", made});
  int dims[2] = {0, 0};
  const int periods[2] = {1, 0};
  MPI_Dims_create(procs, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &made);
  all.push_back({"a Cartesian grid", made});
  return all;
}

/// Completes all requests by one of MPI's completion calls.
inline void complete_in_a_random_way(std::vector<MPI_Request>& requests, Random& mine) {
  std::shuffle(requests.begin(), requests.end(), mine);
  const int n = static_cast<int>(requests.size());
  int done = 0, index = 0, count = 0;
  std::vector<int> indices(requests.size());
  switch (below(mine, 6)) {
    case 0:
      MPI_Waitall(n, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2:
      while (!done) MPI_Testall(n, requests.data(), &done, MPI_STATUSES_IGNORE);
      break;
    case 3:
      for (int i = 0; i < n; ++i) MPI_Waitany(n, requests.data(), &index, MPI_STATUS_IGNORE);
      break;
    case 4:
      for (int left = n; left > 0; left -= std::max(count, 0))
        MPI_Waitsome(n, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE);
      break;
    default:
      for (MPI_Request& request : requests)
        for (done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}
