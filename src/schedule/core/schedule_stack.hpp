// SPDX-License-Identifier: BSD-3-Clause
// The schedule stack: the nested schedules under construction, and where their buffers lie in the outermost
// one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "schedule/core/accesses.hpp"
#include "schedule/core/subschedule.hpp"

namespace convene::schedule {

/// Level 0 is the outermost schedule, which is built; the schedule at level n + 1 is embedded in the one at
/// level n.
class ScheduleStack {
 public:
  /// `accesses` holds the buffers of the outermost schedule and must outlive the stack.
  explicit ScheduleStack(Accesses& accesses) : accesses_(accesses) {}

  void clear();
  bool is_flat() const { return inner_.empty(); }  ///< only the outermost schedule is open
  void enter(Embedding embedding) {
    inner_.emplace_back(std::move(embedding));
    shared_from_.push_back(next_shared_);
  }
  void leave() {
    inner_.pop_back();
    shared_from_.pop_back();
  }

  /// The outermost number of the innermost schedule's round 0.
  std::uint32_t first_round() const;

  /// Declares the innermost schedule's next scratch buffer: by place, the place of the collective's blocks
  /// whose size it has. Returns its name there.
  Buffer add_scratch(std::span<const Place> like) { return add_scratch(inner_.size(), like); }
  /// Declares more places that all ranks of the innermost schedule share.
  void add_shared(std::uint32_t places);

  // See Builder.
  void share_on_node(Rank first, std::uint32_t places);
  bool shares_on_node() const { return shares_on_node_; }
  void share_from(std::uint64_t first);

  /// Translates the peer and the ranges of a step of the innermost schedule to the outermost one. `peer` has
  /// no meaning for copies and combines.
  void lower(StepKind kind, Rank& peer, Embedding::Places& from, Embedding::Places& to) const;
  /// The outermost places of slots of the innermost schedule, normalised.
  Embedding::Places outermost(std::span<const Range> slots) const;

  /// By place of scratch 0, then of scratch 1, …: the place of the collective's blocks whose size it has.
  const std::vector<Place>& sized_like() const { return like_; }
  /// The lowest rank that shares places with this one.
  Rank first_sharer() const { return first_sharer_; }

 private:
  Buffer add_scratch(std::size_t level, std::span<const Place> like);
  Buffer add_outermost_scratch(std::span<const Place> like);
  std::pair<Buffer, Place> add_common_scratch(std::span<const Place> like);
  Place add_shared(std::size_t level, std::uint32_t places);
  void note_sharers();

  Accesses& accesses_;
  std::vector<SubSchedule> inner_;  // the innermost last
  std::vector<Place> like_;
  unsigned scratches_ = 0;         // of the outermost schedule
  Buffer common_ = Buffer::input;  // the scratch buffer that inner schedules share; input: none
  Rank first_sharer_ = 0;
  bool shares_on_node_ = false;
  std::uint64_t next_shared_ = 0;           // if so: the next place that is taken
  std::vector<std::uint64_t> shared_from_;  // by inner schedule: the first place that it may take
};

}  // namespace convene::schedule
