// SPDX-License-Identifier: BSD-3-Clause
// Shared memory for several runs at once: lanes, each a SharedMemory of its own.
//
// Design notes on non-blocking calls in shared memory
// - MPI requires that all ranks start the non-blocking collectives of a communicator in the same order. So
//   operations are numbered at their start, equally on all ranks, and operation n uses lane n mod `number`.
// - The start of an operation waits for nothing. Its first stage waits, by polling, until this rank has
//   ended all earlier operations of the lane: LaneTurn::is_current(). Then it starts the lane's next run, as
//   a blocking call does, and its second stage waits until the run's half of the lane is free:
//   SharedMemory::is_free(). Operations beyond the number of lanes queue that way. An operation depends on
//   earlier ones only.
// - A run is over on a rank when all steps of that rank are done, not when the program completes its
//   request. Other ranks reuse a half only after that, however late it is.
// - Each lane has words of its own, so that runs may end in any order. Blocking calls have another memory:
//   their fast path knows nothing of lanes. Persistent operations may be started in any order on each rank,
//   so each has a memory of its own, whose runs follow each other.
// - An operation that waits is progressed by every wait of this rank, as one that waits for messages is:
//   that includes the waits of blocking calls in shared memory (execute/step_run.hpp, run_beside_others()).
// - Mapping memory is collective and waits: blocking calls and the creation of persistent operations do it.
//   A non-blocking call that needs more than is mapped is native. All ranks know what is mapped, and what a
//   call needs.
// - Threads: the program's thread takes turns, in the order of its calls; the driver of operations alone
//   (runtime/progress/progress_engine.hpp) calls everything else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/shared_memory.hpp"

namespace convene::transport {

class SharedLanes {
 public:
  /// Runs at once; others wait for their turn.
  static constexpr std::size_t number = 4;

  /// Bytes of memory for `ranks` ranks that share at most `data` bytes in each run.
  static std::size_t bytes(std::size_t ranks, std::size_t data);

  /// See SharedMemory.
  SharedLanes(const std::shared_ptr<std::byte>& memory, const std::vector<Rank>& ranks, Rank own,
              std::size_t data);

  /// Bytes per run.
  std::size_t capacity() const { return lanes_.front()->memory.capacity(); }

 private:
  friend class LaneTurn;
  struct Lane {
    SharedMemory memory;
    std::uint64_t ended = 0;  // operations that are over on this rank
  };

  std::array<std::unique_ptr<Lane>, number> lanes_;
  std::uint64_t taken_ = 0;  // turns so far
};

/// Turn of an operation in its lane. Take turns in the order in which all ranks start their operations.
class LaneTurn {
 public:
  explicit LaneTurn(std::shared_ptr<SharedLanes> lanes);

  /// True if this rank has ended the lane's earlier operations: the operation may begin a run in memory().
  bool is_current() const { return lane_.ended == turn_; }
  SharedMemory& memory() const { return lane_.memory; }
  /// This rank has ended the operation, and its run in the memory. Call it once, after the turn has come.
  void end() { ++lane_.ended; }

 private:
  const std::shared_ptr<SharedLanes> lanes_;
  const std::uint64_t turn_;  // counted in the lane
  SharedLanes::Lane& lane_;
};

}  // namespace convene::transport
