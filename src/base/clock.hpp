// SPDX-License-Identifier: BSD-3-Clause
// Time stamps of a few nanoseconds. Ticks are the processor's where it has a steady counter that user code
// may read, else nanoseconds of CLOCK_MONOTONIC (28 ns a reading and more).
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

/// One moment on both clocks.
struct TickMoment {
  std::uint64_t ticks = 0, ns = 0;

  /// Now. Between the readings of the two clocks the process may lose its core: of several pairs the closest
  /// counts.
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

/// Ticks as nanoseconds of the monotonic clock: the straight line through the moment at which it was made and
/// the one at which it was last refreshed, the better the further they are apart.
class TickLine {
 public:
  TickLine() { refresh(); }
  explicit TickLine(const TickMoment& start) : start_(start) { refresh(); }

  /// To be called before times are asked for that lie long after the last refreshing.
  void refresh() {
    const TickMoment now = TickMoment::now();
    constexpr std::uint64_t least_ns = 100'000;  // from less there is nothing to be seen
    if (now.ns - start_.ns < least_ns || now.ticks <= start_.ticks) return;
    ns_per_tick_ = static_cast<double>(now.ns - start_.ns) / static_cast<double>(now.ticks - start_.ticks);
    latest_ = now;
  }
  std::int64_t to_ns(std::uint64_t ticks) const {
    const auto passed = static_cast<std::int64_t>(ticks - latest_.ticks);  // negative where it was before
    return static_cast<std::int64_t>(latest_.ns) +
           static_cast<std::int64_t>(static_cast<double>(passed) * ns_per_tick_);
  }
  const TickMoment& start() const { return start_; }

 private:
  TickMoment start_ = TickMoment::now(), latest_ = start_;
  double ns_per_tick_ = 1;
};

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

}  // namespace convene::base
