// SPDX-License-Identifier: BSD-3-Clause
// Shared memory of the ranks of a node: places for data, and words for signals.
//
// Design notes on threads
// - One run at a time uses it, the same on all ranks, with the same size and in the same order: runs are
//   numbered, and all ranks compute the same places. (For several at once: shared_lanes.hpp.)
// - There are two halves. Successive runs use successive places of a half until one does not fit or the half
//   has had runs_per_half runs; then the other half follows. A run that is the first in a half waits
//   until all ranks have ended the half's previous runs (each rank has a word for that). All other runs start
//   at once: acknowledgements are read once per half.
// - A signal is a word for each pair of ranks and each run of both halves, written by one rank and read by
//   the other: the number of the run and, below it, the number of messages signalled. It only grows, so a
//   rank that polls late misses nothing; signals to one rank are given in order (the checker verifies that).
// - A signal's word lies in a cache line of its own, which may carry up to carried_bytes of data: then a run
//   has no shared data, each rank keeps its copy of the places (begin_carrying()), and the receiver takes the
//   data with the signal. At most one signal of each pair in a run can do that.
// - Nothing is allocated after construction: a rank that failed in a run would leave others waiting.
// - Written with release, read with acquire: what a rank wrote before its signal is visible to the rank that
//   awaited it.
// - Long copies are written with the stores that took less time (store_trials.hpp).
// - A waiting rank polls, progresses the transport from time to time (a legal program may need that, so also
//   every few runs without long waits), and yields. Where ranks share cores, it sleeps (doorbells.hpp): all
//   ranks agree on that when they map the memory, since those that signal must ring. Halves have more runs
//   then: a switch between processes takes as long as many runs, and one that waits for a half needs two.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "schedule/core/schedule.hpp"
#include "transport/doorbells.hpp"
#include "transport/store_trials.hpp"

namespace convene::transport {

class SharedMemory {
 public:
  /// Runs in a half: `one` if little is gained by more, `many` for calls that follow each other, `most` for
  /// ranks that share cores: one that has the core can be that far ahead before it must wait.
  enum class Runs : std::uint8_t { one, many, most };
  /// The same for ranks that sleep while they wait.
  static Runs of_sleepers(Runs runs) { return runs == Runs::one ? runs : Runs::most; }

  /// Bytes of memory for `ranks` ranks that share at most `data` bytes in each run.
  static std::size_t bytes(std::size_t ranks, std::size_t data, Runs runs = Runs::many);

  /// For at most `data` bytes per run, in memory of bytes() that all of these ranks have mapped, in order,
  /// and that was all zero. `ranks` are numbers in the communicator whose runs use it.
  SharedMemory(std::shared_ptr<std::byte> memory, std::vector<Rank> ranks, Rank own, std::size_t data,
               Runs runs = Runs::many);

  /// Ranks sleep in long waits. To be called before the first run, on all ranks or on none.
  void use_bells() { rings_ = true; }
  bool has_bells() const { return rings_; }

  std::size_t capacity() const { return data_; }
  /// Number of the current run.
  std::uint64_t run() const { return run_; }

  /// Starts this rank's next run, with `bytes` bytes of data. Returns their address.
  std::byte* begin(std::size_t bytes);
  /// Starts this rank's next run, in which signals carry the data. Returns the address of private_bytes()
  /// bytes of private memory for this rank's copy of the places.
  std::byte* begin_carrying();
  /// Enough for two places, of a cache line each, of every rank; for few ranks, of every pair.
  std::size_t private_bytes() const { return copies_.size() * sizeof(Line); }
  /// True if the run may use its data and signals: the previous runs in its half are over on all ranks.
  bool is_free() { return awaited_ <= ended_by_all_ || look_for_end(); }
  void end();

  /// True if the run writes with non-temporal stores (long copies).
  bool streams() const { return trials_.streams(); }
  /// Calls wait(), whose time is not the run's own.
  template <class Wait>
  auto wait_by(Wait&& wait) {
    if (!trials_.is_timed()) return wait();
    const std::uint64_t start = base::ticks();
    const auto result = wait();
    started_ += base::ticks() - start;
    return result;
  }

  /// Both count the messages of a pair from 0, like Step::match.
  void signal(Rank to, std::uint32_t match);
  bool is_signalled(Rank from, std::uint32_t match) const;

  /// With bells: sleeps until `holds()`, which waits for signals of that rank; without one, of any rank. May
  /// return early.
  template <class Holds>
  Doorbells::Outcome sleep(std::optional<Rank> from, std::uint64_t timeout_ns, Holds&& holds) {
    return bells_.sleep(from ? Doorbells::signal_from(number_[*from]) : Doorbells::any_signal, timeout_ns,
                        holds);
  }
  /// The same until a rank that is_free() waits for may have ended its run; never `holds`.
  Doorbells::Outcome sleep_until_ended(std::uint64_t timeout_ns);

  /// Data that a signal may carry.
  static constexpr std::size_t carried_bytes = 56;
  /// A run's only signal to a rank, which carries carried_bytes bytes.
  void signal_with(Rank to, const std::byte* data);
  /// True if it was given by a rank; then copies its data.
  bool take(Rank from, std::byte* data) const;

 private:
  // One cache line each.
  struct alignas(64) Word {
    std::atomic<std::uint64_t> value;
    std::byte data[carried_bytes];
  };
  struct alignas(64) Line {
    std::byte data[64];
  };
  /// What a rank tells the others of its runs.
  struct alignas(64) End {
    std::atomic<std::uint64_t> run;                         // the last one that it has ended
    std::atomic<std::uint64_t> trials[StoreTrials::slots];  // of stores: number and, below it, difference
  };
  static_assert(sizeof(Word) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);
  static_assert(sizeof(End) == sizeof(Word) && alignof(End) == alignof(Word));
  static_assert(sizeof(Doorbells::Bell) == sizeof(Word));

  /// Runs in a half, at most; fewer for many ranks, which have many pairs.
  static std::uint32_t runs_per_half(std::size_t ranks, Runs runs);
  /// Private copies of places.
  static std::size_t copies(std::size_t ranks) {
    return ranks * (ranks <= 16 ? std::max<std::size_t>(2, ranks) : 2);
  }
  static std::size_t words(std::size_t ranks, Runs runs) {
    return 2 * ranks + std::size_t{2} * runs_per_half(ranks, runs) * ranks * ranks;
  }

  End& ended(std::size_t rank) const { return reinterpret_cast<End*>(words_)[rank]; }
  /// A pair's word in the current run.
  Word& word(std::size_t from, std::size_t to) const { return signals_of_run_[from * ranks_.size() + to]; }
  std::uint64_t stamp(std::uint32_t match) const { return run_ << signal_bits | (match + 1); }
  bool look_for_end();
  void change_half();
  void publish(StoreTrials::Outcome outcome) const;
  void judge();

  std::shared_ptr<std::byte> memory_;
  std::vector<Rank> ranks_;            // in order
  std::vector<std::uint32_t> number_;  // by rank of the communicator: its index in `ranks_`
  std::size_t own_, data_;
  std::uint32_t runs_per_half_;
  Word* words_;           // one per rank, another for its bell, then those of the signals
  Word* signals_of_run_;  // those of the current run
  Doorbells bells_;
  bool rings_ = false;
  std::byte* halves_;
  std::vector<Line> copies_;  // of places, in runs whose signals carry the data
  std::uint64_t run_ = 0;
  std::uint32_t half_ = 0, runs_in_half_ = 0;
  std::size_t used_in_half_ = 0;
  std::uint64_t last_in_other_half_ = 0;          // number of that run
  std::uint64_t awaited_ = 0, ended_by_all_ = 0;  // runs up to this one must have, are known to have ended
  StoreTrials trials_;
  std::uint64_t started_ = 0;  // ticks, of a run in a trial; moved on by those in which it waits
};

}  // namespace convene::transport
