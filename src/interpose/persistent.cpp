// SPDX-License-Identifier: BSD-3-Clause
// What a program does with persistent requests, some of which stand for operations of Convene's or are recorded.
#include "interpose/persistent.hpp"

#include "interpose/interposition.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/run/persistent_operation.hpp"

namespace convene::interpose {
namespace {

bool may_be_ours() {
  return interposition_state.load(std::memory_order_relaxed) == 1 && has_persistent_requests();
}

template <class Function>
Function* mpi_function(const char* name) {
  return reinterpret_cast<Function*>(mpi_symbol(name));
}

}  // namespace

int start_request(MPI_Request* request) {
  static const auto beyond = mpi_function<int(MPI_Request*)>("PMPI_Start");
  return may_be_ours() ? start_persistent_request(request, beyond) : beyond(request);
}

int free_request(MPI_Request* request) {
  static const auto beyond = mpi_function<int(MPI_Request*)>("PMPI_Request_free");
  if (may_be_ours() && request) forget_persistent_request(*request);
  return beyond(request);
}

namespace {

int start_all(int count, MPI_Request* requests) {
  static const auto beyond = mpi_function<int(int, MPI_Request*)>("PMPI_Startall");
  if (!may_be_ours()) return beyond(count, requests);
  for (int i = 0; i < count; ++i)
    if (const int code = start_request(requests + i); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

}  // namespace
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
CONVENE_REQUESTS(Startall, (int count, MPI_Request* requests), start_all(count, requests))
CONVENE_REQUESTS(Request_free, (MPI_Request * request), free_request(request))
