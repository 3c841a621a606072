// SPDX-License-Identifier: BSD-3-Clause
// The executor: runs one rank's schedule over a transport.
//
// Two ways to run the same schedule. A program is the compiled order, a list of "issue" and "wait" that was
// fixed beforehand, bound to sizes: it does little more per step than native calls. The dynamic loop takes
// whatever completes first. Both keep to the same limits on what is in flight, which the checker has
// simulated.
//
// One thread drives a run at a time. Nothing here takes a lock, and nothing is allocated once the arena has
// grown to what the largest run needs (but the MPI may allocate, and makes a datatype for a large message of
// many pieces).
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
/// steps are issued in a random order drawn from it (a test's means to show that no order matters).
int run_dynamic(const Binding& binding, const Limits& limits, Arena& arena, std::uint64_t shuffle = 0);

/// A dynamic run that never waits: each call of advance() takes it a little further. The binding and the
/// arena must outlive it.
class StepwiseRun {
 public:
  /// With a buffer that is `held_back`, steps that touch it directly wait for input_arrived().
  StepwiseRun(const Binding& binding, const Limits& limits, Arena& arena,
              std::optional<Buffer> held_back = std::nullopt);
  ~StepwiseRun();

  /// Releases the buffer that was held back. To be called once.
  void input_arrived();

  /// Completes what has arrived and issues what is ready. Returns MPI_SUCCESS or the transport's first error,
  /// after which the run is over. `done`: the run is complete.
  int advance(bool& done);

  /// Ends a run of which nothing has arrived, since no other rank takes part: its receives are cancelled. Not
  /// for online algorithms.
  void cancel();

  /// Number of complete messages, and of those that completed while a buffer was held back.
  std::uint64_t messages() const;
  std::uint64_t early_messages() const;

 private:
  class Run;
  template <class T>
  class ScheduleRun;
  template <class T>
  class AlgorithmRun;
  std::unique_ptr<Run> run_;
};

}  // namespace convene::execute
