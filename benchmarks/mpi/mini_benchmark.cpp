// SPDX-License-Identifier: BSD-3-Clause
// Mini-benchmark of Proficz 2021 (Listing 4): each rank computes for some time and a random delay, declares
// in the middle that one half is done, and calls allgather. The result is the average elapsed time: the time
// of a rank in the call, averaged over ranks and iterations.
//
//   mini_benchmark --algorithms ring,bdr,native --floats 262144 --delays 0,50 --iterations 16 --compute 100
//
// All algorithms run with the same delays, one after the other in each iteration, in a varying order. An
// algorithm whose time depends on forecasts runs as a persistent operation with declared phases; all others
// are called. Writes one line of JSON for each pair of a size and a delay, on rank 0. Exit status: 0 done, 1
// wrong data, 2 an invalid request.
#include <convene/convene.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

int rank, procs;

[[noreturn]] void refuse(const std::string& why) {
  if (rank == 0) std::fprintf(stderr, "mini_benchmark: %s\n", why.c_str());
  MPI_Finalize();
  std::exit(2);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;  // an algorithm's parts in brackets have commas, too
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

struct Options {
  std::vector<std::string> algorithms{"neighbor_exchange", "ring",  "gather_bcast", "bdr", "bslb",
                                      "list_scheduled",    "native"};
  std::vector<std::string> forecasting{"bdr", "bslb", "list_scheduled"};
  std::vector<std::string> floats{"262144"};   // in total
  std::vector<std::string> delays{"0", "50"};  // milliseconds
  double compute = 100;                        // of each half, milliseconds
  int iterations = 8;
  unsigned seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--algorithms")
      options.algorithms = split(value);
    else if (name == "--forecasting")
      options.forecasting = split(value);
    else if (name == "--floats")
      options.floats = split(value);
    else if (name == "--delays")
      options.delays = split(value);
    else if (name == "--compute")
      options.compute = std::atof(value.c_str());
    else if (name == "--iterations")
      options.iterations = std::atoi(value.c_str());
    else if (name == "--seed")
      options.seed = static_cast<unsigned>(std::atoi(value.c_str()));
    else
      refuse("there is no option " + name);
  }
  if (argc % 2 == 0) refuse(std::string("the option ") + argv[argc - 1] + " lacks its value");
  if (options.iterations < 1) refuse("--iterations has to be at least 1");
  return options;
}

/// One algorithm, with its communicator and the buffers of one size.
class Contender {
 public:
  Contender(const std::string& name, bool forecasts, int block, std::vector<float>& in,
            std::vector<float>& out)
      : name_(name), block_(block), in_(in), out_(out) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    if (convene_use(comm_, ("allgather=" + name).c_str()) != MPI_SUCCESS) refuse(convene_error());
    if (!forecasts) return;
    convene_allgather_init(in.data(), block, MPI_FLOAT, out.data(), block, MPI_FLOAT, comm_, &operation_);
    if (convene_phase_init(operation_, 0) != MPI_SUCCESS) refuse(convene_error());
  }
  ~Contender() {
    if (operation_) convene_free(&operation_);
    MPI_Comm_free(&comm_);
  }
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;

  /// One iteration; returns the elapsed time in seconds.
  double run(double half_seconds) {
    MPI_Barrier(MPI_COMM_WORLD);  // twice: ranks leave closer together than after one
    MPI_Barrier(MPI_COMM_WORLD);
    if (operation_) convene_phase_begin(operation_);
    compute(half_seconds);
    if (operation_) convene_phase_edge(operation_, 0.5);
    compute(half_seconds);
    if (operation_) convene_phase_end(operation_);
    const double start = MPI_Wtime();
    if (operation_) {
      MPI_Request request;
      convene_start(operation_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      convene_allgather(in_.data(), block_, MPI_FLOAT, out_.data(), block_, MPI_FLOAT, comm_);
    }
    return MPI_Wtime() - start;
  }

  const std::string& name() const { return name_; }

 private:
  /// As in the source: a sleeping rank leaves its core to others, as if it had a node of its own.
  static void compute(double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }

  std::string name_;
  int block_;
  std::vector<float>&in_, &out_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  convene_operation operation_ = nullptr;
};

float element(int of_rank, int i, int iteration) {
  return static_cast<float>((of_rank * 31 + i * 7 + iteration * 13) % 8191);
}

bool is_right(const std::vector<float>& out, int block, int iteration) {
  for (int r = 0; r < procs; ++r)
    for (int i = 0; i < block; ++i)
      if (out[static_cast<std::size_t>(r) * static_cast<std::size_t>(block) + static_cast<std::size_t>(i)] !=
          element(r, i, iteration))
        return false;
  return true;
}

/// All algorithms with one size and one maximum delay: one line.
void measure(const Options& options, int floats, double delay_ms) {
  const int block = floats / procs;
  std::vector<float> in(static_cast<std::size_t>(block)), out(static_cast<std::size_t>(block * procs));
  std::vector<std::unique_ptr<Contender>> contenders;
  for (const std::string& name : options.algorithms) {
    const bool forecasts = std::find(options.forecasting.begin(), options.forecasting.end(),
                                     name.substr(0, name.find(';'))) != options.forecasting.end();
    contenders.push_back(std::make_unique<Contender>(name, forecasts, block, in, out));
  }
  std::mt19937 common(options.seed), own(options.seed * 7919 + static_cast<unsigned>(rank));
  std::vector<std::vector<double>> elapsed(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), 0);
  bool right = true;
  for (int iteration = -1; iteration < options.iterations; ++iteration) {  // the first one warms up
    const double delay = std::uniform_real_distribution<>(0, delay_ms)(own);
    std::shuffle(order.begin(), order.end(), common);
    for (const std::size_t which : order) {
      for (int i = 0; i < block; ++i) in[static_cast<std::size_t>(i)] = element(rank, i, iteration + 1);
      std::fill(out.begin(), out.end(), -1.f);
      const double seconds = contenders[which]->run((options.compute + delay / 2) * 1e-3);
      right = right && is_right(out, block, iteration + 1);
      double mean = 0;
      MPI_Allreduce(&seconds, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      if (iteration >= 0) elapsed[which].push_back(mean / procs);
    }
  }
  int all_right = right, both = 0;
  MPI_Allreduce(&all_right, &both, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (both == 0) {
    if (rank == 0) std::fprintf(stderr, "mini_benchmark: wrong data were gathered\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank != 0) return;
  nlohmann::json line = {{"procs", procs}, {"floats", floats}, {"max_delay_ms", delay_ms}};
  for (std::size_t i = 0; i < contenders.size(); ++i) line["elapsed"][contenders[i]->name()] = elapsed[i];
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int provided;
  const char* threads = std::getenv("CONVENE_PROGRESS_THREAD");
  const bool wants_threads = threads && std::strcmp(threads, "1") == 0;
  MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const Options options = parse(argc, argv);
  for (const std::string& floats : options.floats)
    for (const std::string& delay : options.delays)
      measure(options, std::atoi(floats.c_str()), std::atof(delay.c_str()));
  MPI_Finalize();
  return 0;
}
