// SPDX-License-Identifier: BSD-3-Clause
#include "transport/store_trials.hpp"

#include <algorithm>
#include <bit>

namespace convene::transport {
namespace {

// Numbers of a size's runs: the first trial, the second, and the distance of all later ones. Four of a
// trial's runs may take twice their time or somewhat more: 256 runs apart, that is at most 2 %.
constexpr std::uint32_t first = 4, second = 40, apart = 256;
constexpr std::uint32_t runs_of_trial = 6, first_other = 2, first_counted = 4;
// A run starts only after all ranks have ended the runs of the half before its own: at most 8 in each.
constexpr std::uint32_t judged_after = runs_of_trial + 18;
static_assert(first + judged_after < second && second + judged_after < apart);

constexpr std::int64_t unit = 16;  // of a published difference, ticks

/// The number of a run in the trial before it, from 0.
std::uint32_t since_trial(std::uint32_t run) {
  return run < first ? apart : run < second ? run - first : run < apart ? run - second : run % apart;
}

std::int32_t clamped(std::int64_t ticks) {
  constexpr std::int64_t most = INT32_MAX;
  return static_cast<std::int32_t>(std::clamp(ticks / unit, -most, most));
}

}  // namespace

bool StoreTrials::begin(std::uint64_t run, std::size_t bytes) {
  is_timed_ = streams_ = false;  // nothing else is read of a short run
  if (bytes < least_bytes) return false;
  const auto class_of_size = static_cast<std::size_t>(std::bit_width(bytes / least_bytes) - 1);
  size_ = &sizes_[std::min(class_of_size, sizes_.size() - 1)];
  const std::uint32_t since = since_trial(size_->runs++);
  is_other_ = since >= first_other && since < runs_of_trial;
  is_timed_ = since < first_other || (is_other_ && since >= first_counted);
  is_last_ = since + 1 == runs_of_trial;
  streams_ = size_->streams != is_other_;
  if (since == 0) size_->difference = 0;
  if (is_last_) size_->last_run = static_cast<std::uint32_t>(run);
  return since == judged_after;
}

std::optional<StoreTrials::Outcome> StoreTrials::end(std::uint64_t busy) {
  const auto time = static_cast<std::int64_t>(busy);
  size_->difference += is_other_ ? time : -time;
  if (!is_last_) return std::nullopt;
  return Outcome{size_->last_run, clamped(size_->difference)};
}

void StoreTrials::judge(std::int64_t difference) {
  const bool is_against = difference < 0;
  if (is_against && (size_->is_doubted || !size_->is_decided)) {
    size_->streams = !size_->streams;
    size_->is_doubted = false;
  } else {
    size_->is_doubted = is_against;
  }
  size_->is_decided = true;
  streams_ = size_->streams;
}

}  // namespace convene::transport
