// SPDX-License-Identifier: BSD-3-Clause
// What a rank has used of its processor: who suffers where cores are few.
#pragma once

#include <sys/resource.h>

#include <array>

namespace convene::bench {

/// Processor seconds, voluntary and involuntary context switches of this process, all its threads together.
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

  /// Adds what lies between two looks.
  void add(const Usage& before, const Usage& after) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += after.values[i] - before.values[i];
  }
};

}  // namespace convene::bench
