// SPDX-License-Identifier: BSD-3-Clause
// Step sets: a priority queue of step ids with membership, as a bit tree.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// One bit a step; above each word of 64 one bit that is set if any of them is, and so on up to a single
/// word. Each operation reads one word a level: two for 4,096 steps.
class StepSet {
 public:
  explicit StepSet(std::uint32_t steps) {
    std::uint32_t words = steps / 64 + 1, total = words;
    for (levels_ = 1; words > 1; ++levels_) {
      begin_[levels_] = total;
      words = (words + 63) / 64;
      total += words;
    }
    words_.resize(total, 0);
  }

  bool empty() const { return words_.back() == 0; }
  std::size_t size() const { return size_; }

  /// The earliest step. The set must not be empty.
  StepId first() const {
    StepId at = 0;
    for (unsigned level = levels_; level-- > 0;)
      at = at * 64 + static_cast<StepId>(std::countr_zero(words_[begin_[level] + at]));
    return at;
  }

  /// Adds a step that is not in the set.
  void insert(StepId id) {
    ++size_;
    for (unsigned level = 0; level < levels_; ++level) {
      std::uint64_t& word = words_[begin_[level] + id / 64];
      const bool was_empty = word == 0;
      word |= bit(id);
      if (!was_empty) return;
      id /= 64;
    }
  }

  /// Removes a step that is in the set.
  void erase(StepId id) {
    --size_;
    for (unsigned level = 0; level < levels_; ++level) {
      std::uint64_t& word = words_[begin_[level] + id / 64];
      word &= ~bit(id);
      if (word != 0) return;
      id /= 64;
    }
  }

  bool contains(StepId id) const { return (words_[id / 64] & bit(id)) != 0; }

 private:
  static constexpr std::uint64_t bit(StepId id) { return std::uint64_t{1} << id % 64; }

  std::vector<std::uint64_t> words_;      // of level 0, one bit a step, then of level 1, …
  std::array<std::uint32_t, 6> begin_{};  // by level; six levels hold all possible steps
  unsigned levels_ = 0;
  std::size_t size_ = 0;
};

}  // namespace convene::schedule
