// SPDX-License-Identifier: BSD-3-Clause
// Common part of the broadcasts that serve ranks in the order of arrival: the segments of the vector, and a
// rank that forwards them as they arrive.
#pragma once

#include <algorithm>
#include <vector>

#include "collective/core/algorithm.hpp"

namespace convene::collective {

/// The segments of the vector that a rank has, and the rank to which it forwards them.
class PassingOn {
 public:
  PassingOn(std::uint32_t segments, bool has_all) : has_(segments, has_all) {}

  bool has_all() const { return std::find(has_.begin(), has_.end(), false) == has_.end(); }

  /// Expects all segments from this rank.
  void expect(Rank from, OnlineSteps& steps) const {
    for (Place segment = 0; segment < has_.size(); ++segment)
      steps.recv(from, Range(Buffer::output, segment));
  }

  /// Forwards the segments to a rank: those that are present at once, the others as they arrive.
  void serve(Rank next, OnlineSteps& steps) {
    next_ = next;
    is_passing_ = true;
    passed_ = 0;
    pass_on(steps);
  }

  void come(const Range& slots, OnlineSteps& steps) {
    has_[slots.first] = true;
    if (is_passing_) pass_on(steps);
  }

 private:
  /// In the order of segments, in which they are received.
  void pass_on(OnlineSteps& steps) {
    for (; passed_ < has_.size() && has_[passed_]; ++passed_)
      steps.send(next_, Range(Buffer::output, passed_));
  }

  std::vector<bool> has_;
  Rank next_ = 0;
  bool is_passing_ = false;
  Place passed_ = 0;  // segments sent to the successor
};

/// Each segment is a message; an online algorithm has a limited number of messages.
constexpr Parameter decided_segments_parameter() {
  return {.name = "segments",
          .summary = "number of segments of the vector; each is forwarded as it arrives",
          .fallback = 8,
          .least = 1,
          .most = 128,
          .samples = {1, 4}};
}
static_assert(128 <= most_decided_messages);

}  // namespace convene::collective
