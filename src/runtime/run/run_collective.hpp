// SPDX-License-Identifier: BSD-3-Clause
// How every collective begins: from MPI's arguments to the one form, and on to a run.
#pragma once

#include "runtime/record/recorder.hpp"
#include "runtime/run/persistent_operation.hpp"
#include "runtime/run/run.hpp"

namespace convene::runtime {

/// The way of a call that cannot take the short one. (Not inline, and with a shape of its own: the short way is to be short.)
template <class Complete, class Function>
[[gnu::noinline]] int run_in_full(Shape shape, MPI_Comm comm, const Form& form, const Complete& complete,
                                  const Function& native) {
  Communicator* communicator = Communicator::of(comm);
  const NativeCall to_native(native);
  if (!communicator || (communicator->is_inter() && !form.is_blocking()))
    return leave_to_mpi(to_native, form);
  if (communicator->is_inter()) return run_inter(shape.collective, *communicator, to_native);
  Arguments arguments{.collective = shape.collective,
                      .comm = comm,
                      .procs = communicator->procs(),
                      .rank = communicator->rank(),
                      .root = shape.root,
                      .shape = shape};
  complete(arguments);
  if (form.is_persistent()) return make_persistent(arguments, *communicator, to_native, form);
  return form.request ? run_non_blocking(arguments, *communicator, to_native, form.request)
                      : run_blocking(arguments, *communicator, to_native);
}

/// Finds the communicator's handle, takes the short way or completes the arguments, and runs the call in its form. (Inline
/// in any case: after a wait that has given way to others each return from a call is slow, which short calls show.)
template <class Complete, class Function>
[[gnu::always_inline]] inline int run_unrecorded(const Shape& shape, const void* sendbuf, void* recvbuf,
                                                 MPI_Comm comm, const Form& form, const Complete& complete,
                                                 const Function& native) {
  if (Communicator* communicator = Communicator::of(comm);
      communicator && form.is_blocking() && is_repeated(shape, *communicator))
    return rerun(sendbuf, recvbuf, *communicator, native);
  return run_in_full(shape, comm, form, complete, native);
}

template <class Complete, class Function>
[[gnu::noinline]] int run_recorded(Shape shape, const void* sendbuf, void* recvbuf, MPI_Comm comm,
                                   const Form& form, const Complete& complete, const Function& native) {
  RecordedScope scope(shape, comm, form, record_starts);
  return scope.end(run_unrecorded(shape, sendbuf, recvbuf, comm, form, complete, native));
}

/// Does a call. `complete(arguments)` fills in the sides; rank, procs, root and communicator are there already.
template <class Complete, class Function>
int run(const Shape& shape, const void* sendbuf, void* recvbuf, MPI_Comm comm, const Form& form,
        const Complete& complete, const Function& native) {
  if (recorder::may_be_on()) [[unlikely]]
    return run_recorded(shape, sendbuf, recvbuf, comm, form, complete, native);
  return run_unrecorded(shape, sendbuf, recvbuf, comm, form, complete, native);
}

/// Likewise, where blocks may differ: then no call is known to be the last one again.
template <class Complete, class Function>
int run(Collective collective, MPI_Comm comm, int root, const Form& form, const Complete& complete,
        const Function& native) {
  return run(Shape{.collective = collective, .root = root}, nullptr, nullptr, comm, form, complete, native);
}

}  // namespace convene::runtime
