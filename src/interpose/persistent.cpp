// SPDX-License-Identifier: BSD-3-Clause
// What a program does with persistent requests, some of which stand for operations of Convene's or are recorded.
#include "runtime/persistent.hpp"

#include "interpose/door.hpp"
#include "interpose/fortran_requests.hpp"
#include "runtime/caller.hpp"

namespace {

bool may_be_ours() {
  return convene::door_state.load(std::memory_order_relaxed) == 1 && convene::has_persistent_requests();
}

}  // namespace

/// Defines one MPI function; the body may call `beyond`, the MPI's own.
#define CONVENE_REQUESTS(name, parameters, body)                                                        \
  extern "C" int convene_persistent_##name parameters __asm__("MPI_" #name)                             \
      __attribute__((visibility("default")));                                                           \
  extern "C" int convene_persistent_##name parameters {                                                 \
    static const auto beyond = reinterpret_cast<int(*) parameters>(convene::mpi_symbol("PMPI_" #name)); \
    body                                                                                                \
  }

int convene::start_request(MPI_Request* request) {
  static const auto beyond = reinterpret_cast<int (*)(MPI_Request*)>(mpi_symbol("PMPI_Start"));
  return may_be_ours() ? start_persistent_request(request, beyond) : beyond(request);
}

CONVENE_REQUESTS(Start, (MPI_Request * request), {
  convene::recorder::note_caller(__builtin_return_address(0));
  return may_be_ours() ? convene::start_request(request) : beyond(request);
})

CONVENE_REQUESTS(Startall, (int count, MPI_Request* requests), {
  if (!may_be_ours()) return beyond(count, requests);
  convene::recorder::note_caller(__builtin_return_address(0));
  for (int i = 0; i < count; ++i) {
    const int code = convene::start_request(requests + i);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
})

CONVENE_REQUESTS(Request_free, (MPI_Request * request), {
  if (may_be_ours() && request) convene::forget_persistent_request(*request);
  return beyond(request);
})
