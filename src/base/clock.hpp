// SPDX-License-Identifier: BSD-3-Clause
// Time stamps that cost a few nanoseconds. Ticks are the processor's time-stamp counter if it is steady and
// readable by user code, else nanoseconds of CLOCK_MONOTONIC (28 ns a reading and more).
#pragma once

#include <time.h>

#include <cstdint>

#include "base/layers.hpp"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace convene::base {

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

/// The same moment on both clocks.
struct TickMoment {
  std::uint64_t ticks = 0, ns = 0;

  /// The current moment. The process may lose its core between the readings of the two clocks; so several
  /// pairs are read and the closest one is used.
  static TickMoment now() {
    constexpr int most = 8;
    TickMoment best;
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i < most; ++i) {
      const std::uint64_t before = convene::base::ticks(), ns = monotonic_ns(),
                          after = convene::base::ticks();
      if (after - before >= least) continue;
      least = after - before;
      best = {before + least / 2, ns};
    }
    return best;
  }
};

/// Converts ticks to nanoseconds of the monotonic clock: a straight line through the moment of construction
/// and the moment of the last refresh. Its precision grows with the distance between them.
class TickLine {
 public:
  TickLine() { refresh(); }
  explicit TickLine(const TickMoment& start) : start_(start) { refresh(); }

  /// Refreshes the line. Call it before converting times long after the last refresh.
  void refresh() {
    const TickMoment now = TickMoment::now();
    constexpr std::uint64_t least_ns = 100'000;  // a shorter interval gives no usable slope
    if (now.ns - start_.ns < least_ns || now.ticks <= start_.ticks) return;
    ns_per_tick_ = static_cast<double>(now.ns - start_.ns) / static_cast<double>(now.ticks - start_.ticks);
    latest_ = now;
  }
  std::int64_t to_ns(std::uint64_t ticks) const {
    const auto passed = static_cast<std::int64_t>(ticks - latest_.ticks);  // negative if `ticks` precede it
    return static_cast<std::int64_t>(latest_.ns) +
           static_cast<std::int64_t>(static_cast<double>(passed) * ns_per_tick_);
  }
  const TickMoment& start() const { return start_; }

 private:
  TickMoment start_ = TickMoment::now(), latest_ = start_;
  double ns_per_tick_ = 1;
};

/// Converts ticks to seconds: reads both clocks at construction, and again at each query.
class TickScale {
 public:
  TickScale() : ticks_(ticks()), ns_(monotonic_ns()) {}

  /// Seconds per tick, from the interval since construction. The longer the interval, the more precise the
  /// result.
  double seconds_per_tick() const {
    const std::uint64_t passed = ticks() - ticks_;
    return passed == 0 ? 0 : static_cast<double>(monotonic_ns() - ns_) * 1e-9 / static_cast<double>(passed);
  }

 private:
  std::uint64_t ticks_, ns_;
};

}  // namespace convene::base
