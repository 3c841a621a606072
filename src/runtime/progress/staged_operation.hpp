// SPDX-License-Identifier: BSD-3-Clause
// Stage machine of operations that progress step by step: non-blocking, persistent, declared and
// early-started ones.
//
// An operation is a sequence of stages. Each is polled until it has ended; then the next one starts at once.
// The first error ends the sequence. The driver of advance() owns the state of the stages.
#pragma once

#include <cstdint>
#include <type_traits>

#include "execute/executor.hpp"
#include "runtime/progress/progress_engine.hpp"

namespace convene::runtime {

/// Result of polling a stage.
struct Polled {
  enum class What : std::uint8_t { waiting, next, over } what = What::waiting;
  int code = MPI_SUCCESS;  ///< of an operation that is over

  static Polled waiting() { return {}; }
  static Polled next() { return {What::next}; }
  static Polled over(int code = MPI_SUCCESS) { return {What::over, code}; }
  /// `next` if done, else `waiting`; `over` after an error.
  static Polled when(bool done, int code = MPI_SUCCESS) {
    if (code != MPI_SUCCESS) return over(code);
    return done ? next() : waiting();
  }
};

/// The stage of an operation, of an enumeration in the order of the sequence.
template <class Stage>
class StageMachine {
 public:
  void restart(Stage first = Stage{}) { stage_ = first; }
  Stage stage() const { return stage_; }

  /// Polls stages as far as possible without waiting. True when the operation is over: `code` then is its
  /// result.
  template <class Poll>
  bool advance(const Poll& poll, int& code) {
    for (;;) {
      const Polled polled = poll(stage_);
      if (polled.what == Polled::What::waiting) return false;
      if (polled.what == Polled::What::over) {
        code = polled.code;
        return true;
      }
      stage_ = static_cast<Stage>(static_cast<std::underlying_type_t<Stage>>(stage_) + 1);
    }
  }

 private:
  Stage stage_{};
};

/// Advances a run, and notes progress if messages completed.
inline int advance_run(StepwiseRun& run, bool& done) {
  const std::uint64_t before = run.messages();
  const int code = run.advance(done);
  if (run.messages() != before) progress::note_movement();
  return code;
}

}  // namespace convene::runtime
