// SPDX-License-Identifier: BSD-3-Clause
// Time stamps of a few nanoseconds. Ticks are the processor's where it has a steady counter that user code may read,
// else nanoseconds of CLOCK_MONOTONIC (28 ns a reading and more).
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace convene {

inline std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return monotonic_ns();
#endif
}

/// Turns ticks into seconds: remembers both clocks when it is made, and compares when it is asked.
class TickScale {
 public:
  TickScale() : ticks_(ticks()), ns_(monotonic_ns()) {}

  /// Seconds per tick, from the time between this object's making and now (the longer, the better).
  double seconds_per_tick() const {
    const std::uint64_t passed = ticks() - ticks_;
    return passed == 0 ? 0 : static_cast<double>(monotonic_ns() - ns_) * 1e-9 / static_cast<double>(passed);
  }

 private:
  std::uint64_t ticks_, ns_;
};

}  // namespace convene
