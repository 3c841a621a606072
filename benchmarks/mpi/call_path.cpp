// SPDX-License-Identifier: BSD-3-Clause
// Repeated allgathers, for counting the calls between MPI_Allgather and its first message: call_path NUMBER.
#include <mpi.h>

#include <array>
#include <cstdlib>

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  std::array<char, 8> mine{};
  std::array<char, 8 * 64> all{};
  for (int i = 0; i < calls; ++i)
    MPI_Allgather(mine.data(), 8, MPI_CHAR, all.data(), 8, MPI_CHAR, MPI_COMM_WORLD);
  MPI_Finalize();
}
