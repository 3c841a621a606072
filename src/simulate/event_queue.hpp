// SPDX-License-Identifier: BSD-3-Clause
// The queue of what will happen: a radix heap (Ahuja et al. 1990). A simulation never asks for an event before the one
// that it is at, so the queue needs no tree: an event stands in the bucket of the highest bit in which its time differs
// from now, and moves only downwards. Events of the same moment come out in the order in which they were put in.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace convene {

/// The nearest moment of the simulation's clock, whose ticks are 2^-40 s, about a picosecond (coarser from 2,048 s on).
/// On such a grid sums and differences of times are exact: what happens at the same moment by one reckoning does so by
/// every other, and later arrivals shift everything without a change.
inline double on_grid(double seconds) {
  constexpr double magnet = 6144;  // from 4096 to 8192 a double's last place is worth 2^-40
  return seconds + magnet - magnet;
}

/// What happens: a kind and a number whose meaning depends on it, in 32 bits, and a stamp that tells stale events apart.
struct Event {
  std::uint64_t time =
      0;  ///< seconds as an IEEE double's bits: for times from 0 on these have the same order
  std::uint32_t what = 0;
  std::uint32_t stamp = 0;

  double seconds() const { return std::bit_cast<double>(time); }
};

class EventQueue {
 public:
  bool empty() const { return left_ == 0; }

  /// Whether everything of the current moment has been taken.
  bool moment_is_over() const { return next_ == buckets_[0].size(); }

  /// `seconds` must be neither negative nor before the last event that was taken; it is put on the grid.
  void push(double seconds, std::uint32_t what, std::uint32_t stamp = 0) {
    const auto time = std::bit_cast<std::uint64_t>(on_grid(seconds));
    place({time, what, stamp});
    ++left_;
  }

  /// The earliest event. The queue must not be empty.
  Event pop() {
    if (moment_is_over()) advance();
    --left_;
    return buckets_[0][next_++];
  }

 private:
  static constexpr unsigned bits = 64;

  void place(const Event& event) {
    const auto bucket = static_cast<unsigned>(std::bit_width(event.time ^ now_));
    buckets_[bucket].push_back(event);
    if (bucket > 0) filled_ |= std::uint64_t{1} << (bucket - 1);
  }

  /// Makes the earliest event's time the current moment.
  void advance() {
    buckets_[0].clear();
    next_ = 0;
    const auto lowest = static_cast<unsigned>(std::countr_zero(filled_));
    filled_ &= filled_ - 1;
    moving_.swap(buckets_[lowest + 1]);
    std::uint64_t earliest = moving_.front().time;
    for (const Event& event : moving_) earliest = event.time < earliest ? event.time : earliest;
    now_ = earliest;
    for (const Event& event : moving_) place(event);
    moving_.clear();
  }

  std::array<std::vector<Event>, bits + 1> buckets_;
  std::vector<Event> moving_;
  std::uint64_t filled_ = 0;  // bit b: bucket b + 1 holds events
  std::uint64_t now_ = 0;
  std::size_t next_ = 0, left_ = 0;
};

}  // namespace convene
