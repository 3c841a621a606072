// SPDX-License-Identifier: BSD-3-Clause
// Overlap of a non-blocking collective with computation: the native collective (PMPI_Iallgather …) and that
// of the program (MPI_Iallgather …: Convene's with the drop-in library) alternate in every repetition.
//
//   overlap COLLECTIVE SIZES TESTS REPETITIONS
//
// SIZES are separated by commas, in bytes (of a block, or of a vector); TESTS is the number of calls of
// MPI_Test during the computation. Prints JSON: for each size and call table, by repetition, seconds of the
// collective alone (started and waited for) and of the same with an equally long computation in between. All
// are maxima over the ranks. Each call follows an untimed one of the same table: otherwise it would find the
// caches as the other table left them, which changed the time by a third.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "series.hpp"

namespace {

int rank, procs;

struct CallTable {
  const char* name;
  decltype(&MPI_Iallgather) iallgather;
  decltype(&MPI_Ialltoall) ialltoall;
  decltype(&MPI_Ibcast) ibcast;
  decltype(&MPI_Iallreduce) iallreduce;
  MPI_Comm comm = MPI_COMM_NULL;
};

CallTable tables[] = {{"native", PMPI_Iallgather, PMPI_Ialltoall, PMPI_Ibcast, PMPI_Iallreduce},
                      {"program", MPI_Iallgather, MPI_Ialltoall, MPI_Ibcast, MPI_Iallreduce}};

/// Computes for a given time, without any MPI call.
void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  volatile double sink = 1;
  while (MPI_Wtime() < end)
    for (int i = 0; i < 50; ++i) sink = sink * 1.0000001;
}

struct Case {
  std::string collective;
  int bytes;
  std::vector<char> in, out;

  Case(std::string name, int size) : collective(std::move(name)), bytes(size) {
    const auto all = static_cast<std::size_t>(size) * static_cast<std::size_t>(procs);
    in.assign(all + 8, static_cast<char>(rank)), out.assign(all + 8, 0);
  }

  void start(const CallTable& table, MPI_Request* request) {
    if (collective == "allgather")
      table.iallgather(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, table.comm, request);
    else if (collective == "alltoall")
      table.ialltoall(in.data(), bytes, MPI_BYTE, out.data(), bytes, MPI_BYTE, table.comm, request);
    else if (collective == "bcast")
      table.ibcast(out.data(), bytes, MPI_BYTE, 0, table.comm, request);
    else
      table.iallreduce(in.data(), out.data(), bytes / 4, MPI_INT, MPI_MAX, table.comm, request);
  }

  /// Seconds of one call with a computation after its start, in slices with a test after each but the last.
  double run(const CallTable& table, double computation, int tests) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    start(table, &request);
    for (int slice = 0; computation > 0 && slice <= tests; ++slice) {
      compute(computation / (tests + 1));
      int done = 0;
      if (slice < tests) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return slowest(MPI_Wtime() - begin);
  }

  double rerun(const CallTable& table, double computation, int tests) {
    run(table, 0, 0);
    return run(table, computation, tests);
  }
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  if (argc != 5) {
    if (rank == 0) std::fprintf(stderr, "overlap: COLLECTIVE SIZES TESTS REPETITIONS\n");
    MPI_Finalize();
    return 2;
  }
  const int tests = std::atoi(argv[3]), repetitions = std::atoi(argv[4]);
  for (CallTable& table : tables) {
    MPI_Comm_dup(MPI_COMM_WORLD, &table.comm);
    MPI_Barrier(table.comm);
  }
  if (rank == 0) std::printf("[");
  bool is_first = true;
  for (char* word = std::strtok(argv[2], ","); word; word = std::strtok(nullptr, ",")) {
    Case of(argv[1], std::atoi(word));
    std::vector<double> alone[2], behind[2];
    for (int i = 0; i < 5; ++i)
      for (const CallTable& table : tables) of.run(table, 0, 0);
    for (int i = 0; i < repetitions; ++i)
      for (int d = 0; d < 2; ++d) alone[d].push_back(of.rerun(tables[d], 0, 0));
    for (int i = 0; i < repetitions; ++i)
      for (int d = 0; d < 2; ++d) behind[d].push_back(of.rerun(tables[d], median(alone[d]), tests));
    for (int d = 0; rank == 0 && d < 2; ++d) {
      std::printf("%s\n {\"bytes\": %d, \"table\": \"%s\", ", is_first ? "" : ",", of.bytes, tables[d].name);
      print("alone", alone[d]);
      std::printf(", ");
      print("behind", behind[d]);
      std::printf("}");
      is_first = false;
    }
  }
  if (rank == 0) std::printf("\n]\n");
  for (CallTable& table : tables) MPI_Comm_free(&table.comm);
  MPI_Finalize();
}
