// SPDX-License-Identifier: BSD-3-Clause
// Common time of all ranks of a measurement, by clock/common_clock.hpp.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "clock/common_clock.hpp"

namespace convene::bench {

using Time = Nanoseconds;

inline Time now() { return own_time(); }

/// This rank's clock relative to rank 0's.
class Clock {
 public:
  /// Collective.
  Clock() {
    MPI_Comm_size(MPI_COMM_WORLD, &procs_);
    if (!CommonClock::has_mpi() || clock_.find_groups(MPI_COMM_WORLD, await) != MPI_SUCCESS)
      throw std::runtime_error("the clocks of the ranks could not be compared");
    find_neighbours();
    update();
  }

  /// True if there are more ranks than cores on this host.
  bool is_crowded() const { return is_crowded_; }

  Time to_common(Time local) const { return clock_.to_common(local); }
  Time to_local(Time common) const { return clock_.to_own(common); }

  /// Estimates offset and drift again. Collective.
  void update() { clock_.update(MPI_COMM_WORLD, tag, await); }

  /// Lists by rank: `offset` and `error` in seconds, `drift`, `shared`. Filled at rank 0; zeros on the other
  /// ranks. Collective.
  nlohmann::json describe() const {
    const Time at = now();
    double mine[4] = {static_cast<double>(clock_.offset_at(at)) * 1e-9,
                      static_cast<double>(clock_.error_at(at)) * 1e-9, clock_.drift(),
                      clock_.is_common_here() ? 1.0 : 0.0};
    std::vector<double> all(4 * static_cast<std::size_t>(procs_));
    MPI_Gather(mine, 4, MPI_DOUBLE, all.data(), 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    nlohmann::json found = {{"offset", nlohmann::json::array()},
                            {"error", nlohmann::json::array()},
                            {"drift", nlohmann::json::array()},
                            {"shared", nlohmann::json::array()}};
    for (std::size_t at_rank = 0; at_rank < all.size(); at_rank += 4) {
      found["offset"].push_back(all[at_rank]);
      found["error"].push_back(all[at_rank + 1]);
      found["drift"].push_back(all[at_rank + 2]);
      found["shared"].push_back(all[at_rank + 3] != 0);
    }
    return found;
  }

 private:
  static int await(MPI_Request* request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }

  void find_neighbours() {
    char mine[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0, neighbours = 0;
    MPI_Get_processor_name(mine, &length);
    std::vector<char> names(sizeof mine * static_cast<std::size_t>(procs_));
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, names.data(), sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    for (int rank = 0; rank < procs_; ++rank)
      neighbours += std::strcmp(&names[static_cast<std::size_t>(rank) * sizeof mine], mine) == 0;
    is_crowded_ = neighbours > sysconf(_SC_NPROCESSORS_ONLN);
  }

  static constexpr int tag = 77;
  int procs_ = 1;
  bool is_crowded_ = false;
  CommonClock clock_;
};

/// Waits actively until a local time: sleeping would overshoot by more than a short delay. If ranks share
/// cores, it yields, and sleeps through long delays.
inline void wait_until(Time moment, bool gives_way) {
  constexpr Time short_enough = 500'000;
  for (Time left = moment - now(); left > 0; left = moment - now()) {
    if (!gives_way) continue;
    if (left > 2 * short_enough) {
      const Time sleep = left - short_enough;
      const timespec wanted{static_cast<time_t>(sleep / 1'000'000'000),
                            static_cast<long>(sleep % 1'000'000'000)};
      nanosleep(&wanted, nullptr);
    } else {
      sched_yield();
    }
  }
}

}  // namespace convene::bench
