// SPDX-License-Identifier: BSD-3-Clause
// Index of a plan's messages by rank: the generator of one rank's schedule need not search those of all
// others.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/core/slots.hpp"

namespace convene::collective {

/// Keeps the order of the messages. A Message has `from` and `to`.
template <class Message>
class ByRank {
 public:
  ByRank() = default;
  ByRank(Rank procs, std::vector<Message> messages)
      : messages_(std::move(messages)), begin_(std::size_t{procs} + 2) {
    // Counted two places ahead, each rank's number is the position of its next message, and finally its end.
    for (const Message& message : messages_) ++begin_[message.from + 2], ++begin_[message.to + 2];
    for (std::size_t rank = 1; rank < begin_.size(); ++rank) begin_[rank] += begin_[rank - 1];
    numbers_.resize(begin_.back());
    for (std::uint32_t number = 0; number < messages_.size(); ++number) {
      numbers_[begin_[messages_[number].from + 1]++] = number;
      numbers_[begin_[messages_[number].to + 1]++] = number;
    }
  }

  bool empty() const { return messages_.empty(); }

  /// Calls visit(message) for each one that the rank sends or receives, in order.
  template <class Visit>
  void for_each(Rank rank, Visit&& visit) const {
    for (std::size_t i = begin_[rank]; i < begin_[rank + 1]; ++i) visit(messages_[numbers_[i]]);
  }

 private:
  std::vector<Message> messages_;
  std::vector<std::size_t> begin_;      // by rank, into numbers_
  std::vector<std::uint32_t> numbers_;  // message numbers; each is listed at both of its ranks
};

}  // namespace convene::collective
