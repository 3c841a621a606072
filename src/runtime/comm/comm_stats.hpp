// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a communicator: its profile, and the record of the last call.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/comm/decision.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {

/// Profile that is merged into the process's when it is no longer in use.
struct LiveProfile : CommProfile {
  ~LiveProfile();
};

class CommStats {
 public:
  explicit CommStats(Rank procs) { profile_->procs = procs; }

  /// The record of a call with this many bytes per block; `ends_later`: the call ends after it has returned.
  CallStats& of(Decision& decision, std::uint64_t block_bytes, bool ends_later = false);

  const CallStats* last() const { return last_; }
  /// Bytes per block of the last call that was counted.
  std::uint64_t last_block_bytes() const { return last_block_bytes_; }
  void note_last(const CallStats& record, std::uint64_t block_bytes) {
    last_ = &record;
    last_block_bytes_ = block_bytes;
  }
  /// The following call may not be counted.
  void forget_last() { last_ = nullptr; }

  const std::shared_ptr<LiveProfile>& profile() const { return profile_; }
  std::size_t memory() const { return sizeof(LiveProfile) + profile_->records.size() * sizeof(CallStats); }

 private:
  std::shared_ptr<LiveProfile> profile_ = std::make_shared<LiveProfile>();
  const CallStats* last_ = nullptr;
  std::uint64_t last_block_bytes_ = 0;
};

}  // namespace convene::runtime
