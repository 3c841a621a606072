// SPDX-License-Identifier: BSD-3-Clause
// Pool: items with reusable numbers, and FIFO queues of them. An item has a member `next`, which belongs to
// the pool while the item is in a queue or removed.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "base/prefetch.hpp"

namespace convene::simulate {

constexpr std::uint32_t none = 0xffffffffu;

/// Items of one pool in the order in which they were appended.
struct FifoQueue {
  std::uint32_t first = none, last = none;

  bool empty() const { return first == none; }
};

template <class Item>
class Pool {
 public:
  explicit Pool(std::uint32_t most) : most_(most) {}

  Item& operator[](std::uint32_t id) { return items_[id]; }
  const Item& operator[](std::uint32_t id) const { return items_[id]; }
  const Item* data() const { return items_.data(); }

  /// Throws Error if the pool is full.
  std::uint32_t add(const Item& item) {
    if (free_ == none) {
      if (items_.size() >= most_)
        throw Error(
            fmt::format("more than {} messages or jobs are pending at a time; use fewer processes", most_));
      items_.push_back(item);
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t id = free_;
    free_ = items_[id].next;
    prefetch_line(items_.data() + free_);  // the next free one
    items_[id] = item;
    return id;
  }

  /// It must not be in a queue.
  void remove(std::uint32_t id) { items_[id].next = std::exchange(free_, id); }

  void push_back(FifoQueue& queue, std::uint32_t id) {
    items_[id].next = none;
    (queue.empty() ? queue.first : items_[queue.last].next) = id;
    queue.last = id;
  }

  void push_front(FifoQueue& queue, std::uint32_t id) {
    items_[id].next = queue.first;
    if (queue.empty()) queue.last = id;
    queue.first = id;
  }

  /// The queue must not be empty.
  std::uint32_t pop_front(FifoQueue& queue) { return std::exchange(queue.first, items_[queue.first].next); }

 private:
  std::uint32_t most_;
  LargeVector<Item> items_;
  std::uint32_t free_ = none;  // the first removed item
};

}  // namespace convene::simulate
