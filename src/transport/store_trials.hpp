// SPDX-License-Identifier: BSD-3-Clause
// Trials of stores: runs on the shared memory of a node write large places with non-temporal or with ordinary
// stores, whichever takes all ranks together less time.
//
// Neither is always faster. Where cores share a cache, the reader of an ordinary store finds the data there:
// a bcast of 1 MiB took 0.55 of Open MPI 5's time, with non-temporal stores 0.9. Where they do not, an
// ordinary store first fetches its line from the reader's cache: 2.1 instead of 0.9. (benchmarks/node.py, 2
// ranks.)
//
// Design notes
// - Sizes are apart, by powers of two. Runs of a size are counted, equally on all ranks, and trials are due
//   at fixed numbers: so all ranks try the same stores in the same run without any agreement.
// - A trial is six runs: two with the present stores, then four with the others, of which two count: each
//   half of the memory must first have been written in the new way, since it matters where its lines are.
//   Each rank adds up the time that it does not wait, as stores of one rank take time of the readers. The
//   difference is published beside the number of the rank's last run, which the others read anyway.
// - Some runs later, when all ranks have surely published theirs, each rank adds up the differences. The
// first
//   trial of a size decides; later ones change the stores only if two in succession say so, since other
//   processes disturb single trials. What a rank decides has no effect on results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace convene::transport {

class StoreTrials {
 public:
  static constexpr std::size_t least_bytes = 16 * 1024;  ///< of a run; below, all runs use ordinary stores

  /// What a rank publishes at the end of a trial.
  struct Outcome {
    std::uint32_t last_run = 0;   ///< number of the trial's last run, modulo 2³²
    std::int32_t difference = 0;  ///< time with the other stores − time with the present ones, 16 ticks
  };

  /// Starts run number `run` with `bytes` bytes of data. True if judge() is due before the run.
  bool begin(std::uint64_t run, std::size_t bytes);
  /// True if the run writes with non-temporal stores.
  bool streams() const { return streams_; }
  /// True if the run belongs to a trial: then its time counts.
  bool is_timed() const { return is_timed_; }
  /// Adds time, in ticks, in which the rank did not wait; at the end of a trial, returns what to publish.
  std::optional<Outcome> end(std::uint64_t busy);

  /// Where a rank publishes the trial of the run's size: sizes that alternate need places of their own.
  static constexpr std::size_t slots = 7;
  std::size_t slot() const { return static_cast<std::size_t>(size_ - sizes_.data()) % slots; }
  /// The trial to judge: an outcome with another number does not belong to it.
  std::uint32_t judged() const { return size_->last_run; }
  /// Takes the sum of all ranks' differences of that trial.
  void judge(std::int64_t difference);

 private:
  struct Size {
    std::uint32_t runs = 0, last_run = 0;
    std::int64_t difference = 0;
    bool streams = true, is_decided = false, is_doubted = false;
  };

  std::array<Size, 12> sizes_;  // from least_bytes on; the last is without limit
  Size* size_ = nullptr;        // of the run
  bool streams_ = false, is_timed_ = false, is_last_ = false, is_other_ = false;
};

}  // namespace convene::transport
