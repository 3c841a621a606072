// SPDX-License-Identifier: BSD-3-Clause
// Schedules that were built before: bounded, the least recently used go first. One cache a process, shared by
// all communicators of equal shape.
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

/// A schedule with what the executor needs beside it. Constant; lives as long as somebody holds it.
struct Prepared {
  Schedule schedule;
  std::unique_ptr<const OnlineAlgorithm> online;  ///< where there is one, the schedule has no steps
  Order order;                                    ///< empty where the schedule is to run dynamically
  std::uint32_t segments = 1;
  bool is_dynamic = false;
  bool relays = false;  ///< see Algorithm

  bool has_scratch() const { return schedule.buffers() > index(Buffer::scratch); }

  std::size_t memory() const { return schedule.memory() + order.capacity() * sizeof(Op); }
};

class ScheduleCache {
 public:
  explicit ScheduleCache(std::size_t bytes) : limit_(bytes) {}

  /// The schedule of this call, built where it is not there. Any thread may ask.
  std::shared_ptr<const Prepared> get(const Algorithm& algorithm, const Call& call);

  std::size_t memory() const;
  std::size_t size() const;

 private:
  using Key =
      std::tuple<Spec, Collective, Rank, Rank, Rank, bool, bool, std::vector<std::int32_t>, std::vector<Rank>,
                 std::shared_ptr<const Graph>>;  // graphs are told apart by address: each has its own
                                                 // schedules
  struct Entry {
    std::shared_ptr<const Prepared> prepared;
    std::list<Key>::iterator used;
  };

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::list<Key> by_use_;  // the most recent first
  std::size_t limit_, bytes_ = 0;
  Builder builder_;
};

/// The process's cache, of the size that the settings say.
ScheduleCache& process_schedules();

}  // namespace convene::runtime
