// SPDX-License-Identifier: BSD-3-Clause
// For tests only: lock-step simulation of a plan, in the single-port, full-duplex model of the sources on
// arrivals. A block takes one round to be sent and received. A rank executes its rounds in order: it starts
// one when it has finished the previous one and, if it sends its own block in it, when it has arrived. A
// message starts when both ends have started the round, and a round ends for a rank when its messages have
// ended.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::collective {

/// Of an allgather plan with one place a block, not in place.
class LockStep {
 public:
  LockStep(const Plan& plan, std::vector<std::int32_t> arrivals) : ends_(plan.size(), 0) {
    const std::int32_t first = *std::min_element(arrivals.begin(), arrivals.end());
    for (std::int32_t& each : arrivals) each -= first;  // the background starts when the first rank arrives
    std::uint32_t rounds = 0;
    for (const Schedule& schedule : plan) rounds = std::max(rounds, schedule.rounds());
    std::vector<std::vector<Send>> sends(rounds);
    for (const Schedule& schedule : plan)
      for (StepId id = 0; id < schedule.size(); ++id)
        if (schedule[id].kind == StepKind::send)
          sends[schedule[id].round].push_back(
              {schedule.rank(), schedule[id].peer, places(schedule, id), sends_own(schedule, id)});
    for (const auto& round : sends) simulate_round(round, arrivals);
    last_arrival_ = *std::max_element(arrivals.begin(), arrivals.end());
    for (std::size_t rank = 0; rank < plan.size(); ++rank) {
      exits_.push_back(std::max<std::int64_t>(ends_[rank], arrivals[rank]));
      elapsed_.push_back(exits_.back() - arrivals[rank]);
    }
  }

  const std::vector<std::int64_t>& elapsed() const { return elapsed_; }
  std::int64_t total_elapsed() const {
    return std::accumulate(elapsed_.begin(), elapsed_.end(), std::int64_t{0});
  }
  double mean_elapsed() const {
    return static_cast<double>(total_elapsed()) / static_cast<double>(elapsed_.size());
  }
  std::int64_t last_exit() const { return *std::max_element(exits_.begin(), exits_.end()); }
  std::int64_t last_arrival_to_last_exit() const { return last_exit() - last_arrival_; }

 private:
  struct Send {
    Rank from, to;
    std::int64_t blocks;
    bool own;
  };

  static std::int64_t places(const Schedule& schedule, StepId id) {
    std::int64_t sum = 0;
    for (const Range& range : schedule.ranges(id)) sum += range.count();
    return sum;
  }

  static bool sends_own(const Schedule& schedule, StepId id) {
    bool own = false;
    for (const Range& range : schedule.ranges(id))
      for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
        own |= range.buffer() == Buffer::input || place == schedule.rank();
      });
    return own;
  }

  void simulate_round(const std::vector<Send>& round, const std::vector<std::int32_t>& arrivals) {
    std::vector<std::int64_t> begins = ends_;
    std::map<std::pair<Rank, Rank>, std::int64_t> blocks;  // between two ranks one block after the other
    for (const Send& send : round) {
      if (send.own) begins[send.from] = std::max<std::int64_t>(begins[send.from], arrivals[send.from]);
      blocks[{send.from, send.to}] += send.blocks;
    }
    for (const auto& [ranks, count] : blocks) {
      const std::int64_t end = std::max(begins[ranks.first], begins[ranks.second]) + count;
      for (const Rank rank : {ranks.first, ranks.second}) ends_[rank] = std::max(ends_[rank], end);
    }
  }

  std::vector<std::int64_t> ends_, exits_, elapsed_;
  std::int64_t last_arrival_ = 0;
};

}  // namespace convene::collective
