// SPDX-License-Identifier: BSD-3-Clause
// Departures: messages that share a resource equally, in the order of their completion. The resource counts
// the bytes that it has carried for each of its messages (processor sharing in virtual time): a message
// completes when that number has grown by its size, independent of other messages that enter and leave
// meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/prefetch.hpp"

namespace convene::simulate {

using FlowId = std::uint32_t;

struct Departure {
  double enough = 0;  ///< the number of bytes carried for each message when this one completes
  FlowId flow = 0;
};

/// All departures except the first.
class LaterDepartures {
 public:
  void add(const Departure& departure) {
    if (line_.empty() || line_.back().enough <= departure.enough) {
      line_.push_back(departure);
    } else {
      heap_.push_back(departure);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  /// Prefetches the first.
  void prefetch() const {
    prefetch_line(line_.data() + taken_);
    prefetch_line(heap_.data());
  }

  /// There must be a departure.
  Departure take_first() {
    if (line_.empty() || (!heap_.empty() && heap_.front().enough < line_[taken_].enough)) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Departure next = heap_.back();
      heap_.pop_back();
      return next;
    }
    const Departure next = line_[taken_++];
    if (taken_ * 2 >= line_.size()) {
      line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    return next;
  }

 private:
  static bool later(const Departure& a, const Departure& b) { return a.enough > b.enough; }

  // Messages of one size arrive in the order of their departures, so most are in a line; those that overtake
  // are in a heap.
  std::vector<Departure> line_, heap_;
  std::size_t taken_ = 0;  // of the line, from its beginning
};

class Departures {
 public:
  std::uint32_t present() const { return present_; }
  bool empty() const { return present_ == 0; }

  /// The number of bytes carried for each message when the first completes. There must be a message.
  double first() const { return head_.enough; }

  FlowId take_first() {
    const FlowId flow = head_.flow;
    if (--present_ > 0) head_ = later_.take_first();
    return flow;
  }

  /// Returns true if the message is the first now.
  bool add(double enough, FlowId flow) {
    Departure departure{enough, flow};
    const bool is_first = present_++ == 0 || enough < head_.enough;
    if (is_first) std::swap(head_, departure);
    if (present_ > 1) later_.add(departure);
    return is_first;
  }

 private:
  std::uint32_t present_ = 0;
  Departure head_;
  LaterDepartures later_;
};

}  // namespace convene::simulate
