// SPDX-License-Identifier: BSD-3-Clause
// Sleeping wait: how a rank waits for signals in shared memory where ranks share cores.
//
// Design notes
// - A rank that polls keeps others from the core, perhaps the one that it waits for. So it looks a few times
//   only, then yields a few times, then sleeps (transport/doorbells.hpp).
// - Yields precede sleeps: they cost less than a sleep and a wakeup where they are effective, between
//   ranks of one session. The other ranks of the core then run as long as they have work.
// - Sleeps end after a time that grows: between them the transport progresses.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "execute/stall_detector.hpp"
#include "transport/doorbells.hpp"

namespace convene::execute {

class SleepingWait {
 public:
  /// Call it after every look without a result, before the sleeps: pauses or yields. True if it is time to
  /// sleep.
  bool is_tired() {
    if (looks_ < most_looks) {
      ++looks_;
      relax();
      return false;
    }
    if (yields_ == most_yields) return true;
    ++yields_;
    sched_yield();
    return false;
  }
  /// Of the next sleep.
  std::uint64_t timeout_ns() { return std::exchange(timeout_ns_, std::min(2 * timeout_ns_, longest_ns)); }

 private:
  static constexpr int most_looks = 5, most_yields = 10;
  static constexpr std::uint64_t shortest_ns = 50'000, longest_ns = 1'000'000;

  int looks_ = 0, yields_ = 0;
  std::uint64_t timeout_ns_ = shortest_ns;
};

/// Waits until `holds()`, which is not called again after it was true. `sleep(timeout)` sleeps until that may
/// be so; `progress()` returns an error or MPI_SUCCESS; `warn()` is called once if the wait takes long.
template <class Holds, class Sleep, class Progress, class Warn>
int wait_asleep(Holds&& holds, Sleep&& sleep, Progress&& progress, Warn&& warn) {
  SleepingWait wait;
  LongWait long_wait;
  while (!holds()) {
    if (!wait.is_tired()) continue;
    const Doorbells::Outcome outcome = sleep(wait.timeout_ns());
    if (outcome == Doorbells::Outcome::holds) return MPI_SUCCESS;
    if (outcome == Doorbells::Outcome::rung) continue;
    if (const int code = progress(); code != MPI_SUCCESS) return code;
    if (long_wait.exceeds_threshold()) warn();
  }
  return MPI_SUCCESS;
}

}  // namespace convene::execute
