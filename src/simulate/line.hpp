// SPDX-License-Identifier: BSD-3-Clause
// Pieces of work that wait for a processor, in the order of a time that each of them has. Most come in that order.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace convene {

/// A step that its processor will come to.
struct Job {
  double time = 0;  ///< ready: when the processor will be done with it; landed: when that was, or will be
  Rank rank = 0;
  StepId step = 0;
  bool buffered = false;  ///< landed: lies in a buffer of the MPI's
};

class Line {
 public:
  bool empty() const { return taken_ == jobs_.size(); }

  /// Behind those of the same time.
  void add(const Job& job) {
    jobs_.push_back(job);
    for (std::size_t i = jobs_.size() - 1; i > taken_ && jobs_[i - 1].time > job.time; --i)
      std::swap(jobs_[i], jobs_[i - 1]);
  }

  /// There must be one.
  Job take_first() {
    const Job first = jobs_[taken_++];
    if (taken_ * 2 >= jobs_.size()) {
      jobs_.erase(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    return first;
  }

 private:
  std::vector<Job> jobs_;
  std::size_t taken_ = 0;
};

}  // namespace convene
