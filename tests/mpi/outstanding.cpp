// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives of all kinds, several outstanding at once on several communicators, mixed with
// blocking ones: outstanding ROUNDS [only | apart]. Ranks complete them in an order of their own, late or at
// once; results are checked. With `only`, all calls but those that create communicators are non-blocking,
// with `apart` one is outstanding at a time.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using Random = std::mt19937;
using Items = std::vector<int>;

constexpr int counts[] = {1, 2, 14, 15, 1, 4, 100, 1000, 1, 9000, 0};
constexpr const char* names[] = {"barrier",
                                 "bcast",
                                 "reduce",
                                 "allreduce",
                                 "allgather",
                                 "gather",
                                 "scatter",
                                 "alltoall",
                                 "scan",
                                 "exscan",
                                 "reduce_scatter_block",
                                 "reduce_scatter"};
constexpr int kinds = static_cast<int>(std::size(names));

int world_rank = 0, world_procs = 1;

int below(Random& random, int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); }

/// Item of block `to` of a rank in a call.
int value(int call, int from, int to, int item) { return call * 31 + from * 7 + to * 3 + item % 1000; }

std::size_t size(int items) { return static_cast<std::size_t>(items); }

/// One call with its buffers.
class Operation {
 public:
  Operation(int kind, int call, int count, int root, MPI_Comm comm)
      : kind_(kind), call_(call), count_(count) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &procs_);
    comm_ = comm;
    root_ = root % procs_;
    in_.resize(size(count * procs_) + 1);
    out_.assign(size(count * procs_) + 1, -1);
    counts_.assign(size(procs_), count);
    for (int to = 0; to < procs_; ++to)
      for (int i = 0; i < count; ++i) in_[size(to * count + i)] = value(call, rank_, to, i);
    if (kind == 1 && rank_ == root_) out_ = in_;
  }

  /// Starts it or, without a request, runs it.
  int run(MPI_Request* started) {
    const int n = count_;
    const void* const in = in_.data();
    void* const out = out_.data();
    const MPI_Comm comm = comm_;
#define ONE(NAME, ...) \
  return started ? MPI_I##NAME(__VA_ARGS__, comm, started) : MPI_NAME_OF_##NAME(__VA_ARGS__, comm)
#define MPI_NAME_OF_bcast MPI_Bcast
#define MPI_NAME_OF_reduce MPI_Reduce
#define MPI_NAME_OF_allreduce MPI_Allreduce
#define MPI_NAME_OF_allgather MPI_Allgather
#define MPI_NAME_OF_gather MPI_Gather
#define MPI_NAME_OF_scatter MPI_Scatter
#define MPI_NAME_OF_alltoall MPI_Alltoall
#define MPI_NAME_OF_scan MPI_Scan
#define MPI_NAME_OF_exscan MPI_Exscan
#define MPI_NAME_OF_reduce_scatter_block MPI_Reduce_scatter_block
#define MPI_NAME_OF_reduce_scatter MPI_Reduce_scatter
    switch (kind_) {
      case 0:
        return started ? MPI_Ibarrier(comm, started) : MPI_Barrier(comm);
      case 1:
        ONE(bcast, out, n, MPI_INT, root_);
      case 2:
        ONE(reduce, in, out, n, MPI_INT, MPI_SUM, root_);
      case 3:
        ONE(allreduce, in, out, n, MPI_INT, MPI_SUM);
      case 4:
        ONE(allgather, in, n, MPI_INT, out, n, MPI_INT);
      case 5:
        ONE(gather, in, n, MPI_INT, out, n, MPI_INT, root_);
      case 6:
        ONE(scatter, in, n, MPI_INT, out, n, MPI_INT, root_);
      case 7:
        ONE(alltoall, in, n, MPI_INT, out, n, MPI_INT);
      case 8:
        ONE(scan, in, out, n, MPI_INT, MPI_SUM);
      case 9:
        ONE(exscan, in, out, n, MPI_INT, MPI_SUM);
      case 10:
        ONE(reduce_scatter_block, in, out, n, MPI_INT, MPI_SUM);
      default:
        ONE(reduce_scatter, in, out, counts_.data(), MPI_INT, MPI_SUM);
    }
#undef ONE
  }

  void check() const {
    bool is_right = true;
    const auto expect = [&](int at, int wanted) { is_right = is_right && out_[size(at)] == wanted; };
    const auto sum = [&](int ranks, int to, int item) {
      int result = 0;
      for (int from = 0; from < ranks; ++from) result += value(call_, from, to, item);
      return result;
    };
    for (int i = 0; i < count_; ++i) switch (kind_) {
        case 0:
          break;
        case 1:
          expect(i, value(call_, root_, 0, i));
          break;
        case 2:
          if (rank_ == root_) expect(i, sum(procs_, 0, i));
          break;
        case 3:
          expect(i, sum(procs_, 0, i));
          break;
        case 4:
          for (int from = 0; from < procs_; ++from) expect(from * count_ + i, value(call_, from, 0, i));
          break;
        case 5:
          for (int from = 0; rank_ == root_ && from < procs_; ++from)
            expect(from * count_ + i, value(call_, from, 0, i));
          break;
        case 6:
          expect(i, value(call_, root_, rank_, i));
          break;
        case 7:
          for (int from = 0; from < procs_; ++from) expect(from * count_ + i, value(call_, from, rank_, i));
          break;
        case 8:
          expect(i, sum(rank_ + 1, 0, i));
          break;
        case 9:
          if (rank_ > 0) expect(i, sum(rank_, 0, i));
          break;
        default:
          expect(i, sum(procs_, rank_, i));
      }
    if (out_.back() != (kind_ == 1 && rank_ == root_ ? in_.back() : -1)) is_right = false;
    if (is_right) return;
    std::printf("FAILED: %s of %d items, call %d on rank %d\n", names[kind_], count_, call_, world_rank);
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  const int kind_, call_, count_;
  int rank_ = 0, procs_ = 1, root_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Items in_, out_, counts_;
};

using Operations = std::vector<std::unique_ptr<Operation>>;

/// Completes one, by a wait or by tests.
void complete(Operations& open, Random& mine) {
  const auto which = open.begin() + below(mine, static_cast<int>(open.size()));
  Operation& operation = **which;
  if (below(mine, 2) == 0) {
    MPI_Wait(&operation.request, MPI_STATUS_IGNORE);
  } else {
    for (int done = 0; !done;) MPI_Test(&operation.request, &done, MPI_STATUS_IGNORE);
  }
  operation.check();
  open.erase(which);
}

void complete_all(Operations& open) {
  std::vector<MPI_Request> requests;
  for (const auto& each : open) requests.push_back(each->request);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const auto& each : open) each->check();
  open.clear();
}

void run_round(int round, bool all_non_blocking, std::size_t most_open) {
  Random common(static_cast<unsigned>(round) + 1),
      mine(static_cast<unsigned>(round * 100 + world_rank) + 1000);
  MPI_Comm comms[4] = {MPI_COMM_WORLD};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comms[3]);
  const int late = round % world_procs;
  Operations open;
  for (int call = 0; call < 60; ++call) {
    const int kind = below(common, kinds), which = below(common, 4), root = below(common, 64);
    const int count = counts[below(common, static_cast<int>(std::size(counts)))];
    const bool is_blocking = below(common, 4) == 0 && !all_non_blocking;
    auto operation = std::make_unique<Operation>(kind, round * 100 + call, count, root, comms[which]);
    if (call % 10 == 0 && world_rank == late) usleep(2000);
    if (is_blocking) {
      operation->run(nullptr);
      operation->check();
      continue;
    }
    operation->run(&operation->request);
    open.push_back(std::move(operation));
    while (open.size() > most_open || (!open.empty() && below(mine, 5) == 0)) complete(open, mine);
  }
  complete_all(open);
  for (int i = 1; i < 4; ++i) MPI_Comm_free(&comms[i]);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_procs);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::string how = argc > 2 ? argv[2] : "";
  for (int round = 0; round < rounds; ++round) run_round(round, how == "only", how == "apart" ? 0 : 12);
  if (world_rank == 0) std::printf("%d rounds, all right\n", rounds);
  MPI_Finalize();
  return 0;
}
