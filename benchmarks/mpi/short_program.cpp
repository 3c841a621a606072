// SPDX-License-Identifier: BSD-3-Clause
// A short program: short_program CALLS SECONDS. After MPI_Init it computes for SECONDS, in CALLS pieces, each
// before a collective of 8 bytes (allgather and allreduce in turn). Rank 0 prints the seconds from before
// MPI_Init to after MPI_Finalize.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void compute(double seconds) {
  for (const double until = now() + seconds; now() < until;) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double start = now();
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 0;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0;
  int rank = 0, procs = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (calls == 0) compute(seconds);
  long long mine = rank, sum = 0;
  std::vector<long long> all(static_cast<std::size_t>(procs));
  for (int call = 0; call < calls; ++call) {
    compute(seconds / calls);
    if (call % 2 == 0)
      MPI_Allgather(&mine, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    else
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  if (rank == 0) std::printf("{\"seconds\": %.9f}\n", now() - start);
}
