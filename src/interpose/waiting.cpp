// SPDX-License-Identifier: BSD-3-Clause
// Calls of the MPI that may wait, or look whether something is complete. While a non-blocking collective of Convene's is
// outstanding and the MPI has no progress hook, a blocking one becomes its non-blocking form, tested in a loop in which
// everything goes on: a program may wait in an ordinary receive for what another rank sends after its own collective.
// Otherwise they cost a test of one counter.
#include "interpose/waiting.hpp"

#ifndef OPEN_MPI  // there the hook does it

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

}  // namespace

/// Defines one MPI function: what it does where something is outstanding; else it is the MPI's own.
#define CONVENE_WAITING(name, parameters, as_they_came, body)                               \
  extern "C" int convene_waiting_##name parameters __asm__("MPI_" #name)                    \
      __attribute__((visibility("default")));                                               \
  extern "C" int convene_waiting_##name parameters {                                        \
    static const auto beyond =                                                              \
        reinterpret_cast<int(*) parameters>(convene::interpose::mpi_symbol("PMPI_" #name)); \
    if (convene::interpose::bypass()) return beyond as_they_came;                           \
    body                                                                                    \
  }

#define CONVENE_NOW(name, ...)                                                                   \
  [&] {                                                                                          \
    static const auto now =                                                                      \
        reinterpret_cast<decltype(&PMPI_##name)>(convene::interpose::mpi_symbol("PMPI_" #name)); \
    return now(__VA_ARGS__);                                                                     \
  }()

// Completion.
CONVENE_WAITING(Wait, (MPI_Request * request, MPI_Status* status), (request, status), {
  return test_until_done([&](int* done) { return CONVENE_NOW(Test, request, done, status); });
})
CONVENE_WAITING(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses),
                (count, requests, statuses), {
                  return test_until_done(
                      [&](int* done) { return CONVENE_NOW(Testall, count, requests, done, statuses); });
                })
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
CONVENE_WAITING(Test, (MPI_Request * request, int* done, MPI_Status* status), (request, done, status), {
  progress::advance_all();
  return CONVENE_NOW(Test, request, done, status);
})
CONVENE_WAITING(Testall, (int count, MPI_Request* requests, int* done, MPI_Status* statuses),
                (count, requests, done, statuses), {
                  progress::advance_all();
                  return CONVENE_NOW(Testall, count, requests, done, statuses);
                })
CONVENE_WAITING(Testany, (int count, MPI_Request* requests, int* index, int* done, MPI_Status* status),
                (count, requests, index, done, status), {
                  progress::advance_all();
                  return CONVENE_NOW(Testany, count, requests, index, done, status);
                })
CONVENE_WAITING(Testsome,
                (int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses),
                (count, requests, completed, indices, statuses), {
                  progress::advance_all();
                  return CONVENE_NOW(Testsome, count, requests, completed, indices, statuses);
                })
CONVENE_WAITING(Request_get_status, (HandleWord request, int* done, MPI_Status* status),
                (request, done, status), {
                  progress::advance_all();
                  return CONVENE_NOW(Request_get_status, handle<MPI_Request>(request), done, status);
                })

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
                (source, tag, comm, done, status), {
                  progress::advance_all();
                  return CONVENE_NOW(Iprobe, source, tag, handle<MPI_Comm>(comm), done, status);
                })
CONVENE_WAITING(Improbe,
                (int source, int tag, HandleWord comm, int* done, MPI_Message* message, MPI_Status* status),
                (source, tag, comm, done, message, status), {
                  progress::advance_all();
                  return CONVENE_NOW(Improbe, source, tag, handle<MPI_Comm>(comm), done, message, status);
                })
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

#endif  // OPEN_MPI
