// SPDX-License-Identifier: BSD-3-Clause
// One call, from its arguments to the executor and the statistics.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "runtime/arrivals/arrival_autotuner.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/bound_call.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/progress/progress_engine.hpp"

namespace convene::runtime {

/// The native call, in the requested form: used if Convene does not run the call. (Not a std::function: a
/// call must not allocate.)
class NativeCall {
 public:
  template <class Function>
  explicit NativeCall(const Function& function)
      : object_(&function),
        call_([](const void* object, const Form& form) {
          return (*static_cast<const Function*>(object))(form);
        }),
        keep_([](const void* object) {
          return std::function<int(const Form&)>(*static_cast<const Function*>(object));
        }) {}
  int operator()(const Form& form = blocking) const { return call_(object_, form); }
  /// A copy that outlives the program's call.
  std::function<int(const Form&)> kept() const { return keep_(object_); }

 private:
  const void* object_;
  int (*call_)(const void*, const Form&);
  std::function<int(const Form&)> (*keep_)(const void*);
};

/// Call it in a catch block, if a call on `comm` was interrupted: no later one can run there. Returns the
/// error code, after calling the communicator's error handler.
int report_exception_in_call(MPI_Comm comm);
/// Error of a call on a communicator on which an earlier one has failed: the ranks may no longer agree on the
/// number of the call.
int refuse_call(const Communicator& communicator);

/// Runs the program of an earlier call on other buffers. Errors of the MPI go to the communicator's error
/// handler. Does not throw.
int rerun_program(RepeatedProgram& repeated, const void* input, void* output, Communicator& communicator);

/// Ends a call that a lesson needs to know of: `start` in ticks, the call's code. Returns the code. Does not
/// throw.
int note_call(Lesson& lesson, std::uint64_t start, int code, const Communicator& communicator);

/// Counts a repeated call. False, and nothing is counted, if it must be timed, or noted by a lesson.
[[gnu::always_inline]] inline bool count_only(const RepeatedCall& repeated, Communicator& communicator) {
  CallStats& record = *repeated.record;
  if (record.is_due() || communicator.attachment()) return false;
  if (Lesson* const lesson = repeated.lesson; lesson && lesson->needs_attention()) return false;
  communicator.stats().note_last(record, repeated.block_bytes);
  record.count(repeated.block_bytes);
  return true;
}

/// Runs a repeated call, and counts it.
template <class Function>
[[gnu::always_inline]] inline int rerun(const RepeatedCall& repeated, const void* input, void* output,
                                        Communicator& communicator, const Function& native) {
  // A profiling tool behind Convene may call collectives here meanwhile: `repeated` is another one then.
  CallStats& record = *repeated.record;
  const std::uint64_t bytes = repeated.block_bytes;
  communicator.stats().note_last(record, bytes);
  ArrivalAutotuner* const watch = ArrivalAutotuner::of(communicator);
  Lesson* const lesson = repeated.lesson;
  const bool is_noted = lesson && lesson->needs_attention();
  const bool is_timed = record.is_due() || watch || is_noted;
  if (!is_timed) record.count(bytes);
  const std::uint64_t start = is_timed ? ticks() : 0;
  RepeatedProgram* const program = repeated.program.get();
  const int code = program ? rerun_program(*program, input, output, communicator) : native(blocking);
  if (is_timed) record.add(start, ticks(), bytes);
  if (watch) watch->leave(ticks());
  return is_noted ? note_call(*lesson, start, code, communicator) : code;
}

/// True if a blocking barrier repeats the last call, whose program has zero-byte messages only.
[[gnu::always_inline]] inline bool is_repeated_barrier(Communicator& communicator) {
  const RepeatedCall& last = communicator.fast_path().last();
  return last.record && last.has_only_empty_messages && last.key.collective == Collective::barrier &&
         !last.lesson && progress::may_block() && !ArrivalAutotuner::of(communicator);
}
/// Its short way.
int rerun_barrier(Communicator& communicator);

/// Runs a blocking call on a communicator that has a handle. Errors of the MPI go to the communicator's error
/// handler.
int run_blocking(const Arguments& arguments, Communicator& communicator, NativeCall native);

/// Starts a non-blocking call. Of a native call only the start is timed.
int run_non_blocking(const Arguments& arguments, Communicator& communicator, NativeCall native,
                     MPI_Request* request);

/// The inputs of a decision on a call.
CallSignature signature_of(const Arguments& arguments, std::uint64_t total_bytes);

/// A run during which all pending operations progress as well. Waits for its end; returns MPI_SUCCESS or the
/// MPI's error.
int run_beside_others(const Binding& binding, Arena& arena);

/// Agrees on sizes if a call requires it, and waits for the result. Returns MPI_SUCCESS or the MPI's error.
int agree(BoundCall& call, TagWindow& tag_window);

/// Counts a native call on an intercommunicator.
int run_inter(Collective collective, Communicator& communicator, NativeCall native);

}  // namespace convene::runtime
