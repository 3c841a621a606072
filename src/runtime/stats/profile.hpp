// SPDX-License-Identifier: BSD-3-Clause
// Accounting: which algorithm ran, why, how often and how long. Counted per communicator, kept when it is
// freed, and written as one JSON file a rank when the program finalizes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "collective/core/call.hpp"

namespace convene::runtime {

/// What was counted for one (collective, algorithm, reason, power of two of bytes per block) on a
/// communicator.
struct CallStats {
  Collective collective = Collective::allgather;
  std::string algorithm;  ///< with its parameters, as it would be asked for
  std::string reason;
  unsigned size_class = 0;  ///< bit width of the bytes per block
  /// Of calls that end after they have returned. Whoever drives progress then counts them, perhaps in another
  /// thread than the one whose calls end at once: they have a record of their own, and are one in what is
  /// written.
  bool ends_later = false;
  std::uint64_t calls = 0, bytes = 0;  ///< bytes: per block, added up over the calls
  std::uint64_t timed = 0;  ///< how many of the calls a clock was read for; the following are of these
  std::uint64_t ticks = 0, least = UINT64_MAX, most = 0, last = 0;

  /// Whether the next call, which is like the last one, is to be timed. Two readings of the clock (about 36
  /// ns) are more than all the rest that Convene adds to a call of the MPI's own: of short ones, every eighth
  /// is timed.
  bool is_due() const {
    constexpr std::uint64_t short_ticks = 20'000;  // some microseconds on every machine
    return last > short_ticks || calls % 8 == 0;
  }
  void count(std::uint64_t block_bytes) {
    ++calls;
    bytes += block_bytes;
  }
  void add(std::uint64_t took, std::uint64_t block_bytes) {
    count(block_bytes);
    ++timed;
    ticks += took;
    last = took;
    if (took < least) least = took;
    if (took > most) most = took;
  }
  /// Of all calls, from those that were timed.
  double all_ticks() const {
    return timed ? static_cast<double>(ticks) * (static_cast<double>(calls) / static_cast<double>(timed)) : 0;
  }
  void merge(const CallStats& other);
};

/// What was declared and forecast before the runs of operations of one collective by one algorithm.
struct PhaseStats {
  Collective collective = Collective::allgather;
  std::string algorithm;
  std::uint64_t runs = 0;                       ///< of the operations, with and without a declared phase
  std::uint64_t phases = 0, forecasts = 0;      ///< phases declared, and those of them that were forecast
  double phase_seconds = 0, error_seconds = 0;  ///< how long they took; by how much the forecasts were wrong
  std::uint64_t messages = 0,
                early_messages = 0;  ///< of the runs; and how many of them before the own phase's end

  void merge(const PhaseStats& other);
};

/// The records of one communicator, or of all freed ones of a shape. (A deque: records stay where they are.)
struct CommProfile {
  Rank procs = 0, nodes = 0;  ///< nodes: 0 where nobody has looked
  std::deque<CallStats> records;
  std::deque<PhaseStats> phases;

  CallStats& find_or_add(Collective collective, const std::string& algorithm, std::string_view reason,
                         unsigned size_class, bool ends_later = false);
  PhaseStats& find_or_add_phases(Collective collective, const std::string& algorithm);
  /// Adds all that another one counted. Records of one kind become one, when ever the calls ended.
  void merge(const CommProfile& other);
};

/// The thread that progresses operations in the background.
struct ProgressThreadUsage {
  bool ran = false;
  double cpu_seconds = 0;
  std::uint64_t polls = 0;
};

/// Everything that this process has to report.
class ProfileRegistry {
 public:
  static ProfileRegistry& instance();

  /// Keeps the account of a communicator that is freed.
  void retire(const CommProfile& account);

  /// A sentence for the people who run the program (a declared fallback, say); each is kept once. At log
  /// level info rank 0 of the program also prints it.
  void declare(const std::string& sentence);
  /// The same, of what was asked for and cannot be had: rank 0 always prints it, unless `convene run` will.
  void warn(const std::string& sentence);

  /// Notes what the background thread used. Called where one was asked for: when it starts, and when it ends.
  void note_progress_thread(const ProgressThreadUsage& usage);

  /// Writes the account file, if one was asked for. To be called while the MPI still works.
  void write(const std::deque<const CommProfile*>& live);

 private:
  struct State;
  void keep(const std::string& sentence, bool prints);
  ProfileRegistry();
  State* state_;  // never freed: programs finalize in odd orders
};

/// Seconds per tick of base/clock.hpp, measured since the first call.
double seconds_per_tick();

}  // namespace convene::runtime
