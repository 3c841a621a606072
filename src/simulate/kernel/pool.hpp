// SPDX-License-Identifier: BSD-3-Clause
// Things that come and go, known by numbers that are used again, and lines in which they wait. An item has a member
// `next`, which is the pool's while the item is in a line, or gone.
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

/// Items of one pool, in the order in which they came.
struct Line {
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

  /// Throws Error where there are as many as there may be.
  std::uint32_t add(const Item& item) {
    if (free_ == none) {
      if (items_.size() >= most_)
        throw Error(fmt::format(
            "more than {} messages, or pieces of work, wait at once; take fewer processes", most_));
      items_.push_back(item);
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t id = free_;
    free_ = items_[id].next;
    fetch_soon(items_.data() + free_);  // the next one that is needed
    items_[id] = item;
    return id;
  }

  /// It must not be in a line.
  void remove(std::uint32_t id) { items_[id].next = std::exchange(free_, id); }

  void append(Line& line, std::uint32_t id) {
    items_[id].next = none;
    (line.empty() ? line.first : items_[line.last].next) = id;
    line.last = id;
  }

  void put_first(Line& line, std::uint32_t id) {
    items_[id].next = line.first;
    if (line.empty()) line.last = id;
    line.first = id;
  }

  /// There must be one.
  std::uint32_t take_first(Line& line) { return std::exchange(line.first, items_[line.first].next); }

 private:
  std::uint32_t most_;
  LargeVector<Item> items_;
  std::uint32_t free_ = none;  // the first of those that may be used again
};

}  // namespace convene::simulate
