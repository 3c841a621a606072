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

/// The same behind the exception barrier. (Not inline, and all arguments by value: on the fast path none of
/// it is in memory. The fast path itself has no barrier: rerun_program() and rerun_barrier() have one each.)
template <class Complete, class Function>
[[gnu::noinline]] int run_in_full(CallKey key, MPI_Comm comm, const Form& form, Complete complete,
                                  Function native) {
  try {
    return run_any(key, comm, form, complete, NativeCall(native));
  } catch (...) {
    return report_exception_in_call(comm);
  }
}

/// Finds the communicator's handle, takes the fast path or completes the arguments, and runs the call in its
/// form. (Always inline: after a wait that has yielded to other processes each return from a call is slow,
/// which is measurable in short calls.)
template <class Complete, class Function>
[[gnu::always_inline]] inline int run_unrecorded(const CallKey& key, const void* sendbuf, void* recvbuf,
                                                 MPI_Comm comm, const Form& form, const Complete& complete,
                                                 const Function& native) {
  if (Communicator* const communicator = Communicator::of(comm);
      communicator && form.is_blocking() && progress::may_block()) {
    const FastPath& last = communicator->fast_path();
    if (last.is_for(key)) return rerun(sendbuf, recvbuf, *communicator, native);
    if (const RepeatedCall* const earlier = last.natives.find(key))
      return count_repeated(*earlier, *communicator, [native]() CONVENE_INLINE { return native(blocking); });
  }
  return run_in_full(key, comm, form, complete, native);
}

template <class Complete, class Function>
[[gnu::noinline]] int run_recorded(CallKey key, const void* sendbuf, void* recvbuf, MPI_Comm comm,
                                   const Form& form, Complete complete, Function native) {
  try {
    RecordedScope scope(key, comm, form, record_starts);
    return scope.end(run_unrecorded(key, sendbuf, recvbuf, comm, form, complete, native));
  } catch (...) {
    return report_exception_in_call(comm);
  }
}

/// Runs a call. `complete(arguments)` fills in the sides; rank, procs, root and communicator are set before.
template <class Complete, class Function>
[[gnu::always_inline]] inline int run(const CallKey& key, const void* sendbuf, void* recvbuf, MPI_Comm comm,
                                      const Form& form, const Complete& complete, const Function& native) {
  if (recorder::may_be_on()) [[unlikely]]
    return run_recorded(key, sendbuf, recvbuf, comm, form, complete, native);
  return run_unrecorded(key, sendbuf, recvbuf, comm, form, complete, native);
}

/// The same if blocks may differ: such a call is never recognised as a repeated one.
template <class Complete, class Function>
[[gnu::always_inline]] inline int run(Collective collective, MPI_Comm comm, int root, const Form& form,
                                      const Complete& complete, const Function& native) {
  return run(CallKey{.collective = collective, .root = root}, nullptr, nullptr, comm, form, complete, native);
}

}  // namespace convene::runtime
