// SPDX-License-Identifier: BSD-3-Clause
// Event queue: a monotone priority queue of timed events, a radix heap (Ahuja et al. 1990) whose lowest
// levels are a sorted list. An event is never earlier than the last one taken, so no tree is needed. Times
// are numbers of hexadecimal digits. An event outside the list is in the bucket of the highest digit in which
// its time differs from a base time, and of the value of that digit. When the list runs out, the first bucket
// is taken: small buckets are sorted into the list, a large one is distributed to lower digits. Events of
// equal times are taken in the order in which they were added. The simulator and the LogP family's evaluation
// share this queue.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/layers.hpp"

namespace convene::base {

/// An event: a time, a number whose meaning is the user's, and a stamp for recognizing stale events.
struct TimedEvent {
  std::uint64_t time =
      0;  ///< seconds as an IEEE double's bits, which order times from 0 on as the doubles do
  std::uint32_t what = 0;
  std::uint32_t stamp = 0;

  double seconds() const { return std::bit_cast<double>(time); }
};

/// A vector of events whose push_back() is a few instructions.
class EventList {
 public:
  TimedEvent* data() { return data_.get(); }
  const TimedEvent* data() const { return data_.get(); }
  TimedEvent& operator[](std::size_t i) { return data_[i]; }
  const TimedEvent& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  TimedEvent* begin() { return data_.get(); }
  TimedEvent* end() { return data_.get() + size_; }

  void push_back(TimedEvent event) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    data_[size_++] = event;
  }
  /// Keeps the first `size` events.
  void shrink(std::size_t size) { size_ = static_cast<std::uint32_t>(size); }
  /// Removes the first `events` events.
  void drop(std::size_t events) {
    if (events == 0) return;
    shrink(static_cast<std::size_t>(std::copy(begin() + events, end(), begin()) - begin()));
  }
  void clear() { size_ = 0; }
  void swap(EventList& other) noexcept { std::swap(*this, other); }

 private:
  [[gnu::noinline]] void grow() {
    const std::uint32_t capacity = std::max(16u, 2 * capacity_);
    auto data = std::make_unique_for_overwrite<TimedEvent[]>(capacity);
    std::copy_n(data_.get(), size_, data.get());
    data_ = std::move(data);
    capacity_ = capacity;
  }

  std::unique_ptr<TimedEvent[]> data_;
  std::uint32_t size_ = 0, capacity_ = 0;
};

class EventQueue {
 public:
  bool empty() const { return next_ == near_.size() && filled_digits_ == 0; }

  /// Every event of the current time has been taken.
  bool moment_is_over() const { return next_ == near_.size() || near_[next_].time != now_; }

  /// `seconds` must be from 0 on, and not before the last event that was taken.
  void push(double seconds, std::uint32_t what, std::uint32_t stamp = 0) {
    place({std::bit_cast<std::uint64_t>(seconds), what, stamp});
  }

  /// Keeps at least this many of the next events sorted, if that is cheap. Serves ahead().
  void look_ahead(std::size_t events) { known_ = events; }

  /// The earliest event. The queue must not be empty.
  TimedEvent pop() {
    if (next_ + known_ >= near_.size() && filled_digits_ != 0) advance();
    now_ = near_[next_].time;
    return near_[next_++];
  }

  /// The event `events` places after the next one; nullptr if it is not sorted yet.
  const TimedEvent* ahead(std::size_t events) const {
    return next_ + events < near_.size() ? near_.data() + next_ + events : nullptr;
  }

 private:
  static constexpr unsigned digit_bits = 4, digits = 64 / digit_bits, values = 1u << digit_bits;
  static constexpr std::size_t most_sorted = 64, most_near = 128, enough = 32, most_taken = 1024;

  void place(TimedEvent event) {
    if (event.time < near_end_) return place_near(event);
    const auto digit = static_cast<unsigned>(std::bit_width(event.time ^ base_) - 1) / digit_bits;
    const auto value = static_cast<unsigned>(event.time >> (digit * digit_bits)) % values;
    buckets_[digit][value].push_back(event);
    filled_digits_ |= 1u << digit;
    filled_[digit] |= 1u << value;
  }

  [[gnu::noinline]] void place_near(TimedEvent event) {
    if (next_ == near_.size() || (next_ > most_taken && next_ > near_.size() / 2)) {
      near_.drop(next_);
      next_ = 0;
    }
    if (near_.size() == 0 || near_[near_.size() - 1].time <= event.time) return near_.push_back(event);
    if (near_.size() - next_ > most_near && near_end_ > now_ + 1) {
      spread_near();
      return place(event);
    }
    insert_near(near_.size(), event);
  }

  /// Inserts an event before the later ones among the first `end` of the list.
  void insert_near(std::size_t end, TimedEvent event) {
    if (end == near_.size()) near_.push_back(event);
    TimedEvent* place = near_.data() + next_;
    for (std::size_t left = end - next_; left > 0;) {  // a branch-free binary search
      const std::size_t half = left - left / 2;
      place += place[half - 1].time <= event.time ? half : 0;
      left /= 2;
    }
    std::copy_backward(place, near_.data() + end, near_.data() + end + 1);
    *place = event;
  }

  /// Moves the base time of the buckets back to `now_`. Afterwards all events that are nearer to `base_` than
  /// `now_` is share one bucket.
  void lift_buckets() {
    const auto digit = static_cast<unsigned>(std::bit_width(base_ ^ now_) - 1) / digit_bits;
    const auto value = static_cast<unsigned>(base_ >> (digit * digit_bits)) % values;
    while (filled_digits_ != 0) {
      const auto low = static_cast<unsigned>(std::countr_zero(filled_digits_));
      if (low >= digit) return;
      for (; filled_[low] != 0; filled_[low] &= filled_[low] - 1) {
        EventList& bucket = buckets_[low][static_cast<unsigned>(std::countr_zero(filled_[low]))];
        for (const TimedEvent& event : bucket) buckets_[digit][value].push_back(event);
        bucket.clear();
        filled_[digit] |= 1u << value;
        filled_digits_ |= 1u << digit;
      }
      filled_digits_ &= ~(1u << low);
    }
  }

  /// Returns all but the current time's events from the list to the buckets.
  [[gnu::noinline]] void spread_near() {
    if (base_ > now_) lift_buckets();
    base_ = now_;
    near_end_ = now_ + 1;
    TimedEvent* const later = std::find_if(near_.begin() + next_, near_.end(),
                                           [this](const TimedEvent& event) { return event.time != now_; });
    for (const TimedEvent& event : std::span(later, near_.end())) moving_.push_back(event);
    near_.shrink(static_cast<std::size_t>(later - near_.begin()));
    for (const TimedEvent& event : moving_) place(event);
    moving_.clear();
  }

  /// Moves the first buckets (lowest digit, lowest value) into the list: small ones until it is long enough,
  /// or one large bucket if the list is empty.
  [[gnu::noinline]] void advance() {
    near_.drop(next_);
    next_ = 0;
    do {
      const auto digit = static_cast<unsigned>(std::countr_zero(filled_digits_));
      const auto value = static_cast<unsigned>(std::countr_zero(filled_[digit]));
      EventList& bucket = buckets_[digit][value];
      const bool is_small = bucket.size() <= most_sorted;
      if (!is_small && near_.size() > 0) return;
      filled_[digit] &= filled_[digit] - 1;
      if (filled_[digit] == 0) filled_digits_ &= filled_digits_ - 1;
      if (!is_small) return distribute(bucket);
      const std::size_t sorted = near_.size();
      for (const TimedEvent& event : bucket) near_.push_back(event);
      bucket.clear();
      sort_near(sorted);
      base_ = near_[sorted].time;
      near_end_ = end_of_bucket(digit, base_);
    } while (near_.size() < enough && filled_digits_ != 0);
  }

  /// Distributes a large bucket: its earliest events become the list, later ones move to lower digits.
  void distribute(EventList& bucket) {
    moving_.swap(bucket);
    base_ = std::min_element(moving_.begin(), moving_.end(), [](const TimedEvent& a, const TimedEvent& b) {
              return a.time < b.time;
            })->time;
    near_end_ = base_ + 1;
    for (const TimedEvent& event : moving_) place(event);
    moving_.clear();
  }

  /// The first time beyond the bucket that holds `time`.
  static std::uint64_t end_of_bucket(unsigned digit, std::uint64_t time) {
    const unsigned bits = digit * digit_bits;
    return ((time >> bits) + 1) << bits;
  }

  /// Sorts the events of the list from `from` on; earlier entries precede all of them.
  void sort_near(std::size_t from) {
    for (std::size_t i = from + 1; i < near_.size(); ++i)
      if (const TimedEvent event = near_[i]; event.time < near_[i - 1].time) insert_near(i, event);
  }

  EventList near_;        // the sorted list: all events before `near_end_`
  std::size_t next_ = 0;  // the first of the list that has not been taken
  std::uint64_t near_end_ = 1;
  std::uint64_t base_ = 0;  // the base time of the buckets
  std::array<std::array<EventList, values>, digits> buckets_;
  EventList moving_;
  std::uint32_t filled_digits_ = 0;                // bit d: some bucket of digit d holds events
  std::array<std::uint32_t, digits> filled_ = {};  // by digit; bit v: the bucket of value v holds events
  std::uint64_t now_ = 0;                          // the time of the last event that was taken
  std::size_t known_ = 0;
};

}  // namespace convene::base
