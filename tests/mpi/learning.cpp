// SPDX-License-Identifier: BSD-3-Clause
// Many blocking collectives, for learning: each result is checked. Arguments: calls of each kind, then words:
// "pause" (MPI_Pcontrol(0) at first), "exclude" (the info key), "late" (random delays), "only" (one allgather
// alone), "many" (random collectives of random sizes), "pairs" (the same, on communicators of two), "sizes"
// (the same, of 48 sizes in turn), "rare" (the same, and in between one of 36 other kinds in turn), "toggle"
// (three kinds in turn, while one rank pauses and resumes), "sums" (floating-point sums alone), "unlaunched"
// (without the launcher's variables), "until" (the same, until the native one of libraries/slow_allgather.c
// has run in few of 1,024 calls), "back" (the same, and then in most).
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace {

int wrong = 0;
bool is_late = false;

void check(bool right) { wrong += !right; }

/// One communicator's buffers and calls.
class Calls {
 public:
  explicit Calls(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &procs_);
    all_.resize(static_cast<std::size_t>(procs_) * 128);
    mine_.resize(all_.size());
  }

  void allgather(int number, int count) {
    fill(number);
    MPI_Allgather(mine_.data(), count, MPI_INT, all_.data(), count, MPI_INT, comm_);
    for (int rank = 0; rank < procs_; ++rank)
      for (int i = 0; i < count; ++i) check(all_[rank * count + i] == value(number, rank, i));
  }
  void allgather_in_place(int number, int count) {
    for (int i = 0; i < count; ++i) all_[rank_ * count + i] = value(number, rank_, i);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all_.data(), count, MPI_INT, comm_);
    for (int rank = 0; rank < procs_; ++rank)
      for (int i = 0; i < count; ++i) check(all_[rank * count + i] == value(number, rank, i));
  }
  void allgatherv(int number) {
    std::vector<int> counts(procs_), places(procs_);
    std::iota(counts.begin(), counts.end(), 1);
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    fill(number);
    MPI_Allgatherv(mine_.data(), rank_ + 1, MPI_INT, all_.data(), counts.data(), places.data(), MPI_INT,
                   comm_);
    for (int rank = 0; rank < procs_; ++rank)
      for (int i = 0; i <= rank; ++i) check(all_[places[rank] + i] == value(number, rank, i));
  }
  void allreduce(int number, int count) {
    fill(number);
    MPI_Allreduce(mine_.data(), all_.data(), count, MPI_INT, MPI_SUM, comm_);
    for (int i = 0; i < count; ++i) check(all_[i] == sum(number, i));
  }
  void alltoall(int number, int count) {
    for (int to = 0; to < procs_; ++to)
      for (int i = 0; i < count; ++i) mine_[to * count + i] = value(number, rank_, i) + to;
    MPI_Alltoall(mine_.data(), count, MPI_INT, all_.data(), count, MPI_INT, comm_);
    for (int from = 0; from < procs_; ++from)
      for (int i = 0; i < count; ++i) check(all_[from * count + i] == value(number, from, i) + rank_);
  }
  void reduce_scatter(int number) {
    fill(number);
    MPI_Reduce_scatter_block(mine_.data(), all_.data(), 2, MPI_INT, MPI_SUM, comm_);
    for (int i = 0; i < 2; ++i) check(all_[i] == sum(number, rank_ * 2 + i));
  }
  /// A floating-point sum.
  void sum(int number) {
    double mine = rank_ + number, total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, comm_);
    check(std::abs(total - procs_ * (number + (procs_ - 1) / 2.)) < 1e-9 * (number + procs_));
  }
  /// A floating-point sum, twice: equal bits.
  void rounding(int number) {
    double mine = 1. / (1 + rank_) + number % 3, first = 0, second = 0;
    MPI_Allreduce(&mine, &first, 1, MPI_DOUBLE, MPI_SUM, comm_);
    MPI_Allreduce(&mine, &second, 1, MPI_DOUBLE, MPI_SUM, comm_);
    check(std::memcmp(&first, &second, sizeof first) == 0);
  }
  void reduce(int number, int root) {
    fill(number);
    MPI_Reduce(mine_.data(), all_.data(), 2, MPI_INT, MPI_SUM, root, comm_);
    for (int i = 0; rank_ == root && i < 2; ++i) check(all_[i] == sum(number, i));
  }
  void gather(int number, int root, int count = 2) {
    fill(number);
    MPI_Gather(mine_.data(), count, MPI_INT, all_.data(), count, MPI_INT, root, comm_);
    for (int rank = 0; rank_ == root && rank < procs_; ++rank)
      for (int i = 0; i < count; ++i) check(all_[rank * count + i] == value(number, rank, i));
  }
  void gather_in_place(int number, int root, int count = 2) {
    fill(number);
    if (rank_ == root) {
      for (int i = 0; i < count; ++i) all_[rank_ * count + i] = mine_[i];
      MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all_.data(), count, MPI_INT, root, comm_);
      for (int rank = 0; rank < procs_; ++rank)
        for (int i = 0; i < count; ++i) check(all_[rank * count + i] == value(number, rank, i));
    } else {
      MPI_Gather(mine_.data(), count, MPI_INT, nullptr, 0, MPI_INT, root, comm_);
    }
  }
  void scatter(int number, int root, int count = 2) {
    for (int i = 0; i < procs_ * count; ++i) mine_[i] = value(number, root, i);
    int own[8] = {};
    MPI_Scatter(mine_.data(), count, MPI_INT, own, count, MPI_INT, root, comm_);
    for (int i = 0; i < count; ++i) check(own[i] == value(number, root, rank_ * count + i));
  }
  void bcast(int number, int root) {
    int sent = rank_ == root ? number : -1;
    MPI_Bcast(&sent, 1, MPI_INT, root, comm_);
    check(sent == number);
  }
  /// A blocking call while a non-blocking one is pending.
  void overlapping(int number) {
    std::vector<int> other(procs_);
    int one = number + rank_;
    MPI_Request request;
    MPI_Iallgather(&one, 1, MPI_INT, other.data(), 1, MPI_INT, comm_, &request);
    allgather(number, 4);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int rank = 0; rank < procs_; ++rank) check(other[rank] == number + rank);
  }
  void barrier() { MPI_Barrier(comm_); }

 private:
  static int value(int number, int rank, int i) { return number * 131 + rank * 17 + i; }
  void fill(int number) {
    if (is_late && number % 5 == rank_ % 5) usleep(static_cast<useconds_t>(random_() % 200));
    for (std::size_t i = 0; i < mine_.size(); ++i) mine_[i] = value(number, rank_, static_cast<int>(i));
  }
  int sum(int number, int i) const {
    int total = 0;
    for (int rank = 0; rank < procs_; ++rank) total += value(number, rank, i);
    return total;
  }

  MPI_Comm comm_;
  int rank_ = 0, procs_ = 1;
  std::vector<int> all_, mine_;
  std::minstd_rand random_{7};
};

/// Calls of one kind alone, then all kinds in turn, on two communicators, with a third one that lives for
/// three calls.
void run_all(int calls) {
  Calls world(MPI_COMM_WORLD);
  int rank = 0, procs = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm halves = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &halves);
  Calls half(halves);
  for (int i = 0; i < calls; ++i) world.allreduce(i, 1);
  for (int i = 0; i < calls; ++i) half.allgather(i, 2);
  for (int i = 0; i < calls; ++i) world.barrier();
  for (int i = 0; i < calls; ++i) world.bcast(i, 1);
  for (int i = 0; i < calls; ++i) world.reduce(i, 0);
  for (int i = 0; i < calls; ++i) world.scatter(i, 0);
  for (int i = 0; i < calls; ++i) {
    world.gather(i, 1);
    if (i % 4 == 0) world.gather_in_place(i, 1);
  }
  for (int i = 0; i < calls; ++i) {
    world.allgather(i, 2);
    half.allreduce(i, 3);
    world.alltoall(i, 1);
    if (i % 2 == 0) world.allgather_in_place(i, 2);
    world.allgatherv(i);
    world.reduce_scatter(i);
    world.allreduce(i, 9 + i % 6);
    world.scatter(i, 0, 5 + i % 3);
    if (i % 4 == 0) world.rounding(i);
    if (i % 8 == 0) world.bcast(i, i % procs);
    if (i % 16 == 0) world.overlapping(i);
    if (i % 256 == 0) {
      MPI_Comm brief = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &brief);
      Calls few(brief);
      for (int k = 0; k < 3; ++k) few.allgather(i + k, 1);
      MPI_Comm_free(&brief);
    }
  }
  MPI_Comm_free(&halves);
}

void run_in_pairs(int calls) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair);
  Calls own(pair);
  for (int i = 0; i < calls; ++i) own.allgather(i, 2);
  MPI_Comm_free(&pair);
}

/// A frequent kind beside more rare ones than there are lessons.
void run_rare(int calls) {
  Calls world(MPI_COMM_WORLD);
  for (int i = 0; i < calls; ++i) {
    world.allgather(i, 2);
    const int kind = i % 36, count = 1 << kind % 7;
    if (kind < 7) world.alltoall(i, count);
    if (kind >= 7 && kind < 14) world.allreduce(i, count);
    if (kind >= 14 && kind < 28) world.gather(i, kind / 21, count);
    if (kind >= 28) world.scatter(i, kind % 2, 1 << (kind - 28) / 2);
  }
}

void run_toggling(int calls) {
  Calls world(MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < calls; ++i) {
    if (rank == 0 && i % 300 == 0) MPI_Pcontrol(i / 300 % 2);
    world.allgather(i, 2);
    world.alltoall(i, 1);
    world.allgather(i, 16);
  }
}

/// In one power of two: 512 to 1,023 bytes with two ranks.
void run_sizes(int calls) {
  Calls world(MPI_COMM_WORLD);
  for (int i = 0; i < calls; ++i) world.allgather(i, 64 + i % 48);
}

/// Random collectives, each a few times, of random sizes, of which some are rare: on two communicators. Ranks
/// take the fast path in different calls, since only the root's may be in place.
void run_many(int calls) {
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  Calls both[2] = {Calls(MPI_COMM_WORLD), Calls(other)};
  std::minstd_rand random(11);  // equal on all ranks
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int done = 0; done < calls;) {
    Calls& comm = both[below(4) == 0];
    const int kind = below(6), count = 1 + below(below(100) == 0 ? 120 : 12), root = below(2);
    for (const int end = done + 1 + below(12); done < end; ++done) {
      if (kind == 0) comm.allgather(done, count);
      if (kind == 1) comm.allgather_in_place(done, count);
      if (kind == 2) comm.allreduce(done, count);
      if (kind == 3) comm.alltoall(done, count);
      if (kind == 4) comm.gather(done, root, count);
      if (kind == 5) comm.gather_in_place(done, root, count);
    }
  }
  MPI_Comm_free(&other);
}

/// Calls until native is rare, and with `and_back` until it is the rule again; at most this number of calls.
void run_until_learned(int most, bool and_back) {
  const auto* const native = static_cast<const unsigned long*>(dlsym(RTLD_DEFAULT, "slow_allgather_calls"));
  if (!native) return check(false);
  Calls world(MPI_COMM_WORLD);
  constexpr int chunk = 1024;
  bool has_learned = false;
  for (int done = 0; done < most; done += chunk) {
    const unsigned long before = *native;
    for (int i = 0; i < chunk; ++i) world.allgather(i, 2);
    const unsigned long natives = *native - before;  // equal on all ranks
    if (has_learned && natives > chunk - chunk / 8) return;
    has_learned = has_learned || natives < chunk / 8;
    if (has_learned && !and_back) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? std::atoi(argv[1]) : 2000;
  const auto has = [&](const char* word) {
    for (int i = 2; i < argc; ++i)
      if (std::strcmp(argv[i], word) == 0) return true;
    return false;
  };
  is_late = has("late");
  if (has("unlaunched")) {
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    unsetenv("MPI_LOCALNRANKS");
  }
  if (has("pause")) MPI_Pcontrol(0);
  if (has("exclude")) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "convene_learn", "false");
    MPI_Comm_set_info(MPI_COMM_WORLD, info);
    MPI_Info_free(&info);
  }
  if (has("until") || has("back")) {
    run_until_learned(calls, has("back"));
  } else if (has("many")) {
    run_many(calls);
  } else if (has("rare")) {
    run_rare(calls);
  } else if (has("toggle")) {
    run_toggling(calls);
  } else if (has("sizes")) {
    run_sizes(calls);
  } else if (has("sums")) {
    Calls world(MPI_COMM_WORLD);
    for (int i = 0; i < calls; ++i) world.sum(i);
  } else if (has("pairs")) {
    run_in_pairs(calls);
  } else if (has("only")) {
    Calls world(MPI_COMM_WORLD);
    for (int i = 0; i < calls; ++i) world.allgather(i, 2);
    if (has("pause")) {
      MPI_Pcontrol(1);
      for (int i = 0; i < calls; ++i) world.allgather(i, 2);
    }
  } else {
    run_all(calls);
  }
  int rank = 0, all_wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\n", all_wrong == 0 ? "all right" : "wrong");
  MPI_Finalize();
  return all_wrong != 0;
}
