// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of the ranks of a node: places for data, and words for signals.
//
// Design notes on threads
// - One run at a time uses it, the same on all ranks and in the same order: runs are numbered. Run n uses the
//   same half of the data as run n − 2, so it starts when all ranks have ended run n − 2 (each has a word for
//   that).
// - A signal is a word for each pair of ranks, written by one and read by the other: the number of the run
//   and, below it, the number of messages signalled. It only grows, so a rank that polls late misses nothing;
//   signals to one rank are given in order (the checker verifies that).
// - Written with release, read with acquire: what a rank wrote before its signal is visible to the rank that
//   awaited it.
// - A waiting rank polls, progresses the transport from time to time (a legal program may need that, so also
//   every few runs without long waits), and yields.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::transport {

class SharedMemory {
 public:
  /// Bytes of memory for `ranks` ranks that share `data` bytes in each run.
  static std::size_t bytes(std::size_t ranks, std::size_t data);

  /// For `data` bytes per run, in memory of bytes() that all of these ranks have mapped, in order, and that
  /// was all zero. `ranks` are numbers in the communicator whose runs use it.
  SharedMemory(std::shared_ptr<std::byte> memory, std::vector<Rank> ranks, Rank own, std::size_t data);

  std::size_t capacity() const { return data_; }
  /// Number of the current run.
  std::uint64_t run() const { return run_; }

  /// Starts this rank's next run. Returns the address of its data.
  std::byte* begin();
  /// True if the run may use its data: the run before the previous one is over on all ranks.
  bool is_free();
  void end();

  /// Both count the messages of a pair from 0, like Step::match.
  void signal(Rank to, std::uint32_t match);
  bool is_signalled(Rank from, std::uint32_t match) const;

 private:
  // One cache line each.
  struct alignas(64) Word {
    std::atomic<std::uint64_t> value;
  };
  static_assert(sizeof(Word) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

  Word& word(std::size_t from, std::size_t to) const { return words_[from * ranks_.size() + to]; }
  /// Number of the last run that a rank has ended, stored as its signal to itself.
  Word& ended(std::size_t rank) const { return word(rank, rank); }
  std::uint64_t stamp(std::uint32_t match) const { return run_ << signal_bits | (match + 1); }

  std::shared_ptr<std::byte> memory_;
  std::vector<Rank> ranks_;            // in order
  std::vector<std::uint32_t> number_;  // by rank of the communicator: its index in `ranks_`
  std::size_t own_ = 0, data_;
  Word* words_;
  std::uint64_t run_ = 0, free_until_ = 2;  // runs up to this one may use their data
};

}  // namespace convene::transport
