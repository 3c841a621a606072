// SPDX-License-Identifier: BSD-3-Clause
// Departures: messages that share a resource equally, in the order of their completion. The resource counts
// the bytes that it has carried for each of its messages (processor sharing in virtual time): a message
// completes when that number has grown by its size, independent of other messages that enter and leave
// meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
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
    if (in_line_ == 0 || at(in_line_ - 1).enough <= departure.enough) {
      if (in_line_ == places_) [[unlikely]]
        grow();
      at(in_line_++) = departure;
    } else {
      heap_.push_back(departure);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  /// Prefetches the first.
  void prefetch() const {
    prefetch_line(line_.get() + first_);
    prefetch_line(heap_.data());
  }

  /// There must be a departure.
  Departure take_first() {
    if (in_line_ == 0 || (!heap_.empty() && heap_.front().enough < at(0).enough)) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const Departure next = heap_.back();
      heap_.pop_back();
      return next;
    }
    const Departure next = at(0);
    first_ = (first_ + 1) & (places_ - 1);
    --in_line_;
    return next;
  }

 private:
  static bool later(const Departure& a, const Departure& b) { return a.enough > b.enough; }

  Departure& at(std::uint32_t place) { return line_[(first_ + place) & (places_ - 1)]; }

  [[gnu::noinline]] void grow() {
    const std::uint32_t places = std::max(4u, 2 * places_);
    auto line = std::make_unique_for_overwrite<Departure[]>(places);
    for (std::uint32_t i = 0; i < in_line_; ++i) line[i] = at(i);
    line_ = std::move(line);
    places_ = places;
    first_ = 0;
  }

  // Messages of one size arrive in the order of their departures, so most are in a line; those that overtake
  // are in a heap.
  std::unique_ptr<Departure[]> line_;  // circular
  std::uint32_t first_ = 0, in_line_ = 0, places_ = 0;
  std::vector<Departure> heap_;
};

/// The messages of a resource. The first is stored here, the others in the resource's later departures.
struct Departures {
  double enough = 0;  ///< with messages: the number of bytes carried for each when the first completes
  FlowId flow = 0;    ///< the first
  std::uint32_t present = 0;

  /// Returns true if the message is the first now.
  bool add(Departure departure, LaterDepartures& later) {
    const bool is_first = present++ == 0 || departure.enough < enough;
    if (is_first) {
      std::swap(enough, departure.enough);
      std::swap(flow, departure.flow);
    }
    if (present > 1) later.add(departure);
    return is_first;
  }

  /// There must be a message.
  FlowId take_first(LaterDepartures& later) {
    const FlowId first = flow;
    if (--present > 0) {
      const Departure next = later.take_first();
      enough = next.enough;
      flow = next.flow;
    }
    return first;
  }
};

}  // namespace convene::simulate
