// SPDX-License-Identifier: BSD-3-Clause
// The executor: runs one rank's schedule over PMPI point-to-point.
//
// Two ways to run the same schedule. A program is the compiled order, a list of "issue" and "wait" that was fixed
// beforehand, bound to sizes: it does little more per step than the MPI's own calls. The dynamic loop takes whatever
// completes first. Both keep to the same limits on what is in flight, which the checker has played.
//
// One thread drives a run at a time. Nothing here takes a lock, and nothing is allocated once the arena has grown to
// what the largest run needs (but the MPI may allocate, and makes a datatype for a large message of many pieces).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/arena.hpp"
#include "execute/message.hpp"
#include "execute/program.hpp"
#include "mpi/tags.hpp"
#include "schedule/core/order.hpp"
#include "schedule/core/schedule.hpp"
#include "schedule/online/online_algorithm.hpp"

namespace convene::execute {

class OnlineRun;
class SharedMemory;

/// A schedule bound to a communicator and to memory, ready to run.
struct Binding {
  const Schedule* schedule = nullptr;
  const OnlineAlgorithm* online =
      nullptr;  ///< where there is one, it says what to do; the schedule has no steps
  Buffers buffers;
  SharedMemory* shared_memory = nullptr;  ///< for shared places and signals; its run has begun
  Operator op = {};                       ///< for combines: a schedule without them needs none
  MPI_Comm comm = MPI_COMM_NULL;          ///< Convene's own; errors are returned
  std::uint32_t collective_number = 0;    ///< on this communicator, equal on all ranks
  std::uint32_t persistent_number = 0;    ///< of a persistent operation, from 1, likewise
  std::uint32_t run = 0;                  ///< of a persistent operation: counts its runs

  Tags tags() const { return Tags(collective_number, persistent_number); }
  std::byte* at(Buffer buffer, std::ptrdiff_t offset) const { return buffers[buffer].base() + offset; }
};

/// Whether no run before holds the memory that a schedule shares: a run waits for that.
bool has_memory(const Binding& binding);

/// Runs a program that fits the binding's buffers. Returns MPI_SUCCESS or the first error of the MPI. The arena must have
/// been reset.
int run_program(const Binding& binding, const Program& program, Arena& arena);

/// Runs dynamically. With a non-zero `shuffle`, ready steps are issued in a random order drawn from it (a test's means
/// to show that no order matters).
int run_dynamic(const Binding& binding, const Limits& limits, Arena& arena, std::uint64_t shuffle = 0);

/// A dynamic run that never waits: it is taken further a little at a time. The binding and the arena must outlive it.
class StepwiseRun {
 public:
  /// With a buffer that is `awaited`, steps that touch it directly are held back until it has come().
  StepwiseRun(const Binding& binding, const Limits& limits, Arena& arena,
              std::optional<Buffer> awaited = std::nullopt);
  ~StepwiseRun();

  /// The awaited buffer is there now: to be called once.
  void come();

  /// Completes what has come and issues what is ready. Returns MPI_SUCCESS or the first error of the MPI, after which
  /// the run is over; `done` tells that all is done.
  int advance(bool& done);

  /// Ends a run of which nothing has come, since nobody takes part: its receives are cancelled. Not for deciders.
  void cancel();

  /// How many messages are complete, and how many of these while a buffer was awaited.
  std::uint64_t messages() const;
  std::uint64_t early_messages() const;

 private:
  class Run;
  std::unique_ptr<Run> run_;  // one of the two
  std::unique_ptr<OnlineRun> online_run_;
};

}  // namespace convene::execute
