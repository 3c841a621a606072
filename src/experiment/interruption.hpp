// SPDX-License-Identifier: BSD-3-Clause
// Interruption of all simulations of a process: running ones in other threads, and future ones.
#pragma once

#include <mutex>
#include <stop_token>

#include "experiment/experiment_names.hpp"

namespace convene::experiment {

/// Any thread may call it.
class Interruption {
 public:
  static std::stop_token token() {
    const std::scoped_lock lock(mutex);
    return source.get_token();
  }
  /// Requests the stop, or revokes it for future simulations.
  static void set(bool stop) {
    const std::scoped_lock lock(mutex);
    if (stop)
      source.request_stop();
    else if (source.stop_requested())
      source = std::stop_source();
  }

 private:
  static inline std::mutex mutex;
  static inline std::stop_source source;
};

}  // namespace convene::experiment
