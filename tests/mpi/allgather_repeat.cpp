// SPDX-License-Identifier: BSD-3-Clause
// Many allgathers of changing sizes: allgather_repeat CALLS. Prints the number of calls with correct results.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

int value(int rank, int call, int item) { return rank * 1'000'003 + call * 101 + item; }

struct World {
  int rank = 0, size = 1;
};

/// Blocks of different sizes, the same on all ranks; returns true if all are correct.
bool irregular(const World& world, int call, std::mt19937& random) {
  std::vector<int> counts, places;
  int next = 0;
  for (int i = 0; i < world.size; ++i) {
    counts.push_back(static_cast<int>(random() % 40));
    places.push_back(next + static_cast<int>(random() % 3));
    next = places.back() + counts.back();
  }
  std::vector<int> mine, all(static_cast<std::size_t>(next) + 1, -1), expected = all;
  for (int i = 0; i < world.size; ++i)
    for (int j = 0; j < counts[static_cast<std::size_t>(i)]; ++j) {
      expected[static_cast<std::size_t>(places[static_cast<std::size_t>(i)] + j)] = value(i, call, j);
      if (i == world.rank) mine.push_back(value(i, call, j));
    }
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_INT, all.data(), counts.data(),
                 places.data(), MPI_INT, MPI_COMM_WORLD);
  return all == expected;
}

bool regular(const World& world, int call, std::mt19937& random) {
  const int count = static_cast<int>(random() % 50);
  std::vector<int> mine, all(static_cast<std::size_t>(count * world.size), -1), expected;
  for (int j = 0; j < count; ++j) mine.push_back(value(world.rank, call, j));
  for (int i = 0; i < world.size; ++i)
    for (int j = 0; j < count; ++j) expected.push_back(value(i, call, j));
  MPI_Allgather(mine.data(), count, MPI_INT, all.data(), count, MPI_INT, MPI_COMM_WORLD);
  return all == expected;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 100;
  World world;
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
  std::mt19937 random(12345);
  int wrong = 0, all_wrong = 0;
  for (int call = 0; call < calls; ++call)
    wrong += !(call % 2 ? irregular(world, call, random) : regular(world, call, random));
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world.rank == 0) std::printf("%d calls, %d wrong\n", calls, all_wrong);
  MPI_Finalize();
  return all_wrong != 0;
}
