// SPDX-License-Identifier: BSD-3-Clause
// `use mpi_f08` under MPICH and derived MPIs. Calls with a choice buffer reach the C names there, and so do
// all calls of mpif.h and `use mpi`; the others of mpi_f08 call PMPI_ functions directly. Those that concern
// Convene are wrapped here: calls that start or free requests that may represent Convene's operations, calls
// that may wait, and collectives without buffers. Each does Convene's part and leaves the rest to the MPI's
// function of the same name. Handles are structures of one integer, all arguments are passed by address, and
// ierror may be absent (null).
#include "interpose/fortran/fortran_requests.hpp"
#include "interpose/free_operator.hpp"
#include "interpose/interposition.hpp"
#include "interpose/waiting.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/run/collectives.hpp"

namespace convene::interpose {
namespace {

using fortran::comm_of;
using fortran::integer_of_op;
using fortran::op_of;
using fortran::request_of;
using fortran::RequestOf;

bool is_complete_f08(int request) {
  static const auto get_status =
      reinterpret_cast<decltype(&PMPI_Request_get_status)>(mpi_symbol("PMPI_Request_get_status"));
  int done = 0;
  return get_status(request_of(request), &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

/// Progresses all operations until the native call need not wait; the MPI reports errors.
void until_all(int count, const int* requests) {
  if (bypass()) return;
  int at = 0;  // the requests before it are complete
  progress::wait_until([&] {
    while (at < count && is_complete_f08(requests[at])) ++at;
    return at >= count;
  });
}
/// Tests until a request completes, or there is an error; returns the error. (Uses the native test: only
/// that distinguishes a complete request from an inactive one.) `test` takes the address of the error, and
/// returns true if a request completed.
template <class Test>
int until_any(Test&& test) {
  int code = MPI_SUCCESS;
  progress::wait_until([&] { return test(&code) || code != MPI_SUCCESS; });
  return code;
}
void until_probed(const int* source, const int* tag, const int* comm) {
  if (bypass()) return;
  static const auto probe = reinterpret_cast<decltype(&PMPI_Iprobe)>(mpi_symbol("PMPI_Iprobe"));
  int found = 0;
  progress::wait_until([&] {
    return probe(*source, *tag, comm_of(*comm), &found, MPI_STATUS_IGNORE) != MPI_SUCCESS || found != 0;
  });
}
void once() {
  if (!bypass()) progress::advance_all();
}

void give_back(int* ierror, int code) {
  if (ierror) *ierror = code;
}

}  // namespace
}  // namespace convene::interpose

/// Defines one function: its first part, which may return; then it calls the native function of this name.
#define CONVENE_F08(name, parameters, names, first)                               \
  extern "C" void convene_f08_##name parameters __asm__("mpi_" #name "_f08_")     \
      __attribute__((visibility("default")));                                     \
  extern "C" void convene_f08_##name parameters {                                 \
    using namespace convene::interpose;                                           \
    static constinit NextFunction<void(*) parameters> next("mpi_" #name "_f08_"); \
    first;                                                                        \
    next.get(__builtin_return_address(0)) names;                                  \
  }

// Completion. Statuses and logical values are Fortran's, and are passed through.
CONVENE_F08(wait, (int* request, void* status, int* ierror), (request, status, ierror), until_all(1, request))
CONVENE_F08(waitall, (const int* count, int* requests, void* statuses, int* ierror),
            (count, requests, statuses, ierror), until_all(*count, requests))
CONVENE_F08(
    waitany, (const int* count, int* requests, int* index, void* status, int* ierror),
    (count, requests, index, status, ierror), if (!bypass()) {
      static const auto test = reinterpret_cast<void (*)(const int*, int*, int*, int*, void*, int*)>(
          next_symbol("mpi_testany_f08_", __builtin_return_address(0)));
      return give_back(ierror, until_any([&](int* code) {
                         int done = 0;
                         test(count, requests, index, &done, status, code);
                         return done != 0;
                       }));
    })
CONVENE_F08(
    waitsome, (const int* count, int* requests, int* completed, int* indices, void* statuses, int* ierror),
    (count, requests, completed, indices, statuses, ierror), if (!bypass()) {
      static const auto test = reinterpret_cast<void (*)(const int*, int*, int*, int*, void*, int*)>(
          next_symbol("mpi_testsome_f08_", __builtin_return_address(0)));
      return give_back(ierror, until_any([&](int* code) {
                         test(count, requests, completed, indices, statuses, code);
                         return *completed != 0;
                       }));
    })
CONVENE_F08(test, (int* request, void* flag, void* status, int* ierror), (request, flag, status, ierror),
            once())
CONVENE_F08(testall, (const int* count, int* requests, void* flag, void* statuses, int* ierror),
            (count, requests, flag, statuses, ierror), once())
CONVENE_F08(testany, (const int* count, int* requests, int* index, void* flag, void* status, int* ierror),
            (count, requests, index, flag, status, ierror), once())
CONVENE_F08(testsome,
            (const int* count, int* requests, int* completed, int* indices, void* statuses, int* ierror),
            (count, requests, completed, indices, statuses, ierror), once())
CONVENE_F08(request_get_status, (const int* request, void* flag, void* status, int* ierror),
            (request, flag, status, ierror), once())
CONVENE_F08(probe, (const int* source, const int* tag, const int* comm, void* status, int* ierror),
            (source, tag, comm, status, ierror), until_probed(source, tag, comm))
CONVENE_F08(mprobe,
            (const int* source, const int* tag, const int* comm, int* message, void* status, int* ierror),
            (source, tag, comm, message, status, ierror), until_probed(source, tag, comm))
CONVENE_F08(iprobe,
            (const int* source, const int* tag, const int* comm, void* flag, void* status, int* ierror),
            (source, tag, comm, flag, status, ierror), once())
CONVENE_F08(improbe,
            (const int* source, const int* tag, const int* comm, void* flag, int* message, void* status,
             int* ierror),
            (source, tag, comm, flag, message, status, ierror), once())

// Requests that may represent persistent operations.
CONVENE_F08(start, (int* request, int* ierror), (request, ierror), {
  recorder::note_caller(__builtin_return_address(0));
  if (is_active()) return give_back(ierror, fortran::start(request));
})
CONVENE_F08(startall, (const int* count, int* requests, int* ierror), (count, requests, ierror), {
  recorder::note_caller(__builtin_return_address(0));
  if (is_active()) return give_back(ierror, fortran::start_all(*count, requests));
})
CONVENE_F08(request_free, (int* request, int* ierror), (request, ierror), {
  if (is_active()) return give_back(ierror, fortran::free_request(request));
})

// As in interpose/init.cpp: the next definition does everything beyond initialisation.
CONVENE_F08(init_thread, (const int* required, int* provided, int* ierror), (required, provided, ierror), {
  static const int multiple = MPI_THREAD_MULTIPLE;
  const void* const caller = __builtin_return_address(0);
  int code = MPI_SUCCESS;
  next.get(caller)(wants_threads() ? &multiple : required, provided, &code);
  return give_back(ierror, prepare_world(code, caller));
})
CONVENE_F08(init, (int* ierror), (ierror), {
  static const int multiple = MPI_THREAD_MULTIPLE;
  const void* const caller = __builtin_return_address(0);
  int provided = 0;
  int code = MPI_SUCCESS;
  if (wants_threads())
    reinterpret_cast<void (*)(const int*, int*, int*)>(next_symbol("mpi_init_thread_f08_", caller))(
        &multiple, &provided, &code);
  else
    next.get(caller)(&code);
  return give_back(ierror, prepare_world(code, caller));
})

// As in capi/finalize.cpp: this one calls PMPI_Finalize.
CONVENE_F08(finalize, (int* ierror), (ierror), process::before_finalize())

// Collectives without a buffer, and freeing an operator that a pending call may use.
CONVENE_F08(barrier, (const int* comm, int* ierror), (comm, ierror), {
  if (is_active()) return give_back(ierror, barrier(comm_of(*comm)));
})
CONVENE_F08(ibarrier, (const int* comm, int* request, int* ierror), (comm, request, ierror), {
  if (is_active()) return give_back(ierror, barrier(comm_of(*comm), RequestOf(request).form()));
})
CONVENE_F08(barrier_init, (const int* comm, const int* info, int* request, int* ierror),
            (comm, info, request, ierror), {
              if (is_active())
                return give_back(ierror,
                                 barrier(comm_of(*comm), RequestOf(request).form(fortran::info_of(*info))));
            })
CONVENE_F08(op_free, (int* op, int* ierror), (op, ierror), {
  if (is_active()) {
    MPI_Op freed = op_of(*op);
    const int code = free_operator(&freed, __builtin_return_address(0));
    *op = integer_of_op(freed);
    return give_back(ierror, code);
  }
})
