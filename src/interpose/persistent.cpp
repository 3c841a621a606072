// SPDX-License-Identifier: BSD-3-Clause
// What a program does with persistent requests, some of which stand for operations of Convene's; and with operators that
// such an operation, or one that is not complete, still needs.
#include "runtime/persistent.hpp"

#include <mutex>
#include <vector>

#include "interpose/door.hpp"
#include "runtime/progress.hpp"

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

// An MPI keeps a freed operator until the calls that use it are complete. It does not know of Convene's: until none is
// under way, operators that the program has freed wait here.
CONVENE_REQUESTS(Op_free, (MPI_Op * op), {
  static std::mutex mutex;
  static auto* const waiting = new std::vector<MPI_Op>;  // never freed: programs finalize in odd orders
  if (convene::door_state.load(std::memory_order_relaxed) != 1 || !op) return beyond(op);
  const bool is_needed = convene::progress::outstanding.load() != 0 || convene::has_persistent_operations();
  std::vector<MPI_Op> free_now;
  {
    const std::lock_guard lock(mutex);
    if (is_needed) {
      waiting->push_back(*op);
      *op = MPI_OP_NULL;
      return MPI_SUCCESS;
    }
    free_now.swap(*waiting);
  }
  for (MPI_Op& freed : free_now) beyond(&freed);
  return beyond(op);
})
