// SPDX-License-Identifier: BSD-3-Clause
// MPI functions that may wait, or test for completion, for stacks without a progress hook. They pass through
// to the next definition, at the cost of one test.
//
// While a non-blocking collective of Convene's is outstanding, they progress it, too: a program may wait in
// an ordinary receive for what another rank sends after its own collective. MPI_Wait and MPI_Waitall progress
// until the requests are complete, tests progress once; then they pass through. The others become PMPI's
// non-blocking form, tested in a loop: these calls a profiling tool behind Convene does not see.
//
// The PMPI_ names do the same: a tool before Convene that wraps MPI_Waitall and not MPI_Iallgather, or a
// program that calls PMPI_Wait, would otherwise wait for a request of Convene's in the MPI alone, which
// cannot complete it where it has no extended generalised requests.
#include "interpose/waiting.hpp"

using convene::interpose::HandleWord;
namespace progress = convene::runtime::progress;

namespace {

template <class Handle>
Handle handle(HandleWord word) {
  return convene::interpose::from_word<Handle>(word);
}

/// Starts a request by `start(&request)` and waits for it.
template <class Start>
int start_and_wait(MPI_Status* status, Start&& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = start(&request), done = 0;
  if (code != MPI_SUCCESS) return code;
  progress::wait_until([&] {
    code = convene::interpose::pmpi.Test(&request, &done, status);
    return done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

/// Calls `test(&done)` until it is done.
template <class Test>
int test_until_done(Test&& test) {
  int code = MPI_SUCCESS, done = 0;
  progress::wait_until([&] {
    code = test(&done);
    return done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

/// True if a request is complete, also with an error, which the completing call reports.
bool is_complete(MPI_Request request) {
  static const auto get_status = reinterpret_cast<decltype(&PMPI_Request_get_status)>(
      convene::interpose::mpi_symbol("PMPI_Request_get_status"));
  int done = 0;
  return get_status(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done != 0;
}

/// Progresses all operations until all requests are complete.
void complete_all(int count, const MPI_Request* requests) {
  if (!requests) return;  // native reports the error
  int at = 0;             // those before it are complete
  progress::wait_until([&] {
    while (at < count && is_complete(requests[at])) ++at;
    return at >= count;
  });
}

}  // namespace

/// Defines one MPI function, by both of its names: what it does first while an operation of Convene's is
/// outstanding. In that it may return; afterwards, or if nothing is outstanding, the call passes through to
/// the next definition of the same name.
#define CONVENE_WAITING(name, parameters, names, first)    \
  CONVENE_WAITING_AS(MPI_, name, parameters, names, first) \
  CONVENE_WAITING_AS(PMPI_, name, parameters, names, first)

#define CONVENE_WAITING_AS(prefix, name, parameters, names, first)                      \
  extern "C" int convene_waiting_##prefix##name parameters __asm__(#prefix #name)       \
      __attribute__((visibility("default")));                                           \
  extern "C" int convene_waiting_##prefix##name parameters {                            \
    static constinit convene::mpi::NextFunction<int(*) parameters> next(#prefix #name); \
    if (!convene::interpose::bypass()) [[unlikely]] {                                   \
      first;                                                                            \
    }                                                                                   \
    return next.get(__builtin_return_address(0)) names;                                 \
  }

#define CONVENE_NOW(name, ...)                                                                   \
  [&] {                                                                                          \
    static const auto now =                                                                      \
        reinterpret_cast<decltype(&PMPI_##name)>(convene::interpose::mpi_symbol("PMPI_" #name)); \
    return now(__VA_ARGS__);                                                                     \
  }()

// Completion.
CONVENE_WAITING(Wait, (MPI_Request * request, MPI_Status* status), (request, status),
                complete_all(1, request))
CONVENE_WAITING(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses),
                (count, requests, statuses), complete_all(count, requests))
CONVENE_WAITING(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status),
                (count, requests, index, status), {
                  return test_until_done(
                      [&](int* done) { return CONVENE_NOW(Testany, count, requests, index, done, status); });
                })
CONVENE_WAITING(Waitsome,
                (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
                (count, requests, completed, indices, statuses), {
                  return test_until_done([&](int* done) {
                    const int code = CONVENE_NOW(Testsome, count, requests, completed, indices, statuses);
                    *done = *completed != 0;
                    return code;
                  });
                })
CONVENE_WAITING(Test, (MPI_Request * request, int* done, MPI_Status* status), (request, done, status),
                progress::advance_all())
CONVENE_WAITING(Testall, (int count, MPI_Request* requests, int* done, MPI_Status* statuses),
                (count, requests, done, statuses), progress::advance_all())
CONVENE_WAITING(Testany, (int count, MPI_Request* requests, int* index, int* done, MPI_Status* status),
                (count, requests, index, done, status), progress::advance_all())
CONVENE_WAITING(Testsome,
                (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
                (count, requests, completed, indices, statuses), progress::advance_all())
CONVENE_WAITING(Request_get_status, (HandleWord request, int* done, MPI_Status* status),
                (request, done, status), progress::advance_all())

// Point-to-point.
CONVENE_WAITING(Recv,
                (void* buffer, int count, HandleWord type, int source, int tag, HandleWord comm,
                 MPI_Status* status),
                (buffer, count, type, source, tag, comm, status), {
                  return start_and_wait(status, [&](MPI_Request* request) {
                    return CONVENE_NOW(Irecv, buffer, count, handle<MPI_Datatype>(type), source, tag,
                                       handle<MPI_Comm>(comm), request);
                  });
                })
CONVENE_WAITING(Send, (const void* buffer, int count, HandleWord type, int target, int tag, HandleWord comm),
                (buffer, count, type, target, tag, comm), {
                  return start_and_wait(MPI_STATUS_IGNORE, [&](MPI_Request* request) {
                    return CONVENE_NOW(Isend, buffer, count, handle<MPI_Datatype>(type), target, tag,
                                       handle<MPI_Comm>(comm), request);
                  });
                })
CONVENE_WAITING(Ssend, (const void* buffer, int count, HandleWord type, int target, int tag, HandleWord comm),
                (buffer, count, type, target, tag, comm), {
                  return start_and_wait(MPI_STATUS_IGNORE, [&](MPI_Request* request) {
                    return CONVENE_NOW(Issend, buffer, count, handle<MPI_Datatype>(type), target, tag,
                                       handle<MPI_Comm>(comm), request);
                  });
                })
CONVENE_WAITING(Sendrecv,
                (const void* sendbuf, int sendcount, HandleWord sendtype, int target, int sendtag,
                 void* recvbuf, int recvcount, HandleWord recvtype, int source, int recvtag, HandleWord comm,
                 MPI_Status* status),
                (sendbuf, sendcount, sendtype, target, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
                 comm, status),
                {
                  MPI_Request send = MPI_REQUEST_NULL;
                  int code = CONVENE_NOW(Isend, sendbuf, sendcount, handle<MPI_Datatype>(sendtype), target,
                                         sendtag, handle<MPI_Comm>(comm), &send);
                  if (code != MPI_SUCCESS) return code;
                  code = start_and_wait(status, [&](MPI_Request* request) {
                    return CONVENE_NOW(Irecv, recvbuf, recvcount, handle<MPI_Datatype>(recvtype), source,
                                       recvtag, handle<MPI_Comm>(comm), request);
                  });
                  const int sent = progress::await(&send);
                  return code == MPI_SUCCESS ? sent : code;
                })
CONVENE_WAITING(Probe, (int source, int tag, HandleWord comm, MPI_Status* status),
                (source, tag, comm, status), {
                  return test_until_done([&](int* done) {
                    return CONVENE_NOW(Iprobe, source, tag, handle<MPI_Comm>(comm), done, status);
                  });
                })
CONVENE_WAITING(Iprobe, (int source, int tag, HandleWord comm, int* done, MPI_Status* status),
                (source, tag, comm, done, status), progress::advance_all())
CONVENE_WAITING(Improbe,
                (int source, int tag, HandleWord comm, int* done, MPI_Message* message, MPI_Status* status),
                (source, tag, comm, done, message, status), progress::advance_all())
CONVENE_WAITING(Mprobe, (int source, int tag, HandleWord comm, MPI_Message* message, MPI_Status* status),
                (source, tag, comm, message, status), {
                  return test_until_done([&](int* done) {
                    return CONVENE_NOW(Improbe, source, tag, handle<MPI_Comm>(comm), done, message, status);
                  });
                })
CONVENE_WAITING(Mrecv, (void* buffer, int count, HandleWord type, MPI_Message* message, MPI_Status* status),
                (buffer, count, type, message, status), {
                  return start_and_wait(status, [&](MPI_Request* request) {
                    return CONVENE_NOW(Imrecv, buffer, count, handle<MPI_Datatype>(type), message, request);
                  });
                })
