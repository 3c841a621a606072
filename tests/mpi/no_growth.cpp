// SPDX-License-Identifier: BSD-3-Clause
// Memory leaks: communicators are created, used in every form of call and freed, many times, first with
// native calls (PMPI_…), then with intercepted ones. The memory in use afterwards must not have grown, except
// by leaks of the MPI.
//
//   no_growth [ROUNDS]
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int procs;

struct Calls {
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Iallgather) iallgather;
  decltype(&MPI_Ibcast) ibcast;
  decltype(&MPI_Scatterv) scatterv;
};

/// One round on a new communicator.
void use(const Calls& calls) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto size = static_cast<std::size_t>(procs);
  std::vector<int> mine(8, 1), all(8 * size), counts(size, 8), places(size);
  for (std::size_t i = 0; i < size; ++i) places[i] = static_cast<int>(8 * i);
  calls.allgather(mine.data(), 8, MPI_INT, all.data(), 8, MPI_INT, comm);
  calls.scatterv(all.data(), counts.data(), places.data(), MPI_INT, mine.data(), 8, MPI_INT, 0, comm);
  MPI_Datatype pairs;
  MPI_Type_vector(4, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Request requests[2];
  calls.iallgather(mine.data(), 1, pairs, all.data(), 4, MPI_INT, comm, requests);
  calls.ibcast(mine.data(), 8, MPI_INT, 0, comm, requests + 1);
  MPI_Type_free(&pairs);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Comm_free(&comm);
}

/// Bytes by which the memory in use grows over `rounds` rounds, after as many to warm up: the minimum of five
/// stretches. A leak occurs in each of them; pools of the MPI and of the allocator grow ever less.
long growth(const Calls& calls, int rounds) {
  for (int i = 0; i < rounds; ++i) use(calls);
  long least = LONG_MAX;
  for (int stretch = 0; stretch < 5; ++stretch) {
    const auto before = static_cast<long>(mallinfo2().uordblks);
    for (int i = 0; i < rounds; ++i) use(calls);
    least = std::min(least, static_cast<long>(mallinfo2().uordblks) - before);
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 100;
  const long own = growth({PMPI_Allgather, PMPI_Iallgather, PMPI_Ibcast, PMPI_Scatterv}, rounds);
  const long ours = growth({MPI_Allgather, MPI_Iallgather, MPI_Ibcast, MPI_Scatterv}, rounds);
  // Convene creates one more communicator for each: the leak of the MPI per communicator (MPICH 4: 64 bytes)
  // counts twice.
  const double each = static_cast<double>(ours - (own > 0 ? 2 * own : 0)) / rounds;
  // An allocator's memory in use varies a little by itself; a leaked handle, schedule or request would be
  // hundreds of bytes.
  int lost = each > 48, anywhere = 0;
  MPI_Allreduce(&lost, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (lost)
    std::printf("FAILED: rank %d loses %g bytes a round (the MPI itself %g)\n", rank, each,
                static_cast<double>(own) / rounds);
  if (rank == 0 && !anywhere)
    std::printf("nothing is lost: %g bytes a round, the MPI itself %g\n", each,
                static_cast<double>(own) / rounds);
  MPI_Finalize();
  return anywhere;
}
