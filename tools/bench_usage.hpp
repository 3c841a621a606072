// SPDX-License-Identifier: BSD-3-Clause
// CPU usage of a rank: shows the effect of too few cores.
#pragma once

#include <sys/resource.h>

#include <array>

namespace convene::bench {

/// CPU seconds, voluntary and involuntary context switches of this process, all threads together.
struct Usage {
  std::array<double, 3> values{};

  static Usage now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return {{seconds(usage.ru_utime) + seconds(usage.ru_stime), static_cast<double>(usage.ru_nvcsw),
             static_cast<double>(usage.ru_nivcsw)}};
  }

  /// Adds the difference between two readings.
  void add(const Usage& before, const Usage& after) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += after.values[i] - before.values[i];
  }
};

}  // namespace convene::bench
