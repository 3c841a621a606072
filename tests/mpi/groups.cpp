// SPDX-License-Identifier: BSD-3-Clause
// A program with an intercommunicator between its even and its odd ranks: groups RANK MILLISECONDS CALLS.
// That rank is late in every allgather between the groups. Then rank 0 broadcasts to the odd ranks, and a
// barrier is started and waited for.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4) return std::fprintf(stderr, "groups RANK MILLISECONDS CALLS\n"), MPI_Abort(MPI_COMM_WORLD, 2);
  const int late = std::atoi(argv[1]), calls = std::atoi(argv[3]);
  const std::chrono::milliseconds delay(std::atoi(argv[2]));
  int rank = 0, others = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool is_odd = rank % 2 == 1;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_odd, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_odd ? 0 : 1, 1, &both);
  MPI_Comm_remote_size(both, &others);
  std::vector<int> theirs(static_cast<std::size_t>(others), -1);
  for (int call = 0; call < calls; ++call) {
    if (rank == late) std::this_thread::sleep_for(delay);
    MPI_Allgather(&rank, 1, MPI_INT, theirs.data(), 1, MPI_INT, both);
  }
  bool is_right = true;
  for (int i = 0; i < others; ++i)
    is_right = is_right && theirs[static_cast<std::size_t>(i)] == 2 * i + !is_odd;
  int told = rank == 0 ? 42 : 0;
  MPI_Bcast(&told, 1, MPI_INT, is_odd ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
  is_right = is_right && told == (is_odd || rank == 0 ? 42 : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(both, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
  if (!is_right) return std::fprintf(stderr, "rank %d has wrong data\n", rank), MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) std::printf("%d calls\n", calls);
  MPI_Finalize();
  return 0;
}
