// SPDX-License-Identifier: BSD-3-Clause
// Reductions to a root and broadcasts with other late ranks each time: deciding ROUNDS. Blocking calls one
// after the other, and two non-blocking ones at a time; checked. For online algorithms.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

constexpr int sizes[] = {0, 1, 1000, 20000};

int failures = 0, rank = 0, procs = 1;

struct Vectors {
  std::vector<int> mine, sum, news;

  void fill(int size, int round, int root) {
    const auto count = static_cast<std::size_t>(size);
    mine.assign(count, rank + round);
    sum.assign(count, -1);
    news.assign(count, rank == root ? 7 * round + root : -1);
    for (std::size_t i = 0; i < count; ++i) mine[i] += static_cast<int>(i);
  }

  void check(int round, int root) const {
    bool right = true;
    const int of_ranks = procs * (procs - 1) / 2 + procs * round;
    for (std::size_t i = 0; i < mine.size(); ++i)
      right = right && news[i] == 7 * round + root &&
              (rank != root || sum[i] == of_ranks + procs * static_cast<int>(i));
    if (right) return;
    ++failures;
    std::printf("rank %d: round %d, root %d, %zu items: wrong\n", rank, round, root, mine.size());
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 100;
  std::mt19937 common(1), own(static_cast<unsigned>(rank) + 2);
  Vectors one, other;
  for (int round = 0; round < rounds; ++round) {
    const int root = static_cast<int>(common() % static_cast<unsigned>(procs));
    const int count = sizes[common() % 4], way = static_cast<int>(common() % 3);
    one.fill(count, round, root);
    other.fill(count, round + 1, root);
    if (own() % 3 == 0) usleep(own() % 2000);
    if (way < 2) {
      MPI_Reduce(one.mine.data(), one.sum.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      MPI_Bcast(one.news.data(), count, MPI_INT, root, MPI_COMM_WORLD);
      one.check(round, root);
      continue;
    }
    MPI_Request requests[4];
    MPI_Ireduce(one.mine.data(), one.sum.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(one.news.data(), count, MPI_INT, root, MPI_COMM_WORLD, &requests[1]);
    MPI_Ireduce(other.mine.data(), other.sum.data(), count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD,
                &requests[2]);
    MPI_Ibcast(other.news.data(), count, MPI_INT, root, MPI_COMM_WORLD, &requests[3]);
    if (own() % 3 == 0) usleep(own() % 2000);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    one.check(round, root);
    other.check(round + 1, root);
  }
  int all = 0;
  PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d rounds, %d failures\n", rounds, all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
