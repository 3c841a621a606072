// SPDX-License-Identifier: BSD-3-Clause
// Steady state of a program with the drop-in library, over native, in one process: native calls (PMPI_…),
// those of the program (MPI_…: Convene decides) and native calls once more (the control) alternate in random
// order.
//
//   decide COLLECTIVE SIZES REPETITIONS SECONDS WARM SEED
//
// SIZES are separated by commas, in bytes (of a block in allgather, alltoall, gather and scatter, else of the
// vector); SECONDS is the length of a batch. Before each size the program's calls run for WARM seconds, so
// that learning may decide. Methods: `fixed` (a batch of calls in a row, root 0), `rotating` (the next rank
// is the root of each call; only with a root), `barriers` (a native barrier before each call, which is not
// timed). Buffers rotate from the size of the L2 cache on. Each call table has its own communicator.
//
// Prints one line of JSON for each size and method: seconds of a call for each call table by repetition (the
// maximum over the ranks), the one-way time of a cache line before that repetition, and what ran and why.
#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "convene/convene.h"
#include "line_time.hpp"
#include "series.hpp"

namespace {

int rank, procs;

struct CallTable {
  const char* name;
  decltype(&MPI_Allgather) allgather;
  decltype(&MPI_Allreduce) allreduce;
  decltype(&MPI_Alltoall) alltoall;
  decltype(&MPI_Barrier) barrier;
  decltype(&MPI_Bcast) bcast;
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Scatter) scatter;
  MPI_Comm comm = MPI_COMM_NULL;
};

#define NATIVE                                                                                       \
  PMPI_Allgather, PMPI_Allreduce, PMPI_Alltoall, PMPI_Barrier, PMPI_Bcast, PMPI_Gather, PMPI_Reduce, \
      PMPI_Scatter
#define PROGRAM \
  MPI_Allgather, MPI_Allreduce, MPI_Alltoall, MPI_Barrier, MPI_Bcast, MPI_Gather, MPI_Reduce, MPI_Scatter
CallTable tables[] = {{"native", NATIVE}, {"program", PROGRAM}, {"control", NATIVE}};
#undef NATIVE
#undef PROGRAM
constexpr int table_count = 3, of_program = 1;

enum Method { fixed, rotating, barriers };
constexpr const char* methods[] = {"fixed", "rotating", "barriers"};

class Case {
 public:
  const std::string collective;
  const int bytes;

  Case(std::string name, int size) : collective(std::move(name)), bytes(size) {
    const long cache = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 1L << 18);
    const std::size_t copies = size >= cache ? 3 : 1;
    stride_ = static_cast<std::size_t>(size) * static_cast<std::size_t>(has_blocks() ? procs : 1) + 64;
    in_.assign(copies * stride_, 1), out_.assign(copies * stride_, 0);
  }

  [[nodiscard]] bool has_root() const {
    return collective == "bcast" || collective == "gather" || collective == "reduce" ||
           collective == "scatter";
  }

  void call(const CallTable& t, int root) {
    char *const in = &in_[next_], *const out = &out_[next_];
    if ((next_ += stride_) >= in_.size()) next_ = 0;
    const int items = bytes / static_cast<int>(sizeof(std::int64_t));
    if (collective == "allgather")
      t.allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, t.comm);
    else if (collective == "allreduce")
      t.allreduce(in, out, items, MPI_INT64_T, MPI_SUM, t.comm);
    else if (collective == "alltoall")
      t.alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, t.comm);
    else if (collective == "barrier")
      t.barrier(t.comm);
    else if (collective == "bcast")
      t.bcast(out, bytes, MPI_BYTE, root, t.comm);
    else if (collective == "gather")
      t.gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, t.comm);
    else if (collective == "reduce")
      t.reduce(in, out, items, MPI_INT64_T, MPI_SUM, root, t.comm);
    else
      t.scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, root, t.comm);
  }

  /// Seconds of a call, in a batch of `count`.
  double run(const CallTable& table, Method method, int count) {
    double inside = 0;
    next_ = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      const int root = method == rotating ? i % procs : 0;
      if (method != barriers) {
        call(table, root);
        continue;
      }
      PMPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      call(table, root);
      inside += MPI_Wtime() - start;
    }
    // A batch in a row ends when all ranks have left it.
    const double mine = method == barriers ? inside : MPI_Wtime() - begin;
    return slowest(mine) / count;
  }

 private:
  [[nodiscard]] bool has_blocks() const {
    return collective != "allreduce" && collective != "bcast" && collective != "reduce";
  }

  std::size_t stride_ = 0, next_ = 0;
  std::vector<char> in_, out_;
};

/// Number of calls in a batch of this duration (seconds), the same on all ranks.
int calls_in(double seconds, double once) {
  const int count = std::clamp(static_cast<int>(seconds / std::max(once, 1e-8)), 2, 20000);
  return (count + procs - 1) / procs * procs;
}

void warm_up(Case& of, double seconds) {
  const int count = calls_in(1e-3, of.run(tables[of_program], fixed, 3 * procs));
  const double begin = MPI_Wtime();
  while (slowest(MPI_Wtime() - begin) < seconds) of.run(tables[of_program], fixed, count);
}

/// What ran in the last call of the program's table, and why. Without the drop-in library: nothing.
convene_call_stats last_choice() {
  convene_call_stats found = {"", "", 0};
  void* const symbol = dlsym(RTLD_DEFAULT, "convene_last");
  if (symbol) reinterpret_cast<decltype(&convene_last)>(symbol)(tables[of_program].comm, &found);
  return found;
}

void print_text(const char* name, const char* text) {
  std::printf(", \"%s\": \"", name);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') std::putchar('\\');
    std::putchar(*text);
  }
  std::putchar('"');
}

void measure(Case& of, Method method, int repetitions, double seconds, LineTime& line, std::mt19937& random) {
  std::vector<double> times[table_count], lines;
  for (int i = 0; i < 2; ++i)
    for (const CallTable& table : tables) of.run(table, method, 3 * procs);
  const int count = calls_in(seconds, of.run(tables[0], method, 3 * procs));
  int order[table_count] = {0, 1, 2};
  for (int i = 0; i < repetitions; ++i) {
    lines.push_back(line.measure());
    for (int last = table_count - 1; last > 0; --last)
      std::swap(order[last], order[random() % static_cast<unsigned>(last + 1)]);
    for (const int which : order) times[which].push_back(of.run(tables[which], method, count));
  }
  of.call(tables[of_program], 0);
  const convene_call_stats choice = last_choice();
  if (rank != 0) return;
  std::printf("{\"collective\": \"%s\", \"bytes\": %d, \"method\": \"%s\", \"calls\": %d",
              of.collective.c_str(), of.bytes, methods[method], count);
  print_text("algorithm", choice.algorithm), print_text("reason", choice.reason);
  for (int which = 0; which < table_count; ++which) {
    std::printf(", ");
    print(tables[which].name, times[which]);
  }
  std::printf(", ");
  print("line", lines);
  std::printf("}\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc != 7) {
    if (rank == 0) std::fprintf(stderr, "decide: COLLECTIVE SIZES REPETITIONS SECONDS WARM SEED\n");
    MPI_Finalize();
    return 2;
  }
  for (CallTable& table : tables) {
    MPI_Comm_dup(MPI_COMM_WORLD, &table.comm);
    PMPI_Barrier(table.comm);
  }
  {
    LineTime line;
    std::mt19937 random(static_cast<unsigned>(std::atoi(argv[6])));  // the same order on all ranks
    for (char* word = std::strtok(argv[2], ","); word; word = std::strtok(nullptr, ",")) {
      Case of(argv[1], std::atoi(word));
      warm_up(of, std::atof(argv[5]));
      for (const Method method : {fixed, rotating, barriers})
        if (method != rotating || of.has_root())
          measure(of, method, std::atoi(argv[3]), std::atof(argv[4]), line, random);
    }
  }
  for (CallTable& table : tables) MPI_Comm_free(&table.comm);
  MPI_Finalize();
}
