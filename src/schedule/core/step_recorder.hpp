// SPDX-License-Identifier: BSD-3-Clause
// The step recorder: records the steps of one schedule, numbers its messages and infers dependencies from
// slots.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "schedule/core/accesses.hpp"
#include "schedule/core/schedule.hpp"

namespace convene::schedule {

class StepRecorder {
 public:
  /// Starts a schedule. Working memory is kept.
  void begin(Rank procs, Rank rank);

  /// The buffers. Declare them here; add() and join() keep track of the accesses.
  Accesses& accesses() { return accesses_; }
  const Accesses& accesses() const { return accesses_; }

  /// The round of the steps that follow.
  void set_round(std::uint32_t round) {
    if (is_paced_ && round != round_) close_round(round);
    round_ = round;
  }
  /// If `on`, each message depends on all messages since this call that are of earlier rounds.
  void pace(bool on);
  bool is_paced() const { return is_paced_; }
  /// The number of rounds with messages.
  std::uint32_t rounds() const { return rounds_; }

  /// Adds a step. Ranges are taken modulo their buffers; empty ones are left out, and so is a step without
  /// places. A copy or combine with more source ranges than a step can count becomes several.
  void add(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
           Transfer transfer);

  /// Adds a message of one range, as most are: a quarter of the work of add().
  void add_message(StepKind kind, Rank peer, Range given, Transfer transfer) {
    if (given.count() == 0) return;
    const bool sends = kind == StepKind::send;
    if (given.buffer() == Buffer::shared) {
      const std::span<const Range> range(&given, 1);
      return sends ? add_one(kind, peer, range, {}, transfer) : add_one(kind, peer, {}, range, transfer);
    }
    require_other_rank(peer);
    const Range range = accesses_.normalised(given);
    const auto first_range = static_cast<std::uint32_t>(ranges_.size());
    accesses_.start();
    sends ? accesses_.read(range) : accesses_.write(range);
    const std::uint32_t match = number_message(kind, peer);
    if (accesses_.depends().size() >= join_from) share_large_set(first_range);
    ranges_.push_back(range);
    const StepId id = commit(kind, peer, transfer, match, first_range, sends, touch_bit(range));
    sends ? accesses_.note_read(range, id) : accesses_.note_write(range, id);
  }

  /// Adds a join of the last writers of normalised ranges. It counts as their writer from here on. A set that
  /// one step has written needs no join; `always` makes one even so.
  void join(std::span<const Range> written, bool always);

  /// Writes steps, ranges and edges into a schedule.
  void write_graph(Schedule& schedule) const;

 private:
  static constexpr StepId none = Accesses::none;
  // The size from which on a repeated set of predecessors gets a join. Smaller ones need no more edges
  // without it.
  static constexpr std::size_t join_from = 4;

  /// The messages between this rank and another one, in one direction.
  struct Traffic {
    std::uint32_t messages = 0;
    StepId last = none, one_window_back = none;
    StepId last_signal = none;
  };

  static constexpr bool is_local(StepKind kind) {
    return kind == StepKind::copy || kind == StepKind::combine;
  }
  static std::uint8_t touch_bit(const Range& range) {
    return static_cast<std::uint8_t>(1u << std::min(7u, index(range.buffer())));
  }
  static constexpr std::uint8_t shared_bit = 1u << index(Buffer::shared);

  Traffic& traffic(StepKind kind, Rank peer) { return (kind == StepKind::send ? sent_ : received_)[peer]; }

  void require_other_rank(Rank peer) const {
    if (peer >= procs_ || peer == rank_)
      throw std::logic_error("a message to a rank that is not another rank of this plan");
  }

  /// Appends a step, a join so far, and its predecessors.
  Step& add_step(std::uint32_t first_range) {
    accesses_.add_step();
    const std::vector<StepId>& on = accesses_.depends();
    for (const StepId each : on) predecessors_.push_back(each);
    next_of_kind_.push_back(none);
    Step& step = steps_.emplace_back();
    step.round = round_;
    step.ranges = first_range;
    step.predecessors = static_cast<std::uint32_t>(on.size());
    return step;
  }

  /// Completes the step in progress and adds it with its predecessors.
  StepId commit(StepKind kind, Rank peer, Transfer transfer, std::uint32_t match, std::uint32_t first_range,
                std::size_t from_ranges, std::uint8_t touches) {
    const auto id = static_cast<StepId>(steps_.size());
    Step& step = add_step(first_range);
    step.peer = peer;
    step.match = match;
    step.kind = kind;
    step.transfer = transfer;
    step.from_ranges = static_cast<std::uint8_t>(is_local(kind) ? from_ranges : 0);
    step.touches = touches;
    if (!is_local(kind)) {
      rounds_ = std::max(rounds_, round_ + 1);
      if (is_paced_) in_round_.push_back(id);
      note_message(kind, peer, id);
    }
    return id;
  }

  /// The number of the next message. Message n + match_window may carry the tag of message n to the same
  /// peer, and so depends on it.
  std::uint32_t number_message(StepKind kind, Rank peer) {
    Traffic& pair = traffic(kind, peer);
    if (pair.messages == 0) peers_.push_back(peer);
    if (is_paced_) accesses_.depend(gate_);
    if (pair.messages >= match_window) {
      accesses_.depend(pair.one_window_back);
      pair.one_window_back = next_of_kind_[pair.one_window_back];
    }
    return pair.messages++;
  }

  /// Remembers the id of a message for the one a window later.
  void note_message(StepKind kind, Rank peer, StepId id) {
    Traffic& pair = traffic(kind, peer);
    if (pair.messages == 1)
      pair.one_window_back = id;
    else
      next_of_kind_[pair.last] = id;
    pair.last = id;
  }

  void add_one(StepKind kind, Rank peer, std::span<const Range> from, std::span<const Range> to,
               Transfer transfer);
  std::size_t take_ranges(std::span<const Range> given, std::uint32_t& places, std::uint8_t& touches);
  bool is_onto_itself(std::uint32_t first_range, std::size_t from_ranges) const;
  void add_in_parts(StepKind kind, std::span<const Range> from, std::span<const Range> to);
  void share_large_set(std::uint32_t first_range);
  StepId add_join(std::uint32_t first_range);
  void forget_traffic();
  void close_round(std::uint32_t next);

  Rank procs_ = 0, rank_ = 0;
  std::uint32_t round_ = 0, rounds_ = 0;
  Accesses accesses_;
  std::vector<Step> steps_;
  std::vector<Range> ranges_;
  std::vector<StepId> predecessors_;      // of step 0, then of step 1, …: Step::predecessors of each
  std::vector<StepId> last_large_;        // the last large set of predecessors
  StepId last_join_ = none;               // the join of that set
  std::vector<Traffic> sent_, received_;  // by peer
  std::vector<Rank>
      peers_;  // those with traffic: a plan of many ranks with few peers each is built in linear time
  bool is_paced_ = false;
  StepId gate_ = none;                // complete when the messages of earlier rounds are, if paced
  std::vector<StepId> in_round_;      // if paced: the messages of the current round
  std::vector<StepId> next_of_kind_;  // by message: the next one to the same peer in the same direction
};

}  // namespace convene::schedule
