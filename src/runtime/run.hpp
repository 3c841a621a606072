// SPDX-License-Identifier: BSD-3-Clause
// One call, from its arguments to the executor and the account.
#pragma once

#include "runtime/arguments.hpp"
#include "runtime/communicator.hpp"

namespace convene {

/// The MPI's own form of a blocking call: what to do where Convene does not run it. (Not a std::function: a call must not
/// allocate.)
class NativeCall {
 public:
  template <class Function>
  explicit NativeCall(const Function& function)
      : object_(&function), call_([](const void* object, MPI_Request* request) {
          return (*static_cast<const Function*>(object))(request);
        }) {}
  int operator()(MPI_Request* request = nullptr) const { return call_(object_, request); }

 private:
  const void* object_;
  int (*call_)(const void*, MPI_Request*);
};

/// Runs a blocking call on a communicator that has a handle. Errors of the MPI go to the communicator's error handler.
int run_blocking(const Arguments& arguments, Communicator& communicator, NativeCall native);

/// Starts a non-blocking one. Of a native call only its start is timed.
int run_non_blocking(const Arguments& arguments, Communicator& communicator, NativeCall native,
                     MPI_Request* request);

/// Counts a native call on an intercommunicator.
int run_inter(Collective collective, Communicator& communicator, NativeCall native);

}  // namespace convene
