// SPDX-License-Identifier: BSD-3-Clause
// One-way time of a cache line between the first two ranks: the state of the machine beside an observation.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "series.hpp"

/// A flag that the first two ranks of MPI_COMM_WORLD pass to each other, in memory that they share. All ranks
/// create and use it together; they share a node.
class LineTime {
 public:
  LineTime() {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    PMPI_Comm_size(MPI_COMM_WORLD, &procs_);
    char name[64] = {};
    std::snprintf(name, sizeof name, "/convene-line-%d", static_cast<int>(getpid()));
    PMPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank_ == 0) open(name, O_CREAT | O_EXCL);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank_ != 0) open(name, 0);
    PMPI_Barrier(MPI_COMM_WORLD);
    if (rank_ == 0) shm_unlink(name);
  }
  LineTime(const LineTime&) = delete;
  LineTime& operator=(const LineTime&) = delete;

  /// Seconds of one way.
  double measure() {
    constexpr unsigned passes = 400;
    PMPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (unsigned i = 0; rank_ < 2 && procs_ > 1 && i < passes; ++i, ++passed_) {
      if (static_cast<int>(i % 2) == rank_) {
        flag_->store(passed_ + 1, std::memory_order_release);
        continue;
      }
      while (static_cast<int>(flag_->load(std::memory_order_acquire) - passed_) < 1) {
      }
    }
    return slowest((MPI_Wtime() - begin) / passes);
  }

 private:
  void open(const char* name, int flags) {
    const int file = shm_open(name, O_RDWR | flags, 0600);
    void* const memory = file >= 0 && ftruncate(file, 64) == 0
                             ? mmap(nullptr, 64, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                             : MAP_FAILED;
    if (memory == MAP_FAILED) {
      std::perror("shared memory");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(file);
    flag_ = static_cast<std::atomic<unsigned>*>(memory);
  }

  int rank_ = 0, procs_ = 0;
  std::atomic<unsigned>* flag_ = nullptr;
  unsigned passed_ = 0;
};
