// SPDX-License-Identifier: BSD-3-Clause
// Profile: the algorithms that ran, their reasons, number of calls and times. Counted per communicator, kept
// when it is freed, and written as one JSON file per rank when the program finalizes.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <string>
#include <string_view>

#include "collective/core/call.hpp"

namespace convene::runtime {

/// Counts for one (collective, algorithm, reason, power of two of bytes per block) on a communicator.
///
/// Two readings of the clock (about 36 ns) cost more than all other overhead of Convene in a native call. So
/// calls in quick succession are timed in parts: one in a few, and fewer the more have been timed. A timed
/// call stands for itself and for those since the previous timed one. (What counts is the time between calls:
/// it bounds both the cost of the clock and the time that a call between two timed ones can have taken.)
struct CallStats {
  std::uint64_t calls = 0, bytes = 0;  ///< bytes: per block, summed over the calls
  Collective collective = Collective::allgather;
  /// For calls that end after they have returned. The driver of progress counts them, possibly in another
  /// thread than that of calls that end at once: so they have a separate record, merged in the output.
  bool ends_later = false;
  std::uint8_t untimed = 0;   ///< number of calls until the next one that is to be timed
  unsigned size_class = 0;    ///< bit width of the bytes per block
  std::uint64_t timed = 0;    ///< number of timed calls; the following fields are of these, in ticks
  std::uint64_t covered = 0;  ///< number of calls that they stand for
  std::uint64_t ticks = 0;    ///< of the calls that they stand for
  std::uint64_t least = UINT64_MAX, most = 0, last = 0;
  std::uint64_t last_end = 0;  ///< when the last one returned
  std::string algorithm;       ///< with its parameters, as in CONVENE_USE
  std::string reason;

  /// True if the next call is to be timed.
  bool is_due() const { return untimed == 0; }
  /// Counts a call that is not timed. Requires that none is due.
  void count(std::uint64_t block_bytes) {
    ++calls;
    bytes += block_bytes;
    --untimed;
  }
  /// Counts a timed call.
  void add(std::uint64_t start, std::uint64_t end, std::uint64_t block_bytes);
  /// Of all calls, extrapolated from the timed ones.
  double all_ticks() const {
    return covered ? static_cast<double>(ticks) * (static_cast<double>(calls) / static_cast<double>(covered))
                   : 0;
  }
  void merge(const CallStats& other);
};

/// Declarations and forecasts before the runs of operations of one collective with one algorithm.
struct PhaseStats {
  Collective collective = Collective::allgather;
  std::string algorithm;
  std::uint64_t runs = 0;                       ///< of the operations, with and without a declared phase
  std::uint64_t phases = 0, forecasts = 0;      ///< phases declared, and those of them that were forecast
  double phase_seconds = 0, error_seconds = 0;  ///< their duration; the error of the forecasts
  std::uint64_t messages = 0,
                early_messages = 0;  ///< of the runs; those of them before the end of the own phase

  void merge(const PhaseStats& other);
};

/// The records of one communicator, or of all freed ones of a shape. (Lists: the addresses of records are
/// stable, and most communicators have few.)
struct CommProfile {
  Rank procs = 0, nodes = 0;  ///< nodes: 0 if unknown
  std::list<CallStats> records;
  std::list<PhaseStats> phases;

  CallStats& find_or_add(Collective collective, std::string_view algorithm, std::string_view reason,
                         unsigned size_class, bool ends_later = false);
  PhaseStats& find_or_add_phases(Collective collective, const std::string& algorithm);
  /// Adds all counts of another profile. Records of one kind are merged, regardless of when the calls ended.
  void merge(const CommProfile& other);
};

/// Usage of the progress thread.
struct ProgressThreadUsage {
  bool ran = false;
  double cpu_seconds = 0;
  std::uint64_t polls = 0;
};

/// All reports of this process.
class ProfileRegistry {
 public:
  static ProfileRegistry& instance();

  /// Keeps the profile of a communicator that is freed.
  void retire(const CommProfile& profile);

  /// A message for the users of the program (such as a declared fallback); each is kept once. At log level
  /// info rank 0 of the program also prints it.
  void declare(const std::string& sentence);
  /// A message about an unavailable requested feature: rank 0 always prints it, unless `convene run` will.
  void warn(const std::string& sentence);

  /// Notes the usage of the progress thread. Called, if one was requested, when it starts and when it ends.
  void note_progress_thread(const ProgressThreadUsage& usage);

  /// Writes the profile file, if requested. Call it while the MPI still works.
  void write(const std::deque<const CommProfile*>& live);

 private:
  struct State;
  void keep(const std::string& sentence, bool prints);
  ProfileRegistry();
  State* state_;  // never freed: programs finalize in any order
};

/// Seconds per tick of base/clock.hpp, measured since the first call.
double seconds_per_tick();

}  // namespace convene::runtime
