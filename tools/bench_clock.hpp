// SPDX-License-Identifier: BSD-3-Clause
// Time as all ranks see it: the monotonic clock of each, and how far it is from rank 0's.
//
// Ranks on one host read the same clock. For the others offsets are estimated from round trips: the shortest one is the
// least disturbed, and half of it is the error. From two estimates follows the drift between them.
#pragma once

#include <mpi.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

namespace convene::bench {

using Time = std::int64_t;  // nanoseconds

inline Time now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return Time{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// This rank's clock against rank 0's.
class Clock {
 public:
  /// Collective.
  Clock() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &procs_);
    char first[MPI_MAX_PROCESSOR_NAME] = {}, mine[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(mine, &length);
    std::memcpy(first, mine, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    is_shared_ = std::strcmp(first, mine) == 0;
    std::vector<char> names(sizeof mine * static_cast<std::size_t>(procs_));
    MPI_Allgather(mine, sizeof mine, MPI_CHAR, names.data(), sizeof mine, MPI_CHAR, MPI_COMM_WORLD);
    for (int rank = 0; rank < procs_; ++rank)
      neighbours_ += std::strcmp(&names[static_cast<std::size_t>(rank) * sizeof mine], mine) == 0;
    is_crowded_ = neighbours_ > sysconf(_SC_NPROCESSORS_ONLN);
    update();
  }

  /// Whether more ranks than cores are on this host.
  bool is_crowded() const { return is_crowded_; }

  Time to_common(Time local) const { return is_shared_ ? local : local - offset_at(local); }
  Time to_local(Time common) const { return is_shared_ ? common : common + offset_at(common + offset_); }

  /// Estimates offset and drift again. Collective.
  void update() {
    const Estimate next = estimate();
    if (rank_ == 0) return;
    // Between estimates that are close in time, errors would be taken for a drift.
    if (at_ != 0 && next.at - at_ > 1'000'000'000)
      drift_ = static_cast<double>(next.offset - offset_) / static_cast<double>(next.at - at_);
    if (at_ == 0 || next.at - at_ > 1'000'000'000 || next.error < error_) {
      offset_ = next.offset;
      error_ = next.error;
      at_ = next.at;
    }
  }

  /// By rank, at rank 0; times in seconds. Collective.
  nlohmann::json describe() const {
    double mine[4] = {static_cast<double>(offset_) * 1e-9, static_cast<double>(error_) * 1e-9, drift_,
                      is_shared_ ? 1.0 : 0.0};
    std::vector<double> all(4 * static_cast<std::size_t>(procs_));
    MPI_Gather(mine, 4, MPI_DOUBLE, all.data(), 4, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    nlohmann::json found = {{"offset", nlohmann::json::array()},
                            {"error", nlohmann::json::array()},
                            {"drift", nlohmann::json::array()},
                            {"shared", nlohmann::json::array()}};
    for (std::size_t at = 0; at < all.size(); at += 4) {
      found["offset"].push_back(all[at]);
      found["error"].push_back(all[at + 1]);
      found["drift"].push_back(all[at + 2]);
      found["shared"].push_back(all[at + 3] != 0);
    }
    return found;
  }

 private:
  struct Estimate {
    Time at = 0, offset = 0, error = 0;
  };
  static constexpr int round_trips = 30;

  Time offset_at(Time local) const {
    return offset_ + static_cast<Time>(drift_ * static_cast<double>(local - at_));
  }

  /// Every rank in turn with rank 0: it asks, rank 0 answers with its time.
  Estimate estimate() const {
    Estimate best;
    for (int rank = 1; rank < procs_; ++rank) {
      for (int trip = 0; trip < round_trips && rank_ == 0; ++trip) answer(rank);
      for (int trip = 0; trip < round_trips && rank_ == rank; ++trip) {
        const Time before = now();
        Time there = 0;
        MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(&there, 1, MPI_INT64_T, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        const Time after = now();
        const Time error = (after - before) / 2;
        if (trip == 0 || error < best.error) best = {after, before + error - there, error};
      }
    }
    return best;
  }

  static void answer(int rank) {
    MPI_Recv(nullptr, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const Time here = now();
    MPI_Send(&here, 1, MPI_INT64_T, rank, tag, MPI_COMM_WORLD);
  }

  static constexpr int tag = 77;
  int rank_ = 0, procs_ = 1, neighbours_ = 0;
  bool is_shared_ = true, is_crowded_ = false;
  Time offset_ = 0, error_ = 0, at_ = 0;  // offset: this clock minus rank 0's, at local time at_
  double drift_ = 0;
};

/// Waits actively until a local time: sleeping would overshoot by more than a short delay. Where ranks share cores, it
/// gives way to the others, and sleeps through what is long enough.
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
