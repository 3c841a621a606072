// SPDX-License-Identifier: BSD-3-Clause
// The queue of what will happen: a radix heap (Ahuja et al. 1990) whose last levels are a sorted list. A simulation never
// asks for an event before the one that it is at, so the queue needs no tree. Times are numbers of hexadecimal digits; an
// event stands in the bucket of the highest digit in which its time differs from a moment that is not over, and of what
// that digit is. The first bucket, once it is needed, is sorted if it is small, and so are small ones that come next; else
// its events move to lower digits, and those of its earliest moment are the list. Events of the same moment come out in the
// order in which they were put in.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/layers.hpp"

namespace convene::simulate {

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

/// As a vector of events; but adding one is a handful of instructions, as there is so little else to do with an event.
class Events {
 public:
  Event* data() { return data_.get(); }
  const Event* data() const { return data_.get(); }
  Event& operator[](std::size_t i) { return data_[i]; }
  const Event& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  Event* begin() { return data_.get(); }
  Event* end() { return data_.get() + size_; }

  void push_back(Event event) {
    if (size_ == room_) [[unlikely]]
      grow();
    data_[size_++] = event;
  }
  /// Leaves out all but the first ones.
  void shrink(std::size_t size) { size_ = static_cast<std::uint32_t>(size); }
  /// Leaves out the first ones.
  void drop(std::size_t events) {
    if (events == 0) return;
    shrink(static_cast<std::size_t>(std::copy(begin() + events, end(), begin()) - begin()));
  }
  void clear() { size_ = 0; }
  void swap(Events& other) { std::swap(*this, other); }

 private:
  [[gnu::noinline]] void grow() {
    const std::uint32_t room = std::max(16u, 2 * room_);
    auto data = std::make_unique_for_overwrite<Event[]>(room);
    std::copy_n(data_.get(), size_, data.get());
    data_ = std::move(data);
    room_ = room;
  }

  std::unique_ptr<Event[]> data_;
  std::uint32_t size_ = 0, room_ = 0;
};

class EventQueue {
 public:
  bool empty() const { return next_ == near_.size() && filled_digits_ == 0; }

  /// Whether everything of the current moment has been taken.
  bool moment_is_over() const { return next_ == near_.size() || near_[next_].time != now_; }

  /// `seconds` must be neither negative nor before the last event that was taken; it is put on the grid.
  void push(double seconds, std::uint32_t what, std::uint32_t stamp = 0) {
    place({std::bit_cast<std::uint64_t>(on_grid(seconds)), what, stamp});
  }

  /// The order of so many events should be known ahead, if that is cheap.
  void look_ahead(std::size_t events) { known_ = events; }

  /// The earliest event. The queue must not be empty.
  Event pop() {
    if (next_ + known_ >= near_.size() && filled_digits_ != 0) advance();
    now_ = near_[next_].time;
    return near_[next_++];
  }

  /// The event that comes so many after the next one, as far as that is known already; nullptr where it is not.
  const Event* ahead(std::size_t events) const {
    return next_ + events < near_.size() ? near_.data() + next_ + events : nullptr;
  }

 private:
  static constexpr unsigned digit_bits = 4, digits = 64 / digit_bits, values = 1u << digit_bits;
  static constexpr std::size_t most_sorted = 64, most_near = 128, enough = 32, most_taken = 1024;

  void place(Event event) {
    if (event.time < near_end_) return place_near(event);
    const auto digit = static_cast<unsigned>(std::bit_width(event.time ^ base_) - 1) / digit_bits;
    const auto value = static_cast<unsigned>(event.time >> (digit * digit_bits)) % values;
    buckets_[digit][value].push_back(event);
    filled_digits_ |= 1u << digit;
    filled_[digit] |= 1u << value;
  }

  [[gnu::noinline]] void place_near(Event event) {
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

  /// Puts an event before those of the first `end` in the list that come later.
  void insert_near(std::size_t end, Event event) {
    if (end == near_.size()) near_.push_back(event);
    Event* place = near_.data() + next_;
    for (std::size_t left = end - next_; left > 0;) {  // a search that has nothing to guess
      const std::size_t half = left - left / 2;
      place += place[half - 1].time <= event.time ? half : 0;
      left /= 2;
    }
    std::copy_backward(place, near_.data() + end, near_.data() + end + 1);
    *place = event;
  }

  /// The buckets count from `now_` again: what is nearer to `base_` than the two are to each other goes into one bucket.
  void lift_buckets() {
    const auto digit = static_cast<unsigned>(std::bit_width(base_ ^ now_) - 1) / digit_bits;
    const auto value = static_cast<unsigned>(base_ >> (digit * digit_bits)) % values;
    while (filled_digits_ != 0) {
      const auto low = static_cast<unsigned>(std::countr_zero(filled_digits_));
      if (low >= digit) return;
      for (; filled_[low] != 0; filled_[low] &= filled_[low] - 1) {
        Events& bucket = buckets_[low][static_cast<unsigned>(std::countr_zero(filled_[low]))];
        for (const Event& event : bucket) buckets_[digit][value].push_back(event);
        bucket.clear();
        filled_[digit] |= 1u << value;
        filled_digits_ |= 1u << digit;
      }
      filled_digits_ &= ~(1u << low);
    }
  }

  /// Only the current moment's events remain in the list.
  [[gnu::noinline]] void spread_near() {
    if (base_ > now_) lift_buckets();
    base_ = now_;
    near_end_ = now_ + 1;
    Event* const later = std::find_if(near_.begin() + next_, near_.end(),
                                      [this](const Event& event) { return event.time != now_; });
    for (const Event& event : std::span(later, near_.end())) moving_.push_back(event);
    near_.shrink(static_cast<std::size_t>(later - near_.begin()));
    for (const Event& event : moving_) place(event);
    moving_.clear();
  }

  /// Takes the buckets whose events come first, of the lowest digit with the lowest value, into the list: small ones until it
  /// is long enough, or a large one where it is empty.
  [[gnu::noinline]] void advance() {
    near_.drop(next_);
    next_ = 0;
    do {
      const auto digit = static_cast<unsigned>(std::countr_zero(filled_digits_));
      const auto value = static_cast<unsigned>(std::countr_zero(filled_[digit]));
      Events& bucket = buckets_[digit][value];
      const bool is_small = bucket.size() <= most_sorted;
      if (!is_small && near_.size() > 0) return;
      filled_[digit] &= filled_[digit] - 1;
      if (filled_[digit] == 0) filled_digits_ &= filled_digits_ - 1;
      if (!is_small) return take_apart(bucket);
      const std::size_t sorted = near_.size();
      for (const Event& event : bucket) near_.push_back(event);
      bucket.clear();
      sort_near(sorted);
      base_ = near_[sorted].time;
      near_end_ = end_of_bucket(digit, base_);
    } while (near_.size() < enough && filled_digits_ != 0);
  }

  /// The bucket's earliest moment is the list, and what comes later moves to lower digits.
  void take_apart(Events& bucket) {
    moving_.swap(bucket);
    base_ = std::min_element(moving_.begin(), moving_.end(), [](const Event& a, const Event& b) {
              return a.time < b.time;
            })->time;
    near_end_ = base_ + 1;
    for (const Event& event : moving_) place(event);
    moving_.clear();
  }

  /// The first time that is too late for the bucket of this one.
  static std::uint64_t end_of_bucket(unsigned digit, std::uint64_t time) {
    const unsigned bits = digit * digit_bits;
    return ((time >> bits) + 1) << bits;
  }

  /// The list's events from `from` on are put in order; those before come before all of them.
  void sort_near(std::size_t from) {
    for (std::size_t i = from + 1; i < near_.size(); ++i)
      if (const Event event = near_[i]; event.time < near_[i - 1].time) insert_near(i, event);
  }

  Events near_;           // what comes next, in order: all before `near_end_`
  std::size_t next_ = 0;  // of that list, the first that has not been taken
  std::uint64_t near_end_ = 1;
  std::uint64_t base_ = 0;  // a moment of that list, from which on the buckets count
  std::array<std::array<Events, values>, digits> buckets_;
  Events moving_;
  std::uint32_t filled_digits_ = 0;                // bit d: a bucket of digit d holds events
  std::array<std::uint32_t, digits> filled_ = {};  // by digit; bit v: that of value v does
  std::uint64_t now_ = 0;                          // of the last event that was taken
  std::size_t known_ = 0;
};

}  // namespace convene::simulate
