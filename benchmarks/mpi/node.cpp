// SPDX-License-Identifier: BSD-3-Clause
// Collectives within a node: native calls (PMPI_Bcast …) and those of the program (MPI_Bcast …: Convene's
// with the drop-in library) alternate in every repetition.
//
//   node COLLECTIVE SIZES REPETITIONS SECONDS
//
// SIZES are separated by commas, in bytes (of a block in allgather, alltoall, gather, reduce_scatter_block
// and scatter, else of the vector); SECONDS is the length of a batch. Methods: `fixed` (a batch of calls in a
// row, root 0), `rotating` (the next rank is the root of each call), `barriers` (a native barrier before each
// call, which is not timed). Prints JSON: for each size and method, by repetition, seconds of a call for each
// call table (the maximum over the ranks), and the one-way time of a cache line between the first two ranks
// before that repetition.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

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
  decltype(&MPI_Exscan) exscan;
  decltype(&MPI_Gather) gather;
  decltype(&MPI_Reduce) reduce;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block;
  decltype(&MPI_Scan) scan;
  decltype(&MPI_Scatter) scatter;
  MPI_Comm comm = MPI_COMM_NULL;
};

CallTable tables[] = {
    {"native", PMPI_Allgather, PMPI_Allreduce, PMPI_Alltoall, PMPI_Barrier, PMPI_Bcast, PMPI_Exscan,
     PMPI_Gather, PMPI_Reduce, PMPI_Reduce_scatter_block, PMPI_Scan, PMPI_Scatter},
    {"program", MPI_Allgather, MPI_Allreduce, MPI_Alltoall, MPI_Barrier, MPI_Bcast, MPI_Exscan, MPI_Gather,
     MPI_Reduce, MPI_Reduce_scatter_block, MPI_Scan, MPI_Scatter},
};
constexpr const char* methods[] = {"fixed", "rotating", "barriers"};

struct Case {
  std::string collective;
  int bytes;
  std::vector<char> in, out;

  Case(std::string name, int size) : collective(std::move(name)), bytes(size) {
    const auto all = static_cast<std::size_t>(size) * static_cast<std::size_t>(procs);
    in.assign(all + 8, 1), out.assign(all + 8, 0);
  }

  void call(const CallTable& table, int root) {
    if (collective == "allgather")
      table.allgather(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, table.comm);
    else if (collective == "allreduce")
      table.allreduce(in.data(), out.data(), bytes / 4, MPI_INT, MPI_MAX, table.comm);
    else if (collective == "alltoall")
      table.alltoall(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, table.comm);
    else if (collective == "barrier")
      table.barrier(table.comm);
    else if (collective == "bcast")
      table.bcast(out.data(), bytes, MPI_BYTE, root, table.comm);
    else if (collective == "exscan")
      table.exscan(in.data(), out.data(), bytes / 4, MPI_INT, MPI_MAX, table.comm);
    else if (collective == "gather")
      table.gather(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, root, table.comm);
    else if (collective == "reduce_scatter_block")
      table.reduce_scatter_block(in.data(), out.data(), bytes / 4, MPI_INT, MPI_MAX, table.comm);
    else if (collective == "scan")
      table.scan(in.data(), out.data(), bytes / 4, MPI_INT, MPI_MAX, table.comm);
    else if (collective == "scatter")
      table.scatter(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, root, table.comm);
    else
      table.reduce(in.data(), out.data(), bytes / 4, MPI_INT, MPI_MAX, root, table.comm);
  }

  /// Seconds of a call, in a batch of `count`.
  double run(const CallTable& table, int method, int count) {
    double inside = 0;
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      const int root = method == 1 ? i % procs : 0;
      if (method < 2) {
        call(table, root);
        continue;
      }
      PMPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      call(table, root);
      inside += MPI_Wtime() - start;
    }
    // A batch in a row ends when all ranks have left it.
    const double mine = method < 2 ? MPI_Wtime() - begin : inside;
    return slowest(mine) / count;
  }
};

void measure(Case& of, int method, int repetitions, double seconds, LineTime& line, bool& is_first) {
  std::vector<double> times[2], lines;
  for (int i = 0; i < 2; ++i)
    for (const CallTable& table : tables) of.run(table, method, 3 * procs);
  // With the barriers between calls, which can take longer than the calls.
  const double begin = MPI_Wtime();
  of.run(tables[0], method, 3 * procs);
  const double once = slowest(MPI_Wtime() - begin) / (3 * procs);
  int count = std::clamp(static_cast<int>(seconds / std::max(once, 1e-8)), 2, 20000);
  count = (count + procs - 1) / procs * procs;
  for (int i = 0; i < repetitions; ++i) {
    lines.push_back(line.measure());
    for (int k = 0; k < 2; ++k) {
      const int which = (i + k) % 2;
      times[which].push_back(of.run(tables[which], method, count));
    }
  }
  if (rank != 0) return;
  std::printf("%s\n {\"collective\": \"%s\", \"bytes\": %d, \"method\": \"%s\", \"calls\": %d, ",
              is_first ? "" : ",", of.collective.c_str(), of.bytes, methods[method], count);
  for (int which = 0; which < 2; ++which) {
    print(tables[which].name, times[which]);
    std::printf(", ");
  }
  print("line", lines);
  std::printf("}");
  is_first = false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc != 5) {
    if (rank == 0) std::fprintf(stderr, "node: COLLECTIVE SIZES REPETITIONS SECONDS\n");
    MPI_Finalize();
    return 2;
  }
  for (CallTable& table : tables) {
    MPI_Comm_dup(MPI_COMM_WORLD, &table.comm);
    PMPI_Barrier(table.comm);
  }
  {
    LineTime line;
    bool is_first = true;
    if (rank == 0) std::printf("[");
    for (char* word = std::strtok(argv[2], ","); word; word = std::strtok(nullptr, ",")) {
      Case of(argv[1], std::atoi(word));
      for (int method = 0; method < 3; ++method)
        measure(of, method, std::atoi(argv[3]), std::atof(argv[4]), line, is_first);
    }
    if (rank == 0) std::printf("\n]\n");
  }
  for (CallTable& table : tables) MPI_Comm_free(&table.comm);
  MPI_Finalize();
}
