// SPDX-License-Identifier: BSD-3-Clause
// Cost of a thread, or of the thread level for several, in a program:
//
//   thread_cost single|multiple CALLS SECONDS
//
// Initialises the MPI with that thread level, calls MPI_Allgather of 8 bytes and a ping-pong of 8 bytes CALLS
// times each, and then computes for SECONDS without calling the MPI. Rank 0 prints JSON: medians of the calls
// in seconds, and the steps of the computation per second on the slowest rank.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

template <class Call>
double median_of(int calls, Call&& call) {
  std::vector<double> seconds(static_cast<std::size_t>(calls));
  for (double& one : seconds) {
    const double begin = MPI_Wtime();
    call();
    one = MPI_Wtime() - begin;
  }
  std::nth_element(seconds.begin(), seconds.begin() + calls / 2, seconds.end());
  return seconds[static_cast<std::size_t>(calls / 2)];
}

/// Steps per second of arithmetic in registers.
double compute(double seconds) {
  volatile double sink = 1;
  const double begin = MPI_Wtime();
  double steps = 0, now = begin;
  for (; now < begin + seconds; now = MPI_Wtime(), steps += 10'000)
    for (int i = 0; i < 10'000; ++i) sink = sink * 1.0000001;
  return steps / (now - begin);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  int given = 0, rank = 0, procs = 1;
  MPI_Init_thread(&argc, &argv, std::strcmp(argv[1], "multiple") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE,
                  &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int calls = std::atoi(argv[2]);

  double own = rank, peer = 0;
  std::vector<double> all(static_cast<std::size_t>(procs));
  const auto gather = [&] { MPI_Allgather(&own, 8, MPI_BYTE, all.data(), 8, MPI_BYTE, MPI_COMM_WORLD); };
  const auto to_and_fro = [&] {
    if (rank == 0) {
      MPI_Send(&own, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&peer, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(&peer, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&own, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  };
  // A non-blocking call, which starts the progress thread. (On another communicator: communicators with
  // non-blocking calls wait differently.)
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm apart;
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  std::vector<double> from(static_cast<std::size_t>(procs)), to(from);
  MPI_Ialltoall(from.data(), 8, MPI_BYTE, to.data(), 8, MPI_BYTE, apart, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&apart);
  median_of(std::max(calls / 10, 1), gather);
  const double gathering = median_of(calls, gather);
  median_of(std::max(calls / 10, 1), to_and_fro);
  const double round_trip = median_of(calls, to_and_fro);
  MPI_Barrier(MPI_COMM_WORLD);
  double rate = compute(std::atof(argv[3])), slowest = 0;
  MPI_Reduce(&rate, &slowest, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0)
    std::printf("{\"given\": %d, \"allgather\": %.9f, \"round_trip\": %.9f, \"steps_per_second\": %.6g}\n",
                given, gathering, round_trip, slowest);
  return MPI_Finalize();
}
