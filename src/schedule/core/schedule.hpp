// SPDX-License-Identifier: BSD-3-Clause
// A schedule: what one rank does in one collective, as a constant graph of steps over slots.
// It names slots, never pointers, bytes, datatypes, tags or requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/core/slots.hpp"

namespace convene::schedule {

using StepId = std::uint32_t;

/// A message whose slots are shared moves nothing: its send is a *signal*, by which a rank hands places of the node's
/// memory over to another one, and its receive *awaits* that. From the one step on the places are the other rank's: to read
/// what stands there, or to write it.
enum class StepKind : std::uint8_t {
  send,  ///< the slots, in order, as one message to `peer`
  recv,  ///< one message from `peer` into the slots, in order
  /// From the first slots to the second, place by place. A shared place has room for the collective's largest one: as
  /// much is copied (and combined) as the smaller of both places holds.
  copy,
  /// right = left ∘ right, place by place, as MPI_Reduce_local does it: the first slots are the left operand and only
  /// read, the second the right one, read and written. What runs a schedule gives places whole elements of the operation's
  /// type, hands the operator left and right in this order, and lets no two combines of a user's operation run at once.
  combine,
  join,  ///< does nothing: stands for "all of these are done" where many steps would share a large set
};

/// How a message whose slots are not contiguous in memory is to travel. Both sides see the same bytes, so each side
/// may choose for itself; `automatic` leaves it to the executor.
enum class Transfer : std::uint8_t { automatic, packed, datatype };

/// One step. What depends on it stands in Schedule::successors(); ids grow along every dependency.
struct Step {
  Rank peer = 0;             ///< send, recv: the other rank
  std::uint32_t match = 0;   ///< send, recv: the n-th message from the one rank to the other, counted from 0
  std::uint32_t round = 0;   ///< a label for models and pictures; it orders a barrier's messages only
  std::uint32_t ranges = 0;  ///< index of the first range
  std::uint32_t edges = 0;   ///< index of the first successor
  std::uint32_t predecessors = 0;  ///< how many steps must be complete before this one may start
  StepKind kind = StepKind::join;
  Transfer transfer = Transfer::automatic;
  /// copy, combine: how many of its ranges are the source (the left operand); the rest is the target (the right one).
  /// The builder makes several steps of one that has more than most_from_ranges.
  std::uint8_t from_ranges = 0;
  std::uint8_t touches =
      0;  ///< bit b: touches buffer b directly (input and output have a moment: DESIGN "available-from")

  bool is_message() const { return kind == StepKind::send || kind == StepKind::recv; }
  /// Whether it takes one of the places that there are for messages in flight.
  bool is_in_flight() const { return is_message() && !is_shm_signal(); }
  /// A message that moves nothing: a signal, or its other end. The one is given at once, the other one only looked for.
  bool is_shm_signal() const { return is_message() && touches == 1u << index(Buffer::shared); }
};

inline constexpr std::size_t most_from_ranges = 255;  // of a copy or combine

/// Messages n and n + match_window between two ranks may carry the same tag, so the later one waits for the earlier.
inline constexpr std::uint32_t match_bits = 8;
/// (One number less than there are: the last one is for notices, see schedule/online/online_algorithm.hpp.)
inline constexpr std::uint32_t match_window = (1u << match_bits) - 1;

/// Signals are told apart by the number of messages of their pair, which has so many bits.
inline constexpr unsigned signal_bits = 20;

class Schedule;

/// The predecessors of each step of a schedule, ascending.
class Predecessors {
 public:
  /// O(steps + edges).
  explicit Predecessors(const Schedule& schedule);

  std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size()) - 1; }  ///< steps
  std::span<const StepId> operator[](StepId id) const {
    return {steps_.data() + first_[id], first_[id + 1] - first_[id]};
  }
  friend bool operator==(const Predecessors&, const Predecessors&) = default;

 private:
  std::vector<std::uint32_t> first_;  // by step, and one more: where its predecessors begin
  std::vector<StepId> steps_;
};

class Schedule {
 public:
  Rank procs() const { return procs_; }
  Rank rank() const { return rank_; }
  std::uint32_t rounds() const { return rounds_; }

  /// The number of places of a buffer; 0 where the schedule does not use it.
  std::uint32_t places(Buffer buffer) const { return places_[index(buffer)]; }
  unsigned buffers() const { return buffers_; }

  /// For each place of a scratch buffer the place of the collective's blocks whose size it has.
  std::span<const Place> sized_like(Buffer scratch_buffer) const;

  /// Of a schedule that uses shared places: the lowest of the ranks that share them.
  Rank first_sharer() const { return first_sharer_; }

  /// Whether messages are sent although they carry no bytes: their arrival is what counts.
  bool sends_empty_messages() const { return signals_; }

  std::uint32_t size() const { return static_cast<std::uint32_t>(steps_.size()) - 1; }
  const Step& operator[](StepId id) const { return steps_[id]; }
  std::span<const Step> steps() const { return {steps_.data(), size()}; }

  /// All ranges of a step; for a copy or combine the source's, then the target's.
  std::span<const Range> ranges(StepId id) const {
    return {ranges_.data() + steps_[id].ranges, steps_[id + 1].ranges - steps_[id].ranges};
  }
  std::span<const Range> from(StepId id) const { return ranges(id).first(from_ranges(id)); }
  std::span<const Range> to(StepId id) const { return ranges(id).subspan(from_ranges(id)); }
  std::span<const StepId> successors(StepId id) const {
    return {edges_.data() + steps_[id].edges, steps_[id + 1].edges - steps_[id].edges};
  }
  std::size_t edges() const { return edges_.size(); }

  /// The steps that must be complete before each step, collected from the successors. O(steps + edges).
  Predecessors predecessors() const { return Predecessors(*this); }

  /// Bytes of memory that this schedule holds.
  std::size_t memory() const;

  /// Throws std::logic_error where a count, an index or an id does not fit the others. (What the schedule *does* is
  /// the checker's business.)
  void validate() const;

 private:
  friend class Builder;
  friend class IncrementalSchedule;
  friend class Mutation;  // the checker's own test breaks schedules on purpose

  /// A message has one set of ranges, of any size.
  std::size_t from_ranges(StepId id) const {
    const Step& step = steps_[id];
    return step.is_message() ? (step.kind == StepKind::send ? ranges(id).size() : 0) : step.from_ranges;
  }

  Rank procs_ = 0, rank_ = 0, first_sharer_ = 0;
  std::uint32_t rounds_ = 0;
  unsigned buffers_ = 0;
  bool signals_ = false;
  std::uint32_t places_[max_buffers] = {};
  std::vector<Step> steps_;  // one more than there are steps: the last one only closes ranges and edges
  std::vector<Range> ranges_;
  std::vector<StepId> edges_;
  std::vector<Place> like_;  // of scratch 0, then of scratch 1, …
};

/// The schedules of all ranks, by rank.
using Plan = std::vector<Schedule>;

}  // namespace convene::schedule
