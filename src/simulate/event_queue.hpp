// SPDX-License-Identifier: BSD-3-Clause
// The queue of what will happen: a radix heap (Ahuja et al. 1990). A simulation never asks for an event before the one
// that it is at, so the queue needs no tree. Times are numbers of hexadecimal digits; an event stands in the bucket of the
// highest digit in which its time differs from now, and of what that digit is, and moves only to lower digits. Events of
// the same moment come out in the order in which they were put in.
#pragma once

#include <algorithm>
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
  bool moment_is_over() const { return next_ == current_.size(); }

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
    return current_[next_++];
  }

 private:
  static constexpr unsigned digit_bits = 4, digits = 64 / digit_bits, values = 1u << digit_bits;
  using Events = std::vector<Event>;

  void place(const Event& event) {
    const std::uint64_t difference = event.time ^ now_;
    if (difference == 0) return current_.push_back(event);
    const auto digit = static_cast<unsigned>(std::bit_width(difference) - 1) / digit_bits;
    const auto value = static_cast<unsigned>(event.time >> (digit * digit_bits)) % values;
    buckets_[digit][value].push_back(event);
    filled_digits_ |= 1u << digit;
    filled_[digit] |= 1u << value;
  }

  /// The bucket whose events come first: of the lowest digit, with the lowest value. It is empty after that.
  Events& take_first_bucket() {
    const auto digit = static_cast<unsigned>(std::countr_zero(filled_digits_));
    const auto value = static_cast<unsigned>(std::countr_zero(filled_[digit]));
    filled_[digit] &= filled_[digit] - 1;
    if (filled_[digit] == 0) filled_digits_ &= filled_digits_ - 1;
    return buckets_[digit][value];
  }

  /// Makes the earliest event's time the current moment.
  void advance() {
    current_.clear();
    next_ = 0;
    moving_.swap(take_first_bucket());
    now_ = std::min_element(moving_.begin(), moving_.end(), [](const Event& a, const Event& b) {
             return a.time < b.time;
           })->time;
    for (const Event& event : moving_) place(event);
    moving_.clear();
  }

  Events current_;  // of this moment
  std::array<std::array<Events, values>, digits> buckets_;
  Events moving_;
  std::uint32_t filled_digits_ = 0;                // bit d: a bucket of digit d holds events
  std::array<std::uint32_t, digits> filled_ = {};  // by digit; bit v: that of value v does
  std::uint64_t now_ = 0;
  std::size_t next_ = 0, left_ = 0;
};

}  // namespace convene
