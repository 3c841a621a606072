// SPDX-License-Identifier: BSD-3-Clause
// What a program does with persistent requests, some of which stand for operations of Convene's.
#include "runtime/persistent.hpp"

#include "interpose/door.hpp"

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

CONVENE_REQUESTS(Start, (MPI_Request * request), {
  int code = MPI_SUCCESS;
  return may_be_ours() && convene::start_persistent_request(request, code) ? code : beyond(request);
})

CONVENE_REQUESTS(Startall, (int count, MPI_Request* requests), {
  if (!may_be_ours()) return beyond(count, requests);
  for (int i = 0; i < count; ++i) {
    int code = MPI_SUCCESS;
    if (!convene::start_persistent_request(requests + i, code)) code = beyond(1, requests + i);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
})

CONVENE_REQUESTS(Request_free, (MPI_Request * request), {
  if (may_be_ours() && request) convene::forget_persistent_request(*request);
  return beyond(request);
})
