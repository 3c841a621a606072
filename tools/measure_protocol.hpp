// SPDX-License-Identifier: BSD-3-Clause
// Size from which a sender waits for its receiver: the threshold between the eager and rendezvous protocols,
// found by bisection with sends to a late rank.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "measure_layout.hpp"

namespace convene::measure {

class ProtocolSearch {
 public:
  /// `pair`: rank 0 sends to rank 1; MPI_COMM_NULL for ranks that only wait for the result.
  ProtocolSearch(MPI_Comm pair, Buffers& buffers) : pair_(pair), buffers_(buffers) {
    if (pair != MPI_COMM_NULL) MPI_Comm_rank(pair, &place_);
  }

  /// The smallest size for which the sender waits; nothing if it does not wait up to `largest`. Collective
  /// for all ranks.
  std::optional<std::size_t> run(std::size_t largest) {
    buffers_.expect(largest);
    if (!waits(largest)) return std::nullopt;
    std::size_t free = 0, waiting = largest;
    if (waits(free)) return 0;
    while (waiting - free > 1) {
      const std::size_t middle = free + (waiting - free) / 2;
      (waits(middle) ? waiting : free) = middle;
    }
    return waiting;
  }

 private:
  /// True if the sender waits at least sometimes: it may depend on the fill level of the MPI's buffers, so
  /// other messages precede every attempt. (A single attempt may have lost the processor.)
  bool waits(std::size_t bytes) {
    int votes = 0;
    for (int attempt = 0; attempt < 10 && votes < 2; ++attempt) {
      shift(static_cast<std::size_t>(attempt) * 100 + 1);
      votes += attempt_waits(bytes);
    }
    return votes >= 2;
  }

  void shift(std::size_t bytes) {
    if (pair_ == MPI_COMM_NULL) return;
    const int count = static_cast<int>(std::min(bytes, buffers_.size()));
    if (place_ == 0)
      MPI_Send(buffers_.from(), count, MPI_BYTE, 1, 0, pair_);
    else
      MPI_Recv(buffers_.to(), count, MPI_BYTE, 0, 0, pair_, MPI_STATUS_IGNORE);
  }

  int attempt_waits(std::size_t bytes) {
    int waited = 0, all = 0;
    if (pair_ != MPI_COMM_NULL) {
      MPI_Barrier(pair_);
      MPI_Barrier(pair_);
      if (place_ == 0) {
        const double start = now();
        MPI_Send(buffers_.from(), static_cast<int>(bytes), MPI_BYTE, 1, 0, pair_);
        waited = now() - start > lateness / 2;
      } else {
        // (Asleep: the sender may be on the same core.)
        std::this_thread::sleep_for(std::chrono::duration<double>(lateness));
        MPI_Recv(buffers_.to(), static_cast<int>(bytes), MPI_BYTE, 0, 0, pair_, MPI_STATUS_IGNORE);
      }
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&waited, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    rest(request);
    return all;
  }

  static constexpr double lateness = 4e-3;  // longer than any eager send

  MPI_Comm pair_;
  Buffers& buffers_;
  int place_ = 0;
};

}  // namespace convene::measure
