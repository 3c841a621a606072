// SPDX-License-Identifier: BSD-3-Clause
// Times of collectives in one process, for comparisons between processes: call_times SECONDS CELL...
//
// A cell is COLLECTIVE:BYTES, a non-blocking one begins with i (iallgather:1024). BYTES are those of a block,
// or of the vector of bcast and allreduce. Prints one line of JSON: nanoseconds per call of each cell (median
// of batches; a batch's time is that of its slowest rank), nanoseconds of processor time per call of all
// ranks together (over all batches), and nanoseconds that a cache line takes from one core to another and
// back, the state of the machine.
#include <mpi.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

int rank, procs;

struct Cell {
  std::string name, collective;
  bool is_blocking = true;
  int bytes = 0;
  std::vector<char> in, out;

  explicit Cell(const char* text) : name(text) {
    const std::size_t colon = name.find(':');
    if (colon == std::string::npos) std::fprintf(stderr, "'%s' is no COLLECTIVE:BYTES\n", text), std::exit(2);
    is_blocking = name[0] != 'i';
    collective = name.substr(is_blocking ? 0 : 1, colon - (is_blocking ? 0 : 1));
    bytes = std::atoi(text + colon + 1);
    const auto all = static_cast<std::size_t>(bytes) * static_cast<std::size_t>(procs) + 8;
    in.assign(all, static_cast<char>(rank)), out.assign(all, 0);
  }

  int start(MPI_Request* request) {
    const MPI_Comm comm = MPI_COMM_WORLD;
    void *const from = in.data(), *const to = out.data();
    const int items = bytes / static_cast<int>(sizeof(int));
    if (collective == "allgather")
      return is_blocking ? MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm)
                         : MPI_Iallgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm, request);
    if (collective == "alltoall")
      return is_blocking ? MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm)
                         : MPI_Ialltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm, request);
    if (collective == "allreduce")
      return is_blocking ? MPI_Allreduce(from, to, items, MPI_INT, MPI_SUM, comm)
                         : MPI_Iallreduce(from, to, items, MPI_INT, MPI_SUM, comm, request);
    if (collective == "bcast")
      return is_blocking ? MPI_Bcast(to, bytes, MPI_BYTE, 0, comm)
                         : MPI_Ibcast(to, bytes, MPI_BYTE, 0, comm, request);
    if (collective == "barrier") return is_blocking ? MPI_Barrier(comm) : MPI_Ibarrier(comm, request);
    std::fprintf(stderr, "no collective '%s' here\n", collective.c_str());
    std::exit(2);
  }

  void run(int calls) {
    for (int i = 0; i < calls; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      start(&request);
      if (!is_blocking) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
};

double slowest(double mine) {
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/// Nanoseconds per call of one batch.
double batch(Cell& cell, int calls) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  cell.run(calls);
  return slowest(MPI_Wtime() - start) / calls * 1e9;
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Nanoseconds of processor time that this process has used.
double processor_time() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  const auto nanoseconds = [](const timeval& time) {
    return 1e9 * static_cast<double>(time.tv_sec) + 1e3 * static_cast<double>(time.tv_usec);
  };
  return nanoseconds(used.ru_utime) + nanoseconds(used.ru_stime);
}

/// Nanoseconds per call.
struct Times {
  double elapsed, processor;
};

Times measure(Cell& cell, double seconds) {
  constexpr double batch_seconds = 1e-3;
  cell.run(20);  // the first calls decide and allocate
  const double estimate = batch(cell, 20) * 1e-9;
  const int calls = std::clamp(static_cast<int>(batch_seconds / estimate), 1, 10000);
  const int batches = std::clamp(static_cast<int>(seconds / (estimate * calls)), 5, 1000);
  std::vector<double> found;
  const double before = processor_time();
  for (int i = 0; i < batches; ++i) found.push_back(batch(cell, calls));
  const double mine = (processor_time() - before) / (batches * calls);
  double all = 0;
  PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {median(found), all};
}

/// Nanoseconds of a cache line's way to the next rank and back; 0 without shared memory.
double line_time() {
  MPI_Comm node;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int here = 0, size = 0;
  PMPI_Comm_rank(node, &here), PMPI_Comm_size(node, &size);
  void* base = nullptr;
  MPI_Win window;
  PMPI_Win_allocate_shared(here == 0 ? 128 : 0, 1, MPI_INFO_NULL, node, static_cast<void*>(&base), &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  PMPI_Win_shared_query(window, 0, &bytes, &unit, static_cast<void*>(&base));
  auto* const line = static_cast<std::atomic<int>*>(base);
  if (here == 0) line->store(0);
  PMPI_Barrier(node);
  std::vector<double> found;
  constexpr int rounds = 100, repetitions = 31;
  for (int repetition = 0; repetition < repetitions && size > 1 && here < 2; ++repetition) {
    const double start = MPI_Wtime();
    for (int i = 0; i < rounds; ++i) {
      const int mine = 2 * (repetition * rounds + i) + here;
      while (line->load(std::memory_order_acquire) != mine) {
      }
      line->store(mine + 1, std::memory_order_release);
    }
    found.push_back((MPI_Wtime() - start) / rounds * 1e9);
  }
  PMPI_Win_free(&window);
  PMPI_Comm_free(&node);
  return found.empty() ? 0 : median(found);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.05;
  const double line = line_time();
  if (rank == 0) std::printf("{\"line\": %.2f, \"cells\": {", line);
  std::string processor;
  for (int i = 2; i < argc; ++i) {
    Cell cell(argv[i]);
    const Times times = measure(cell, seconds);
    const std::string name = (i > 2 ? ", \"" : "\"") + cell.name + "\": ";
    if (rank == 0) std::printf("%s%.2f", name.c_str(), times.elapsed);
    processor += name + std::to_string(times.processor);
  }
  if (rank == 0) std::printf("}, \"cpu\": {%s}}\n", processor.c_str());
  MPI_Finalize();
}
