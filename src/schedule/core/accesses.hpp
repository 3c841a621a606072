// SPDX-License-Identifier: BSD-3-Clause
// Access tracking: the last writer and the readers since of each place. The dependencies of a new step follow
// from them.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// The buffers of a schedule under construction, and the accesses of its steps.
class Accesses {
 public:
  static constexpr StepId none = 0xffffffffu;

  void clear();

  /// Declares a buffer; its places follow those of the buffers before.
  void declare(Buffer buffer, std::uint32_t places);
  /// Adds places to a buffer.
  void grow(Buffer buffer, std::uint32_t more);
  /// Place i of `alias` is place `first` + i of `of`.
  void alias(Buffer alias, Buffer of, Place first);
  std::uint32_t places(Buffer buffer) const { return places_[index(buffer)]; }

  /// The range with its first place and stride below the buffer's number of places, and with an alias
  /// resolved.
  Range normalised(Range range) const {
    const bool is_alias = alias_ != alias_of_ && range.buffer() == alias_;
    const std::uint32_t n = places(range.buffer());
    return range.first < n && range.stride < n && !is_alias ? range : reduced(range);
  }

  /// Starts the set of predecessors of the next step.
  void start() { depends_.clear(); }
  /// Adds a step to that set, once. Ignores `none`.
  void depend(StepId on) {
    if (on == none || seen_[on] == next()) return;
    seen_[on] = next();
    depends_.push_back(on);
  }
  /// Adds the predecessors of a reader (a writer) of these places. Most ranges are one place and take the
  /// short path.
  void read(const Range& range) {
    if (range.count() != 1) return read_many(range);
    depend(writer_[base_[index(range.buffer())] + range.first]);
  }
  void write(const Range& range) {
    if (range.count() != 1 || !wide_reads_.empty()) return write_many(range);
    write_one(base_[index(range.buffer())] + range.first);
  }
  std::vector<StepId>& depends() { return depends_; }
  /// Discards the set, if no step follows from it.
  void forget();

  /// Counts a step.
  void add_step() { seen_.push_back(none); }
  /// Records that a step reads (writes) these places.
  void note_read(const Range& range, StepId step) {
    if (range.count() != 1) return note_read_of_many(range, step);
    note_read_of_one(base_[index(range.buffer())] + range.first, step);
  }
  void note_write(const Range& range, StepId step) {
    if (range.count() != 1) return note_write_of_many(range, step);
    note_write_of_one(base_[index(range.buffer())] + range.first, step);
  }
  /// Records a step as the writer of these places; their readers are kept.
  void note_writer(const Range& range, StepId step);

 private:
  // A linked list of the steps that read a place since it was last written.
  struct Reader {
    StepId step;
    std::uint32_t next;
  };
  // A read of many consecutive places, which may wrap around once. Recorded as a whole: in schedules that
  // move ever larger runs, recording it place by place would cost more than everything else.
  struct WideRead {
    StepId step;
    Range range;
  };

  StepId next() const { return static_cast<StepId>(seen_.size()); }
  Range reduced(Range range) const;

  // `at`: the index of a place in `writer_` and `readers_`.
  void write_one(std::uint32_t at) {
    depend(writer_[at]);
    for (std::uint32_t r = readers_[at]; r != none; r = pool_[r].next) depend(pool_[r].step);
  }
  void note_read_of_one(std::uint32_t at, StepId step) {
    pool_.push_back({step, readers_[at]});
    readers_[at] = static_cast<std::uint32_t>(pool_.size() - 1);
  }
  void note_write_of_one(std::uint32_t at, StepId step) {
    writer_[at] = step;
    readers_[at] = none;
  }
  void read_many(const Range& range);
  void write_many(const Range& range);
  void note_read_of_many(const Range& range, StepId step);
  void note_write_of_many(const Range& range, StepId step);

  bool overlap(const Range& wide, const Range& other) const;

  std::uint32_t places_[max_buffers] = {};
  std::uint32_t base_[max_buffers] =
      {};  // by buffer: the index of its first place in `writer_` and `readers_`
  Buffer alias_ = Buffer::input, alias_of_ = Buffer::input;  // equal: no alias
  Place alias_first_ = 0;

  std::vector<StepId> writer_;          // by place: the step that wrote it last
  std::vector<std::uint32_t> readers_;  // by place: head of the list of readers since
  std::vector<Reader> pool_;
  std::vector<WideRead> wide_reads_;
  std::vector<StepId> seen_;  // by step: the last step that was found to depend on it
  std::vector<StepId> depends_;
};

}  // namespace convene::schedule
