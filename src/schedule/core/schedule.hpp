// SPDX-License-Identifier: BSD-3-Clause
// A schedule: the steps of one rank in one collective, as a constant graph over slots. It names slots, never
// pointers, bytes, datatypes, tags or requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/core/slots.hpp"

namespace convene::schedule {

using StepId = std::uint32_t;

/// A message of shared slots moves no data: its send is a *signal* that passes places of the node's memory on
/// to another rank, and its receive *awaits* the signal. From then on the places are the other rank's, to
/// read or to write.
enum class StepKind : std::uint8_t {
  send,  ///< the slots, in order, as one message to `peer`
  recv,  ///< one message from `peer` into the slots, in order
  /// Copies the first slots to the second, place by place. A shared place is as large as the collective's
  /// largest one; the smaller of two places limits how much is copied or combined.
  copy,
  /// right = left ∘ right, place by place, like MPI_Reduce_local: the first slots are the left operand, which
  /// is read, the second the right one, which is read and written. The executor gives places whole elements
  /// of the operation's type, passes the operands in this order, and runs no two combines of a user's
  /// operation at once.
  combine,
  join,  ///< no operation: complete when all its predecessors are; replaces a large set that many steps
         ///< depend on
};

/// How a message of non-contiguous slots is transferred. Both sides transfer the same bytes, so each side may
/// choose; `automatic` lets the executor choose.
enum class Transfer : std::uint8_t { automatic, packed, datatype };

/// One step. Schedule::successors() are the steps that depend on it; ids grow along every dependency.
struct Step {
  Rank peer = 0;             ///< send, recv: the other rank
  std::uint32_t match = 0;   ///< send, recv: the n-th message from the one rank to the other, counted from 0
  std::uint32_t round = 0;   ///< label for models and pictures; orders messages of barriers, paced schedules
  std::uint32_t ranges = 0;  ///< index of the first range
  std::uint32_t edges = 0;   ///< index of the first successor
  std::uint32_t predecessors = 0;  ///< the number of steps that must be complete before this one starts
  StepKind kind = StepKind::join;
  Transfer transfer = Transfer::automatic;
  /// copy, combine: the number of source (left) ranges; the others are the target (right). The builder splits
  /// a step with more than most_from_ranges.
  std::uint8_t from_ranges = 0;
  std::uint8_t touches = 0;  ///< bit b: accesses buffer b; bit 7: buffer 7 or a later one

  bool is_message() const { return kind == StepKind::send || kind == StepKind::recv; }
  /// True if the step counts towards the limits on messages in flight.
  bool is_in_flight() const { return is_message() && !is_shm_signal(); }
  /// A signal through shared memory, or the step that awaits it. Giving a signal is immediate; awaiting it
  /// polls.
  bool is_shm_signal() const { return is_message() && touches == 1u << index(Buffer::shared); }
};

inline constexpr std::size_t most_from_ranges = 255;  // of a copy or combine

/// Bits of a message's number that its tag carries.
inline constexpr std::uint32_t match_bits = 8;
/// Messages n and n + match_window between two ranks may carry the same tag, so the later one depends on the
/// earlier. The last tag number is reserved for notices (schedule/online/online_algorithm.hpp).
inline constexpr std::uint32_t match_window = (1u << match_bits) - 1;

/// Bits of the message number by which signals of a pair differ.
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

  /// The number of places of a buffer; 0: the schedule does not use it.
  std::uint32_t places(Buffer buffer) const { return places_[index(buffer)]; }
  unsigned buffers() const { return buffers_; }

  /// By place of a scratch buffer: the place of the collective's blocks whose size it has.
  std::span<const Place> sized_like(Buffer scratch_buffer) const;

  /// The lowest of the ranks that share places with this one, if the schedule uses shared places.
  Rank first_sharer() const { return first_sharer_; }

  /// True if messages carry no bytes and are sent nevertheless, for synchronisation.
  bool sends_empty_messages() const { return sends_empty_messages_; }

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

  /// Throws std::logic_error if a count, an index or an id is inconsistent. The checker verifies the
  /// schedule's effect.
  void validate() const;

 private:
  friend class Builder;
  friend class StepRecorder;
  friend class IncrementalSchedule;
  friend class Mutation;  // the checker's test corrupts schedules on purpose

  /// The number of source ranges. A message has one set of ranges, of any size.
  std::size_t from_ranges(StepId id) const {
    const Step& step = steps_[id];
    return step.is_message() ? (step.kind == StepKind::send ? ranges(id).size() : 0) : step.from_ranges;
  }

  Rank procs_ = 0, rank_ = 0, first_sharer_ = 0;
  std::uint32_t rounds_ = 0;
  unsigned buffers_ = 0;
  bool sends_empty_messages_ = false;
  std::uint32_t places_[max_buffers] = {};
  std::vector<Step> steps_;  // and a sentinel, which ends ranges and edges
  std::vector<Range> ranges_;
  std::vector<StepId> edges_;
  std::vector<Place> like_;  // of scratch 0, then of scratch 1, …
};

/// The schedules of all ranks, by rank.
using Plan = std::vector<Schedule>;

}  // namespace convene::schedule
