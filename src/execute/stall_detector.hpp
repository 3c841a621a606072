// SPDX-License-Identifier: BSD-3-Clause
// Stall detection: a rank that waits longer than a threshold reports the ranks that it waits for, and
// continues to wait.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.hpp"
#include "mpi/functions.hpp"

namespace convene::execute {

/// Action on long waits: set before the first run, the same for the whole process.
struct WaitWarning {
  std::uint64_t after_ns = 0;  ///< 0: no warnings, and waiting is left to the MPI
  /// Called once in a wait that exceeds the threshold: messages from or to these ranks of `comm` are not
  /// complete. With `is_started`, the collective's call has returned or runs in the background; otherwise the
  /// wait is within that call.
  void (*report)(MPI_Comm comm, const int* peers, std::size_t count, bool is_started) = nullptr;

  bool is_on() const { return after_ns != 0; }
};
inline WaitWarning wait_warning;

/// True in threads that progress runs while the program may be doing other work.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit bool is_in_background = false;

/// Pauses for the core's other hardware thread.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Detects that a wait exceeds the threshold.
class LongWait {
 public:
  /// Returns true once, after the threshold. The wait begins with the first call.
  bool exceeds_threshold() {
    if (!wait_warning.is_on()) return false;
    const std::uint64_t now = monotonic_ns();
    if (start_ == 0) start_ = now;
    if (has_warned_ || now - start_ < wait_warning.after_ns) return false;
    return has_warned_ = true;
  }

 private:
  std::uint64_t start_ = 0;
  bool has_warned_ = false;
};

/// A polling wait: yields to other processes, and detects that it exceeds the threshold.
class PolledWait {
 public:
  /// Call it after every poll without a result. Returns true once, when the wait exceeds the threshold.
  bool has_become_long() {
    relax();
    constexpr int looks_between = 100;
    if (++looks_ % looks_between != 0) return false;
    sched_yield();
    return long_.exceeds_threshold();
  }

 private:
  std::uint64_t looks_ = 0;
  LongWait long_;
};

/// A run that is advanced at intervals: detects that nothing has progressed for long while its program waited
/// all the time.
class StallDetector {
 public:
  /// Call it after every poll; `moved` grows with every completion. Returns true once, when the wait exceeds
  /// the threshold.
  bool has_become_long(std::uint64_t moved) {
    constexpr int looks_between = 100;
    constexpr std::uint64_t elsewhere_ns = 1'000'000'000;  // a program that polls less often is not waiting
    if (is_in_background || has_warned_ || ++looks_ % looks_between != 0) return false;
    const std::uint64_t now = monotonic_ns(), looked = std::exchange(looked_, now);
    if (std::exchange(moved_, moved) != moved || now - looked > elsewhere_ns) since_ = now;
    return has_warned_ = now - since_ >= wait_warning.after_ns;
  }

 private:
  std::uint64_t looks_ = 0, moved_ = 0, looked_ = 0, since_ = 0;
  bool has_warned_ = false;
};

}  // namespace convene::execute
