// SPDX-License-Identifier: BSD-3-Clause
// A program in which the same rank is always late: late RANK MILLISECONDS CALLS [started|apart]. Each round
// computes, that rank longer than the others, and then calls an allgather, with `started` as a non-blocking
// one, with `apart` on a communicator of MPI_Comm_idup; an allreduce follows in every fourth round; at the
// end a broadcast on half the ranks, and a non-blocking barrier.
#include <mpi.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// Keeps the core busy: a sleeping process does not look like a computing one.
void compute(double seconds) {
  timespec start{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (static_cast<double>(now.tv_sec - start.tv_sec) +
               static_cast<double>(now.tv_nsec - start.tv_nsec) * 1e-9 <
           seconds);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4)
    return std::fprintf(stderr, "late RANK MILLISECONDS CALLS [started|apart]\n"),
           MPI_Abort(MPI_COMM_WORLD, 2);
  const int late = std::atoi(argv[1]), calls = std::atoi(argv[3]);
  const double delay = std::atof(argv[2]) * 1e-3;
  int rank = 0, procs = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  std::vector<int> all(static_cast<std::size_t>(procs) * 16);
  const std::vector<int> mine(16, rank);
  int sum = 0;
  const bool is_started = argc > 4 && std::strcmp(argv[4], "started") == 0;
  MPI_Comm comm = MPI_COMM_WORLD;
  if (argc > 4 && !is_started) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int call = 0; call < calls; ++call) {
    if (rank == late) compute(delay);
    if (is_started) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallgather(mine.data(), 16, MPI_INT, all.data(), 16, MPI_INT, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Allgather(mine.data(), 16, MPI_INT, all.data(), 16, MPI_INT, comm);
    }
    if (call % 4 == 3) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Bcast(&sum, 1, MPI_INT, 0, half);
  MPI_Comm_free(&half);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) std::printf("%d calls\n", calls);
  MPI_Finalize();
  return 0;
}
