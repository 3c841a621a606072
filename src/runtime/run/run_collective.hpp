// SPDX-License-Identifier: BSD-3-Clause
// Common beginning of all collectives: from MPI's arguments to the common form, and to a run.
#pragma once

#include "runtime/call/failure.hpp"
#include "runtime/record/recorder.hpp"
#include "runtime/run/persistent_operation.hpp"
#include "runtime/run/run.hpp"

namespace convene::runtime {

/// A call that cannot take the fast path. May throw.
template <class Complete>
int run_any(const CallKey& key, MPI_Comm comm, const Form& form, const Complete& complete,
            NativeCall to_native) {
  Communicator* communicator = Communicator::obtain(comm);
  if (communicator && communicator->failure() != MPI_SUCCESS) return refuse_call(*communicator);
  if (!communicator || (communicator->is_inter() && !form.is_blocking()))
    return leave_to_mpi(to_native, form);
  if (communicator->is_inter()) return run_inter(key.collective, *communicator, to_native);
  Arguments arguments{.collective = key.collective,
                      .comm = comm,
                      .procs = communicator->procs(),
                      .rank = communicator->rank(),
                      .root = key.root,
                      .key = key};
  complete(arguments);
  if (form.is_persistent()) return make_persistent(arguments, *communicator, to_native, form);
  return form.request ? run_non_blocking(arguments, *communicator, to_native, form.request)
                      : run_blocking(arguments, *communicator, to_native);
}

/// Repeats an earlier call, or completes the arguments and runs the call in its form. Does not throw.
template <class Complete, class Function>
[[gnu::always_inline]] inline int run_unrecorded(const CallKey& key, const void* sendbuf, void* recvbuf,
                                                 MPI_Comm comm, const Form& form, const Complete& complete,
                                                 const Function& native) try {
  if (Communicator* const communicator = Communicator::of(comm);
      communicator && form.is_blocking() && progress::may_block()) {
    if (const RepeatedCall* const repeated = communicator->fast_path().find(key))
      return rerun(*repeated, sendbuf, recvbuf, *communicator, native);
  }
  return run_any(key, comm, form, complete, NativeCall(native));
} catch (...) {
  return report_exception_in_call(comm);
}

template <class Complete, class Function>
int run_recorded(const CallKey& key, const void* sendbuf, void* recvbuf, MPI_Comm comm, const Form& form,
                 const Complete& complete, const Function& native) try {
  RecordedScope scope(key, comm, form, record_starts);
  return scope.end(run_unrecorded(key, sendbuf, recvbuf, comm, form, complete, native));
} catch (...) {
  return report_exception_in_call(comm);
}

/// Runs a call in full. `complete(arguments)` fills in the sides; rank, procs, root and communicator are set
/// before.
template <class Complete, class Function>
int run(const CallKey& key, const void* sendbuf, void* recvbuf, MPI_Comm comm, const Form& form,
        const Complete& complete, const Function& native) {
  if (recorder::may_be_on()) return run_recorded(key, sendbuf, recvbuf, comm, form, complete, native);
  return run_unrecorded(key, sendbuf, recvbuf, comm, form, complete, native);
}

/// In place of a form: a blocking call that takes the fast path if it repeats an earlier one; else
/// `in_full()` runs it.
template <class InFull>
struct RepeatedOr {
  InFull in_full;
};

/// The fast path. (It needs no memory of its own, and ends in a jump to the MPI or to the program of an
/// earlier call: every call of every program pays for it, and after a wait that has yielded to other
/// processes each return from a call is slow.)
template <class InFull, class Complete, class Function>
[[gnu::always_inline]] inline int run(const CallKey& key, const void* sendbuf, void* recvbuf, MPI_Comm comm,
                                      const RepeatedOr<InFull>& form, const Complete&,
                                      const Function& native) {
  if (Communicator* const communicator = Communicator::last(comm);
      communicator && !recorder::may_be_on() && progress::is_idle()) {
    const RepeatedCall* const repeated = communicator->fast_path().find(key);
    if (repeated && count_only(*repeated, *communicator)) {
      if (RepeatedProgram* const program = repeated->program.get()) [[unlikely]]
        return rerun_program(*program, sendbuf, recvbuf, *communicator);
      return native(blocking);
    }
  }
  return form.in_full();
}

/// The same if blocks may differ: such a call is never recognised as a repeated one.
template <class InFull, class Complete, class Function>
[[gnu::always_inline]] inline int run(Collective, MPI_Comm, int, const RepeatedOr<InFull>& form,
                                      const Complete&, const Function&) {
  return form.in_full();
}
template <class Complete, class Function>
int run(Collective collective, MPI_Comm comm, int root, const Form& form, const Complete& complete,
        const Function& native) {
  return run(CallKey{.collective = collective, .root = root}, nullptr, nullptr, comm, form, complete, native);
}

}  // namespace convene::runtime
