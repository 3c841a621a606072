// SPDX-License-Identifier: BSD-3-Clause
// How every collective begins: from MPI's arguments to the one form, and on to a run.
#pragma once

#include "runtime/run.hpp"

namespace convene {

/// Does a call: finds the communicator's handle, completes the arguments, and runs it in its form.
/// `complete(arguments)` fills in the sides; rank, procs, root and communicator are there already.
template <class Complete, class Function>
int run(Collective collective, MPI_Comm comm, int root, Form form, const Complete& complete,
        const Function& native) {
  Communicator* communicator = Communicator::of(comm);
  if (!communicator) return native(form.request);
  if (communicator->is_inter())
    return form.request ? native(form.request) : run_inter(collective, *communicator, NativeCall(native));
  Arguments arguments{.collective = collective,
                      .comm = comm,
                      .procs = communicator->procs(),
                      .rank = communicator->rank(),
                      .root = root};
  complete(arguments);
  const NativeCall to_native(native);
  return form.request ? run_non_blocking(arguments, *communicator, to_native, form.request)
                      : run_blocking(arguments, *communicator, to_native);
}

}  // namespace convene
