// SPDX-License-Identifier: BSD-3-Clause
// The executor: runs one rank's schedule over a transport.
//
// Two ways to run the same schedule. A program is the compiled order, a fixed list of "issue" and "wait",
// bound to sizes: it does little more per step than native calls. The dynamic loop completes messages in any
// order. Both obey the same limits on operations in flight, which the checker has simulated.
//
// One thread drives a run at a time. Nothing here takes a lock, and nothing is allocated once the arena has
// grown to the size of the largest run (but the MPI may allocate, and creates a datatype for a large message
// of many pieces).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/arena.hpp"
#include "execute/binding.hpp"
#include "execute/program.hpp"
#include "execute/program_run.hpp"
#include "schedule/core/order.hpp"

namespace convene::execute {

/// Runs dynamically. Returns MPI_SUCCESS or the transport's first error. With a non-zero `shuffle`, ready
/// steps are issued in a random order drawn from it (for tests that the order does not matter).
int run_dynamic(const Binding& binding, const Limits& limits, Arena& arena, std::uint64_t shuffle = 0);

/// A dynamic run that never waits: each call of advance() makes progress. The binding and the arena must
/// outlive it, and the arena must not be reset before.
class StepwiseRun {
 public:
  /// Steps that directly touch a `held_back` buffer wait for input_arrived().
  StepwiseRun(const Binding& binding, const Limits& limits, Arena& arena,
              std::optional<Buffer> held_back = std::nullopt);
  ~StepwiseRun();

  /// Releases the buffer that was held back. Call it once.
  void input_arrived();

  /// Completes arrived messages and issues ready steps. Returns MPI_SUCCESS or the transport's first error,
  /// after which the run is over. `done`: the run is complete.
  int advance(bool& done);

  /// Ends a run in which no other rank takes part, so that nothing has arrived: cancels its receives. Not for
  /// online algorithms.
  void cancel();

  /// Number of complete messages and signals, and of those that completed while a buffer was held back.
  std::uint64_t messages() const;
  std::uint64_t early_messages() const;

 private:
  class Run;
  template <class T>
  class ScheduleRun;
  template <class T>
  class AlgorithmRun;
  struct Destroy {
    void operator()(Run* run) const;
  };
  std::unique_ptr<Run, Destroy> run_;  // in the arena
};

}  // namespace convene::execute
