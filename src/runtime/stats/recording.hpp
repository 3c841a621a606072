// SPDX-License-Identifier: BSD-3-Clause
// Recording of one communicator: this rank's entry and exit times of each of its collectives, by call site,
// and their conversion to the common time of all ranks.
//
// Design notes
// - All ranks of a communicator make the same collectives in the same order: call number n here is call
//   number n on all ranks, although sites may be numbered differently on each rank. Blocking and non-blocking
//   calls are counted.
// - Persistent operations are created in one order, too, but may be started in another one on each rank: the
//   starts of each operation have a separate recording, identified by the communicator's name and the
//   operation's number. Its clock is the communicator's.
// - The memory is one ring of calls, allocated at the first call and never enlarged: the oldest calls are
//   overwritten. The number of sites is limited, too: all further ones share one last site.
// - It is used by the thread that makes the communicator's calls (MPI allows one collective at a time on it);
//   another thread may read it only while that one is not inside a call. Nothing here communicates:
//   runtime/record/recorder.hpp updates the common clock, after the first call and then at growing intervals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/clock.hpp"
#include "clock/common_clock.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {

/// Identifies the calls at one call site on a communicator.
struct SiteKey {
  const void* address = nullptr;  ///< return address of the call
  CallKey call;                   ///< its arguments; only collective and root where blocks may differ
  bool is_blocking = true;

  bool operator==(const SiteKey&) const = default;
};

/// A call as stored in the ring.
struct RecordedCall {
  std::uint64_t arrival, exit;  ///< ticks of base/clock.hpp; exit: 0 while the rank is inside
  std::uint64_t bytes;          ///< per block (of the vector in bcast and reductions)
  std::uint32_t back;           ///< distance to the previous call at this site, in calls; 0: there is none
  std::uint16_t site;
  std::uint16_t algorithm;  ///< Recording::algorithm()
};
static_assert(sizeof(RecordedCall) == 32, "two of a cache line");
static_assert(std::is_trivially_default_constructible_v<RecordedCall>,
              "the memory of a ring that is never filled is never touched");

/// A call in seconds of the common time; exit is NaN while the rank is inside.
struct TimedCall {
  std::uint64_t number = 0;
  double arrival = 0, exit = 0;
};

/// Identification of a communicator, for merging the ranks' recordings. In ranks of MPI_COMM_WORLD.
struct RecordedCommunicator {
  std::vector<int> members;     ///< by rank; -1: no rank of this program
  int rank = 0;                 ///< this process's
  std::int64_t name[3] = {-1};  ///< equal on all members and different from others'; -1: not agreed yet
  std::int64_t operation = -1;  ///< the persistent operation of these starts; -1: none, the other calls
};

class Recording {
 public:
  static constexpr std::size_t most_sites = 1024;
  static constexpr std::uint16_t no_algorithm = 0xffff;
  static constexpr std::int64_t most_operations = 4096;  ///< of a communicator whose starts are recorded

  /// Room for this many calls (rounded up to a power of two).
  explicit Recording(std::size_t calls, TickLine ticks = {});

  /// Records the start of a call, at that tick; returns its number.
  std::uint64_t begin(const SiteKey& key, std::uint64_t arrival);
  /// Records its end. `record`: of the algorithm that ran; it must live as long as the profile that was given
  /// to keep().
  void end(std::uint64_t number, const CallStats* record, std::uint64_t bytes, std::uint64_t exit);

  /// Number of calls started so far: equal on all ranks that are in the same call.
  std::uint64_t calls() const { return calls_; }
  /// The oldest call that is still stored.
  std::uint64_t oldest() const { return calls_ > capacity_ ? calls_ - capacity_ : 0; }
  bool has(std::uint64_t number) const { return number < calls_ && number >= oldest(); }
  /// Requires has(number).
  const RecordedCall& call(std::uint64_t number) const { return ring_[number & (capacity_ - 1)]; }

  struct Site {
    SiteKey key;
    std::uint64_t calls = 0, last = 0;       ///< last: the number of its latest call
    std::uint16_t next = 0;                  ///< the site that followed it last time
    std::uint16_t algorithm = no_algorithm;  ///< of its latest call, with
    const CallStats* record = nullptr;
  };
  /// Numbered on this rank in the order of their first calls; other ranks may distinguish sites differently.
  const std::vector<Site>& sites() const { return sites_; }
  /// Name and reason of an algorithm that ran here.
  const CallStats& algorithm(std::uint16_t index) const { return *algorithms_[index]; }
  const std::vector<const CallStats*>& algorithms() const { return algorithms_; }

  /// The latest calls at a site, newest first, as many as exist and fit; returns their number. Call refresh()
  /// before.
  std::size_t history(std::uint16_t site, std::span<TimedCall> found) const;
  /// One call; requires has(number).
  TimedCall timed(std::uint64_t number) const;

  /// Ticks as seconds of the common time: the monotonic clock of the communicator's rank 0. Accurate to
  /// clock_error() if clock().is_known(); otherwise of the own clock.
  double seconds(std::uint64_t ticks) const {
    return static_cast<double>(clock_.to_common(ticks_.to_ns(ticks))) * 1e-9;
  }
  double clock_error(std::uint64_t ticks) const {
    return static_cast<double>(clock_.error_at(ticks_.to_ns(ticks))) * 1e-9;
  }
  /// Compares ticks with the monotonic clock again (some 300 ns): call it before times are converted.
  void refresh() { ticks_.refresh(); }
  CommonClock& clock() { return clock_; }
  const CommonClock& clock() const { return clock_; }
  const TickLine& tick_line() const { return ticks_; }

  /// True if the clock should be updated: once after the first call, then at growing intervals. Call it at
  /// the end of blocking calls only: then the results are equal on all ranks.
  bool wants_clock() {
    if (calls_ < next_clock_) return false;
    constexpr std::uint64_t first_stretch = 64;
    next_clock_ = std::max(first_stretch, 2 * calls_);
    return true;
  }

  RecordedCommunicator communicator;

  /// Number of a new persistent operation on this communicator, equal on all ranks.
  std::int64_t next_operation() { return operations_++; }
  std::int64_t operations() const { return operations_; }

  /// Keeps the profile alive that contains the algorithms' records.
  void keep(std::shared_ptr<const CommProfile> profile) { profile_ = std::move(profile); }
  /// Ends the recording: releases unused memory, and the profile.
  void close();

 private:
  std::uint16_t find_site(const SiteKey& key);
  std::uint16_t find_algorithm(const CallStats* record);

  std::size_t capacity_;
  std::unique_ptr<RecordedCall[]> ring_;
  std::uint64_t calls_ = 0, next_clock_ = 1;
  std::int64_t operations_ = 0;
  std::uint16_t last_site_ = 0;
  std::vector<std::uint16_t> places_;  // of sites, by their hash
  std::vector<Site> sites_;
  std::vector<const CallStats*> algorithms_;
  std::shared_ptr<const CommProfile> profile_;
  std::deque<CallStats> names_;  // copies of the algorithms' records after close()
  TickLine ticks_;
  CommonClock clock_;
};

}  // namespace convene::runtime
