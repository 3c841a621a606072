// SPDX-License-Identifier: BSD-3-Clause
// Many communicators, an allgather on each: communicators BATCHES LIVE [UNEVEN]. Creates LIVE of them, uses
// all twice, frees them, BATCHES times. With UNEVEN, the first two ranks create UNEVEN own communicators
// first. If the MPI runs out of communicators, the batch is smaller.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int wrong = 0;

void use(MPI_Comm comm, int number) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int mine = number * 1000 + rank;
  std::vector<int> all(static_cast<std::size_t>(size), -1);
  MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, comm);
  for (int i = 0; i < size; ++i) wrong += all[static_cast<std::size_t>(i)] != number * 1000 + i;
}

/// Creates one more, if the MPI has one; the result is the same on all ranks.
bool make(MPI_Comm from, MPI_Comm* comm) {
  int mine = MPI_Comm_dup(from, comm) == MPI_SUCCESS, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, from);
  if (mine && !all) MPI_Comm_free(comm);
  return all == 1;
}

/// Creates up to `live` of them, uses each, then all once more; returns their number.
int batch(MPI_Comm from, int live) {
  std::vector<MPI_Comm> comms;
  MPI_Comm comm;
  while (static_cast<int>(comms.size()) < live && make(from, &comm)) {
    use(comm, static_cast<int>(comms.size()));
    comms.push_back(comm);
  }
  for (std::size_t i = 0; i < comms.size(); ++i) use(comms[i], static_cast<int>(i) + 7);
  // In another order, so that an MPI reuses handles in another order.
  for (std::size_t i = 0; i < comms.size(); i += 2) MPI_Comm_free(&comms[i]);
  for (std::size_t i = 1; i < comms.size(); i += 2) MPI_Comm_free(&comms[i]);
  return static_cast<int>(comms.size());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const auto argument = [&](int i) { return argc > i ? std::atoi(argv[i]) : 0; };
  int rank = 0, made = 0, most = 0, all_wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> first_two(static_cast<std::size_t>(argument(3)));
  for (MPI_Comm& comm : first_two) {
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm != MPI_COMM_NULL) use(comm, 3);
  }
  for (int i = 0; i < argument(1); ++i) {
    const int now = batch(MPI_COMM_WORLD, argument(2));
    made += now;
    most = std::max(most, now);
  }
  for (MPI_Comm& comm : first_two)
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("made %d, at most %d at once, %d wrong\n", made, most, all_wrong);
  MPI_Finalize();
  return all_wrong != 0 || made == 0;
}
