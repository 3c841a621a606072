// SPDX-License-Identifier: BSD-3-Clause
// Random programs whose communicators have non-blocking collectives outstanding while native non-blocking
// collectives begin and communicators are made: on a new communicator an allgather comes first, then others
// in a random order, with random delays on each rank, and one wait for all at the end. Every result is
// compared.
//
//   random_creations [--programs N] [--seed S]
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>

#include "random_parts.hpp"

namespace {

/// One program: what it draws from `common` is equal on all ranks, `mine` is this rank's own.
class Program {
 public:
  explicit Program(unsigned seed, int rank) : common_(seed), mine_(seed * 1000003ull + 7 + rank) {}

  /// Returns the number of wrong results.
  int run() {
    const int first = below(common_, 4);
    MPI_Comm comm = MPI_COMM_WORLD;
    if (first == 1) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (first == 2) {
      int rank = 0;
      MPI_Comm_rank(MPI_COMM_WORLD, &rank);
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    }
    if (first == 3) {
      MPI_Request made;
      MPI_Comm_idup(MPI_COMM_WORLD, &comm, &made);
      MPI_Wait(&made, MPI_STATUS_IGNORE);
    }
    if (comm != MPI_COMM_WORLD) made_.push_back(comm);
    for (int rest = 1 + below(common_, 2); rest > 0; --rest) iallgather(comm);
    for (int rest = 3 + below(common_, 6); rest > 0; --rest) {
      delay();
      draw(comm);
    }
    delay();
    complete_in_a_random_way(requests_, mine_);
    int wrong = 0;
    for (const auto& check : checks_) wrong += !check();
    for (MPI_Comm& each : made_) MPI_Comm_free(&each);
    return wrong;
  }

 private:
  struct Facts {
    explicit Facts(MPI_Comm comm) {
      MPI_Comm_rank(comm, &rank);
      MPI_Comm_size(comm, &procs);
    }
    int rank = 0, procs = 1;
  };

  void delay() {
    if (below(mine_, 3) == 0) std::this_thread::sleep_for(std::chrono::microseconds(below(mine_, 300)));
    // Progress now and then, so that ranks differ in how far they are.
    for (int looks = below(mine_, 3); looks > 0 && !requests_.empty(); --looks) {
      int done = 0;
      MPI_Request_get_status(requests_.front(), &done, MPI_STATUS_IGNORE);
    }
  }

  std::vector<int>& numbers(int count) { return memory_.emplace_back(static_cast<std::size_t>(count), -1); }

  void iallgather(MPI_Comm comm) {
    const Facts here(comm);
    const int key = below(common_, 1000);
    std::vector<int>&in = numbers(1), &out = numbers(here.procs);
    in[0] = here.rank + key;
    start([&](MPI_Request* made) {
      return MPI_Iallgather(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, comm, made);
    });
    checks_.push_back([&out, key] {
      for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i] != static_cast<int>(i) + key) return false;
      return true;
    });
  }

  void iallreduce(MPI_Comm comm) {
    const Facts here(comm);
    std::vector<int>&in = numbers(1), &out = numbers(1);
    in[0] = here.rank;
    start([&](MPI_Request* made) {
      return MPI_Iallreduce(in.data(), out.data(), 1, MPI_INT, MPI_SUM, comm, made);
    });
    checks_.push_back([&out, sum = here.procs * (here.procs - 1) / 2] { return out[0] == sum; });
  }

  void ialltoall(MPI_Comm comm) {
    const Facts here(comm);
    std::vector<int>&in = numbers(here.procs), &out = numbers(here.procs);
    for (int i = 0; i < here.procs; ++i) in[static_cast<std::size_t>(i)] = here.rank * 100 + i;
    start([&](MPI_Request* made) {
      return MPI_Ialltoall(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, comm, made);
    });
    checks_.push_back([&out, rank = here.rank] {
      for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i] != static_cast<int>(i) * 100 + rank) return false;
      return true;
    });
  }

  template <class Call>
  void start(Call&& call) {
    MPI_Request made = MPI_REQUEST_NULL;
    if (call(&made) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    requests_.push_back(made);
  }

  /// A communicator made of `comm`, with an allgather of its own.
  void create(MPI_Comm comm, bool splits) {
    const Facts here(comm);
    MPI_Comm made = MPI_COMM_NULL;
    const int color = (here.rank + below(common_, 2)) % 2, key = below(common_, 2) ? here.rank : -here.rank;
    if (splits)
      MPI_Comm_split(comm, color, key, &made);
    else
      MPI_Comm_dup(comm, &made);
    made_.push_back(made);
    iallgather(made);
  }

  void draw(MPI_Comm comm) {
    switch (below(common_, 6)) {
      case 0:
        return iallreduce(comm);
      case 1:
        return ialltoall(comm);
      case 2:
        return start([&](MPI_Request* made) { return MPI_Ibarrier(comm, made); });
      case 3:
        return create(comm, false);
      case 4:
        return create(comm, true);
      default:
        return iallgather(comm);
    }
  }

  Random common_, mine_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Comm> made_;
  std::deque<std::vector<int>> memory_;
  std::vector<std::function<bool()>> checks_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int programs = 100, rank = 0, wrong = 0, all = 0;
  unsigned seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--programs") == 0) programs = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < programs; ++i) {
    const int found = Program(seed + static_cast<unsigned>(i), rank).run();
    if (found != 0) std::printf("rank %d: %d wrong results with seed %u\n", rank, found, seed + i);
    wrong += found;
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d programs, %d wrong\n", programs, all);
  if (rank == 0 && all == 0) std::printf("all right\n");
  MPI_Finalize();
  return 0;
}
