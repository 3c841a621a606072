// SPDX-License-Identifier: BSD-3-Clause
// Who read and who wrote each place last: from that the builder infers on which steps a new one depends.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace convene {

/// The buffers of a schedule that is being built, and what its steps did to their places.
class Accesses {
 public:
  static constexpr StepId none = 0xffffffffu;

  void clear();

  /// Declares a buffer; its places lie behind those of all before.
  void declare(Buffer buffer, std::uint32_t places);
  /// More places for a buffer.
  void grow(Buffer buffer, std::uint32_t more);
  /// Place i of `alias` is place `first` + i of `of`.
  void alias(Buffer alias, Buffer of, Place first);
  std::uint32_t places(Buffer buffer) const { return places_[index(buffer)]; }

  /// The range with its places below the buffer's number, and on the other buffer where this one is an alias of it.
  Range normalised(Range range) const;

  /// Starts the set of steps that the next one depends on.
  void start() { depends_.clear(); }
  /// Adds a step to that set, once. `none` is no step.
  void depend(StepId on) {
    if (on == none || seen_[on] == next()) return;
    seen_[on] = next();
    depends_.push_back(on);
  }
  /// Adds what a reader (a writer) of these places depends on.
  void read(const Range& range);
  void write(const Range& range);
  std::vector<StepId>& depends() { return depends_; }
  /// Takes the set back: no step comes of it.
  void forget();

  /// Counts a step and returns its number.
  StepId add_step() {
    seen_.push_back(none);
    return static_cast<StepId>(seen_.size() - 1);
  }
  /// Remembers that a step reads (writes) these places.
  void note_read(const Range& range, StepId step);
  void note_write(const Range& range, StepId step);
  /// From here on the step counts as their writer, and who read them is still known.
  void note_writer(const Range& range, StepId step);

 private:
  // A linked list of the steps that read a place since it was last written.
  struct Reader {
    StepId step;
    std::uint32_t next;
  };
  // A read of many places one after the other (around the end, at most once). Kept as a whole: to note it place by
  // place would cost more than everything else where a schedule moves ever larger runs.
  struct WideRead {
    StepId step;
    Range range;
  };

  StepId next() const { return static_cast<StepId>(seen_.size()); }
  bool overlap(const Range& wide, const Range& other) const;

  std::uint32_t places_[max_buffers] = {};
  std::uint32_t base_[max_buffers] = {};  // where a buffer's places start in `writer_` and `readers_`
  Buffer alias_ = Buffer::input, alias_of_ = Buffer::input;  // equal: there is none
  Place alias_first_ = 0;

  std::vector<StepId> writer_;          // by place: the step that wrote it last
  std::vector<std::uint32_t> readers_;  // by place: head of the list of readers since
  std::vector<Reader> pool_;
  std::vector<WideRead> wide_reads_;
  std::vector<StepId> seen_;  // by step: the last step that found itself depending on it
  std::vector<StepId> depends_;
};

}  // namespace convene
