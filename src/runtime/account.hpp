// SPDX-License-Identifier: BSD-3-Clause
// Accounting: which algorithm ran, why, how often and how long. Counted per communicator, kept when it is freed, and
// written as one JSON file a rank when the program finalizes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "collective/collective.hpp"

namespace convene {

/// What was counted for one (collective, algorithm, reason, power of two of bytes per block) on a communicator.
struct Record {
  Collective collective = Collective::allgather;
  std::string algorithm;  ///< with its parameters, as it would be asked for
  std::string reason;
  unsigned size_class = 0;             ///< bit width of the bytes per block
  std::uint64_t calls = 0, bytes = 0;  ///< bytes: per block, added up over the calls
  std::uint64_t ticks = 0, least = UINT64_MAX, most = 0, last = 0;

  void add(std::uint64_t took, std::uint64_t block_bytes) {
    ++calls;
    bytes += block_bytes;
    ticks += took;
    last = took;
    if (took < least) least = took;
    if (took > most) most = took;
  }
  void merge(const Record& other);
};

/// The records of one communicator, or of all freed ones of a shape. (A deque: records stay where they are.)
struct Account {
  Rank procs = 0, nodes = 0;  ///< nodes: 0 where nobody has looked
  std::deque<Record> records;

  Record& find_or_add(Collective collective, const std::string& algorithm, const std::string& reason,
                      unsigned size_class);
  void merge(const Account& other);
};

/// Everything that this process has to report.
class Ledger {
 public:
  static Ledger& instance();

  /// Keeps the account of a communicator that is freed.
  void retire(const Account& account);

  /// A sentence for the people who run the program (a declared fallback, say); each is kept once. At log level info or
  /// debug rank 0 of the program also prints it.
  void declare(const std::string& sentence);

  /// Writes the account file, if one was asked for. To be called while the MPI still works.
  void write(const std::deque<const Account*>& live);

 private:
  struct State;
  Ledger();
  State* state_;  // never freed: programs finalize in odd orders
};

/// Seconds per tick of base/clock.hpp, measured since the first call.
double seconds_per_tick();

}  // namespace convene
