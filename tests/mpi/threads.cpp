// SPDX-License-Identifier: BSD-3-Clause
// Threads that call collectives at the same time, each on its own communicators: threads THREADS CALLS.
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::atomic<long> calls{0}, wrong{0};

void gather(MPI_Comm comm, int thread, int call) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int count = 1 + (call * 7 + thread * 3) % 200;
  const auto value = [&](int of, int item) { return ((thread * 64 + of) * 1000 + call) * 256 + item; };
  std::vector<int> mine, all(static_cast<std::size_t>(count * size), -1), expected;
  for (int j = 0; j < count; ++j) mine.push_back(value(rank, j));
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < count; ++j) expected.push_back(value(i, j));
  std::vector<int> counts(static_cast<std::size_t>(size), count), places;
  for (int i = 0; i < size; ++i) places.push_back(i * count);
  if (call % 2)
    MPI_Allgatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), places.data(), MPI_INT, comm);
  else
    MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, comm);
  ++calls;
  wrong += all != expected;
}

/// First calls are made by all threads at once; and while some call, others create and free communicators.
void work(MPI_Comm comm, int thread, int rounds) {
  for (int call = 0; call < rounds; ++call) {
    gather(comm, thread, call);
    if (call % 25 != 24) continue;
    MPI_Comm other;
    MPI_Comm_dup(comm, &other);
    gather(other, thread, call);
    MPI_Comm_free(&other);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) {
    std::printf("no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 77;
  }
  const int number = argc > 1 ? std::atoi(argv[1]) : 4, rounds = argc > 2 ? std::atoi(argv[2]) : 100;
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(number));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<std::thread> threads;
  for (int i = 0; i < number; ++i) threads.emplace_back(work, comms[static_cast<std::size_t>(i)], i, rounds);
  for (std::thread& thread : threads) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  long mine[2] = {calls, wrong}, all[2] = {0, 0};
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%ld calls, %ld wrong\n", all[0], all[1]);
  MPI_Finalize();
  return all[1] != 0;
}
