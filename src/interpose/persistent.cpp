// SPDX-License-Identifier: BSD-3-Clause
// MPI_Start, MPI_Startall and MPI_Request_free: a persistent request may represent an operation of Convene's,
// or its starts may be recorded. All other requests pass through.
#include "interpose/persistent.hpp"

#include "interpose/interposition.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/run/persistent_operation.hpp"

namespace convene::interpose {
namespace {

using Function = int (*)(MPI_Request*);
constinit NextFunction<Function> next_start("MPI_Start");
constinit NextFunction<int (*)(int, MPI_Request*)> next_startall("MPI_Startall");
constinit NextFunction<Function> next_request_free("MPI_Request_free");

bool may_be_ours() {
  return interposition_state.load(std::memory_order_relaxed) == 1 && has_persistent_requests();
}

}  // namespace

int start_request(MPI_Request* request) {
  const Function native = next_start.get(recorder::caller);
  if (!may_be_ours()) return native(request);
  return guarded(MPI_COMM_NULL, [&] { return start_persistent_request(request, native); });
}

int start_requests(int count, MPI_Request* requests) {
  if (!may_be_ours()) return next_startall.get(recorder::caller)(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start_request(requests + i); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int free_request(MPI_Request* request) {
  if (may_be_ours() && request) forget_persistent_request(*request);
  return next_request_free.get(recorder::caller)(request);
}

}  // namespace convene::interpose

/// Defines one MPI function.
#define CONVENE_REQUESTS(name, parameters, does)                            \
  extern "C" int convene_persistent_##name parameters __asm__("MPI_" #name) \
      __attribute__((visibility("default")));                               \
  extern "C" int convene_persistent_##name parameters {                     \
    convene::runtime::recorder::note_caller(__builtin_return_address(0));   \
    return convene::interpose::does;                                        \
  }

CONVENE_REQUESTS(Start, (MPI_Request * request), start_request(request))
CONVENE_REQUESTS(Startall, (int count, MPI_Request* requests), start_requests(count, requests))
CONVENE_REQUESTS(Request_free, (MPI_Request * request), free_request(request))
