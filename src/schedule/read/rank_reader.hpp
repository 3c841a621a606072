// SPDX-License-Identifier: BSD-3-Clause
// Rank reader: one rank's schedule in a schedule file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/core/builder.hpp"
#include "schedule/online/incremental_schedule.hpp"
#include "schedule/read/file_field.hpp"

namespace convene::schedule {

class RankReader {
 public:
  RankReader(Rank procs, bool sends_empty_messages)
      : procs_(procs), sends_empty_messages_(sends_empty_messages) {}

  /// Reads the schedule of `rank`. `input`, `output`: places of the call's buffers. `rounds`: of the whole
  /// plan, if the file states it.
  Schedule read(const FileField& field, Rank rank, std::uint32_t input, std::uint32_t output,
                const std::optional<FileField>& rounds);

 private:
  using Sizes = std::array<std::uint32_t, max_buffers>;  // by buffer: places

  void declare(const FileField& field, std::uint32_t input, std::uint32_t output);
  void read_sizes(const FileField& places);
  void read_scratch(const FileField& sized_like);
  void find_scratch_in_use(const FileField& steps);
  void require_few_places(const FileField& field);
  Schedule empty();

  void read_step(const FileField& field, IncrementalSchedule& schedule);
  void read_message(const FileField& field, Step& step, bool is_signal, std::vector<Range>& ranges);
  void read_copy(const FileField& field, std::vector<Range>& from, std::vector<Range>& to);
  void read_after(const FileField& field, StepId id, IncrementalSchedule& schedule);
  std::vector<Range> read_slots(const FileField& field) const;
  Range read_range(const FileField& field, const JsonValue& slot) const;

  const Rank procs_;
  const bool sends_empty_messages_;
  Builder builder_;
  std::uint64_t all_places_ = 0;  // of shared and scratch buffers, of all ranks so far

  // Of the current rank:
  Rank rank_ = 0;
  Sizes sizes_{};
  std::array<std::vector<Place>, max_buffers> like_;
  std::uint32_t message_rounds_ = 0, step_rounds_ = 0;
  std::array<std::vector<std::uint32_t>, 2> numbers_;  // by kind and peer: the next message's number
};

}  // namespace convene::schedule
