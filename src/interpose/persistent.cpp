// SPDX-License-Identifier: BSD-3-Clause
// What a program does with persistent requests: some of them stand for operations of Convene's.
#include "runtime/persistent.hpp"

#include "interpose/door.hpp"

namespace {

template <class Function>
Function* beyond(const char* name) {
  return reinterpret_cast<Function*>(convene::mpi_symbol(name));
}

bool may_be_ours() {
  return convene::door_state.load(std::memory_order_relaxed) == 1 && convene::has_persistent_requests();
}

int start(MPI_Request* request) {
  int code = MPI_SUCCESS;
  return convene::start_persistent_request(request, code) ? code
                                                          : beyond<int(MPI_Request*)>("PMPI_Start")(request);
}

}  // namespace

#define CONVENE_REQUESTS(name, parameters)                                  \
  extern "C" int convene_persistent_##name parameters __asm__("MPI_" #name) \
      __attribute__((visibility("default")));                               \
  extern "C" int convene_persistent_##name parameters

CONVENE_REQUESTS(Start, (MPI_Request * request)) {
  if (!may_be_ours()) return beyond<int(MPI_Request*)>("PMPI_Start")(request);
  return start(request);
}

CONVENE_REQUESTS(Startall, (int count, MPI_Request* requests)) {
  if (!may_be_ours()) return beyond<int(int, MPI_Request*)>("PMPI_Startall")(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start(requests + i); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

CONVENE_REQUESTS(Request_free, (MPI_Request * request)) {
  if (may_be_ours() && request) convene::forget_persistent_request(*request);
  return beyond<int(MPI_Request*)>("PMPI_Request_free")(request);
}
