// SPDX-License-Identifier: BSD-3-Clause
// Random test of everything that uses forecasts, all at the same time: phases before persistent operations of
// two communicators, declared in any order, with wrong fractions, or not at all; watched blocking calls with
// an early start; expected arrivals, right and wrong; pending non-blocking calls; communicators that are
// freed while a call is expected. Every result is compared with the correct one.
//
//   arrival_storm [--minutes M] [--seed S]
//
// All ranks draw the calls from one stream of random numbers, and their own behaviour from another. To be run
// with CONVENE_ARRIVALS=auto, with and without CONVENE_PROGRESS_THREAD=1.
#include <convene/convene.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

int world_rank = 0, world_procs = 0;
unsigned seed = 1;

[[noreturn]] void fail(const std::string& what) {
  std::printf("FAILED: %s on rank %d, seed %u: %s\n", what.c_str(), world_rank, seed, convene_error());
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}
void expect(bool holds, const char* what) {
  if (!holds) fail(what);
}
void expect_ok(int code, const char* what) { expect(code == MPI_SUCCESS, what); }

class Random {
 public:
  explicit Random(unsigned start) : engine_(start) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool once_in(int n) { return below(n) == 0; }

 private:
  std::mt19937 engine_;
};

/// Computes for some time: mostly short, and long on a rank that is late.
void compute(Random& own, bool is_late) {
  const int microseconds = (is_late ? 3000 : 0) + (own.once_in(20) ? own.below(4000) : own.below(300));
  usleep(static_cast<useconds_t>(microseconds));
}

int value(int from, int item, int run) { return from * 1000003 + item * 17 + run * 31; }

constexpr const char* allgathers[] = {
    "bdr",  "bdr;segments=3", "bslb",  "list_scheduled", "list_scheduled;segments=4",
    "ring", "sparbit",        "native"};
constexpr const char* reduces[] = {
    "clairvoyant", "clairvoyant;segments=3", "list_scheduled;segments=5", "local_redirect", "binomial",
    "native"};
constexpr const char* allreduces[] = {"slt;segments=3", "prr",   "adaptive_tree", "list_scheduled;segments=3",
                                      "segmented_ring", "native"};
constexpr const char* bcasts[] = {"list_scheduled", "arrival_b;segments=2", "arrival_nb", "chain", "native"};
constexpr const char* gathers[] = {"sls", "bsls", "sbn", "bsbn", "linear", "native"};
constexpr const char* scatters[] = {"sln", "bsln", "sbn", "bsbn", "linear", "native"};

enum class Kind { allgather, reduce, allreduce, bcast, gather, scatter };
constexpr int kinds = 6;
constexpr const char* names[] = {"allgather", "reduce", "allreduce", "bcast", "gather", "scatter"};

template <std::size_t n>
const char* any_of(const char* const (&list)[n], Random& common) {
  return list[common.below(n)];
}

std::string any_algorithm(Kind kind, Random& common) {
  const char* found = kind == Kind::allgather   ? any_of(allgathers, common)
                      : kind == Kind::reduce    ? any_of(reduces, common)
                      : kind == Kind::allreduce ? any_of(allreduces, common)
                      : kind == Kind::bcast     ? any_of(bcasts, common)
                      : kind == Kind::gather    ? any_of(gathers, common)
                                                : any_of(scatters, common);
  return std::string(names[static_cast<int>(kind)]) + "=" + found;
}

/// A collective with its buffers: its contribution and its expected result.
struct Data {
  Data(MPI_Comm on, Kind which, int items, int root_of) : comm(on), kind(which), n(items), root(root_of) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &procs);
    one.resize(static_cast<std::size_t>(n));
    all.resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(procs));
  }

  bool from_all() const { return kind == Kind::scatter; }
  bool to_all() const { return kind == Kind::allgather || kind == Kind::gather; }
  int* input() { return from_all() ? all.data() : one.data(); }

  /// The own contribution to a run, or invalid data.
  void fill(int run, bool is_complete) {
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (kind != Kind::scatter)
        one[at] = is_complete ? value(kind == Kind::bcast ? root : rank, i, run) : -1;
      for (int to = 0; kind == Kind::scatter && to < procs; ++to)
        all[static_cast<std::size_t>(to * n) + at] = is_complete ? value(to, i, run) : -1;
    }
    if (kind == Kind::bcast && rank != root) std::fill(one.begin(), one.end(), -7);
    result.assign(to_all() ? all.size() : one.size(), -7);
  }

  void check(int run) const {
    if ((kind == Kind::reduce || kind == Kind::gather) && rank != root) return;
    const std::vector<int>& came = kind == Kind::bcast ? one : result;
    for (int i = 0; i < n; ++i) {
      if (to_all()) {
        for (int from = 0; from < procs; ++from)
          expect(came[static_cast<std::size_t>(from * n + i)] == value(from, i, run), "what was gathered");
        continue;
      }
      int expected = value(kind == Kind::bcast ? root : rank, i, run);
      if (kind == Kind::reduce || kind == Kind::allreduce) {
        expected = 0;
        for (int from = 0; from < procs; ++from) expected += value(from, i, run);
      }
      expect(came[static_cast<std::size_t>(i)] == expected, "what came");
    }
  }

  void call() {
    switch (kind) {
      case Kind::allgather:
        return expect_ok(convene_allgather(one.data(), n, MPI_INT, result.data(), n, MPI_INT, comm), "call");
      case Kind::reduce:
        return expect_ok(convene_reduce(one.data(), result.data(), n, MPI_INT, MPI_SUM, root, comm), "call");
      case Kind::allreduce:
        return expect_ok(convene_allreduce(one.data(), result.data(), n, MPI_INT, MPI_SUM, comm), "call");
      case Kind::bcast:
        return expect_ok(convene_bcast(one.data(), n, MPI_INT, root, comm), "call");
      case Kind::gather:
        return expect_ok(convene_gather(one.data(), n, MPI_INT, result.data(), n, MPI_INT, root, comm),
                         "call");
      case Kind::scatter:
        return expect_ok(convene_scatter(all.data(), n, MPI_INT, result.data(), n, MPI_INT, root, comm),
                         "call");
    }
  }

  MPI_Request begin() {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code =
        kind == Kind::allgather
            ? convene_iallgather(one.data(), n, MPI_INT, result.data(), n, MPI_INT, comm, &request)
        : kind == Kind::reduce
            ? convene_ireduce(one.data(), result.data(), n, MPI_INT, MPI_SUM, root, comm, &request)
        : kind == Kind::allreduce
            ? convene_iallreduce(one.data(), result.data(), n, MPI_INT, MPI_SUM, comm, &request)
        : kind == Kind::bcast ? convene_ibcast(one.data(), n, MPI_INT, root, comm, &request)
        : kind == Kind::gather
            ? convene_igather(one.data(), n, MPI_INT, result.data(), n, MPI_INT, root, comm, &request)
            : convene_iscatter(all.data(), n, MPI_INT, result.data(), n, MPI_INT, root, comm, &request);
    expect_ok(code, "a non-blocking call");
    return request;
  }

  convene_operation make() {
    convene_operation made{};
    result.assign(to_all() ? all.size() : one.size(), -7);
    const int code =
        kind == Kind::allgather
            ? convene_allgather_init(one.data(), n, MPI_INT, result.data(), n, MPI_INT, comm, &made)
        : kind == Kind::reduce
            ? convene_reduce_init(one.data(), result.data(), n, MPI_INT, MPI_SUM, root, comm, &made)
        : kind == Kind::allreduce
            ? convene_allreduce_init(one.data(), result.data(), n, MPI_INT, MPI_SUM, comm, &made)
        : kind == Kind::bcast ? convene_bcast_init(one.data(), n, MPI_INT, root, comm, &made)
        : kind == Kind::gather
            ? convene_gather_init(one.data(), n, MPI_INT, result.data(), n, MPI_INT, root, comm, &made)
            : convene_scatter_init(all.data(), n, MPI_INT, result.data(), n, MPI_INT, root, comm, &made);
    expect_ok(code, "a persistent operation");
    return made;
  }

  MPI_Comm comm;
  Kind kind;
  int n, root, rank = 0, procs = 0;
  std::vector<int> one, all, result;
};

/// A persistent operation with phases.
struct Phased {
  Phased(MPI_Comm comm, Random& common) : data(comm, Kind(common.below(kinds)), 1 + common.below(3000), 0) {
    data.root = common.below(data.procs);
    const std::string algorithm = any_algorithm(data.kind, common);
    is_native = algorithm.ends_with("native");
    expect_ok(convene_use(comm, algorithm.c_str()), "convene_use");
    operation = data.make();
    expect_ok(convene_phase_init(operation, common.once_in(2) ? 1e-4 : 0), "convene_phase_init");
  }

  /// One phase, in which this rank may omit declarations or declare wrong values.
  void declare(int run, Random& own, bool is_late) {
    data.fill(run, false);
    const bool begins = !own.once_in(8);
    if (begins) expect_ok(convene_phase_begin(operation), "begin");
    compute(own, is_late);
    if (begins && !own.once_in(4))
      expect_ok(convene_phase_edge(operation, own.once_in(3) ? 0.01 + own.below(98) / 100. : 0.5), "edge");
    compute(own, false);
    data.fill(run, true);
    if (begins && !own.once_in(8)) expect_ok(convene_phase_end(operation), "end");
  }

  Data data;
  convene_operation operation{};
  bool is_native = false;
};

/// Some calls on three communicators; the same calls on all ranks.
class Episode {
 public:
  explicit Episode(unsigned number)
      : common_(number), own_(number * 977u + static_cast<unsigned>(world_rank) + 1) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms_[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms_[1]);
    MPI_Comm_dup(comms_[1], &comms_[2]);
    late_ = common_.below(world_procs);
    for (int i = 0, n = common_.below(4); i < n; ++i)
      phased_.push_back(std::make_unique<Phased>(comms_[1 + common_.below(2)], common_));
  }

  void run() {
    const int events = 20 + common_.below(60);
    const int watched = 2048 + common_.below(4096);
    for (int event = 0; event < events; ++event) {
      if (common_.once_in(12)) late_ = common_.below(world_procs);
      switch (common_.below(8)) {
        case 0:
        case 1:
          phases();
          break;
        case 2:
          outstanding();
          break;
        case 3:
          told();
          break;
        default:
          blocking(Kind::allgather, watched, 1 + common_.below(6));
      }
    }
  }

  ~Episode() {
    for (auto& one : phased_) expect_ok(convene_free(&one->operation), "convene_free");
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
  }

 private:
  bool is_late() const { return world_rank == late_; }

  /// The calls of a program that repeats itself.
  void blocking(Kind kind, int n, int times) {
    Data data(comms_[0], kind, n, 0);
    for (int i = 0; i < times; ++i, ++run_) {
      compute(own_, is_late());
      data.fill(run_, true);
      data.call();
      data.check(run_);
    }
  }

  /// Phases of several operations at a time: declared in a different order on each rank, and completed
  /// together.
  void phases() {
    if (phased_.empty()) return;
    std::vector<MPI_Request> requests;
    std::vector<std::size_t> order(phased_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(own_.below(static_cast<int>(i)))]);
    for (const std::size_t which : order) phased_[which]->declare(run_, own_, is_late());
    // Native operations must be started in the same order on all ranks.
    std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !phased_[i]->is_native; });
    std::sort(std::find_if(order.begin(), order.end(), [&](std::size_t i) { return phased_[i]->is_native; }),
              order.end());
    for (const std::size_t which : order) {
      requests.emplace_back();
      expect_ok(convene_start(phased_[which]->operation, &requests.back()), "convene_start");
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& one : phased_) one->data.check(run_);
    ++run_;
  }

  /// A non-blocking call, with blocking ones of the other communicator meanwhile.
  void outstanding() {
    Data data(comms_[1], Kind(common_.below(kinds)), 1 + common_.below(5000), 0);
    data.root = common_.below(data.procs);
    expect_ok(convene_use(data.comm, any_algorithm(data.kind, common_).c_str()), "convene_use");
    const int run = run_++;
    data.fill(run, true);
    MPI_Request request = data.begin();
    blocking(Kind(common_.below(kinds)), 1 + common_.below(3000), 1 + common_.below(3));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data.check(run);
  }

  /// Expected arrivals, mostly wrong.
  void told() {
    Data data(comms_[1], common_.once_in(2) ? Kind::reduce : Kind::allgather, 1 + common_.below(20000), 0);
    data.root = common_.below(data.procs);
    std::vector<double> seconds(static_cast<std::size_t>(data.procs));
    for (double& one : seconds) one = common_.below(3000) * 1e-6;
    expect_ok(convene_use(data.comm, any_algorithm(data.kind, common_).c_str()), "convene_use");
    expect_ok(convene_expect(data.comm, common_.once_in(5) ? nullptr : seconds.data()), "convene_expect");
    for (int i = 0; i < 3; ++i, ++run_) {
      compute(own_, is_late());
      data.fill(run_, true);
      data.call();
      data.check(run_);
    }
  }

  Random common_, own_;
  MPI_Comm comms_[3];  // the first one is watched: no algorithm is chosen there
  std::vector<std::unique_ptr<Phased>> phased_;
  int late_ = 0, run_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_procs);
  double minutes = 0.1;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--minutes") == 0) minutes = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = static_cast<unsigned>(std::atoi(argv[i + 1]));
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(60 * minutes);
  int episodes = 0;
  for (int goes_on = 1; goes_on != 0; ++episodes, ++seed) {
    Episode(seed).run();
    goes_on = std::chrono::steady_clock::now() < end;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (world_rank == 0) std::printf("%d episodes, all right\n", episodes);
  MPI_Finalize();
  return 0;
}
