// SPDX-License-Identifier: BSD-3-Clause
// Schedule cache: bounded, the least recently used schedules are evicted first. One cache per process, shared
// by all communicators of equal shape.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "collective/core/algorithm.hpp"
#include "schedule/core/order.hpp"

namespace convene::runtime {

/// A schedule with the executor's additional data. Constant; shared ownership.
struct Prepared {
  Schedule schedule;
  std::unique_ptr<const OnlineAlgorithm> online;  ///< if set, the schedule has no steps
  Order order;                                    ///< empty if the schedule runs dynamically
  std::uint32_t segments = 1;
  std::vector<Rank> block_in_place;  ///< by shared place; empty: any block
  std::size_t head = 0;              ///< bytes of a block's first place, of two; 0: places are of equal size
  bool is_dynamic = false;
  bool relays = false;  ///< see Algorithm
  bool signals_can_carry = false;

  bool has_scratch() const { return schedule.buffers() > index(Buffer::scratch); }

  std::size_t memory() const {
    return schedule.memory() + order.capacity() * sizeof(Op) + block_in_place.capacity() * sizeof(Rank);
  }
};

class ScheduleCache {
 public:
  explicit ScheduleCache(std::size_t bytes) : limit_(bytes) {}

  /// The schedule of this call, built if it is not cached. Any thread may call it.
  std::shared_ptr<const Prepared> get(const Algorithm& algorithm, const Call& call);

  std::size_t memory() const;
  std::size_t size() const;

 private:
  using Key = std::tuple<Spec, Collective, Rank, Rank, Rank, bool, bool, std::vector<std::int32_t>,
                         std::vector<Rank>, std::vector<Domains>,
                         std::shared_ptr<const Graph>>;  // graphs are distinguished by address: each has its
                                                         // own schedules
  struct Entry {
    std::shared_ptr<const Prepared> prepared;
    std::list<Key>::iterator used;
  };

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::list<Key> by_use_;  // the most recently used first
  std::size_t limit_, bytes_ = 0;
  Builder builder_;
};

/// The process's cache, with the size from the settings.
ScheduleCache& process_schedules();

}  // namespace convene::runtime
