// SPDX-License-Identifier: BSD-3-Clause
// The public C functions.
#include "capi/api.hpp"

#include <dlfcn.h>

#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/call/collectives.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/run/persistent_operation.hpp"
#include "runtime/settings/settings.hpp"

namespace {

using convene::capi::Communicator;
using convene::capi::last_error;
using convene::capi::PublicComm;
using convene::capi::PublicType;

/// The handle of a communicator, or null where there is no MPI that fits, or none that has been initialized.
Communicator* handle_of(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  if (convene::capi::find_mpi() != convene::capi::MpiFit::fits || comm == MPI_COMM_NULL) return nullptr;
  convene::capi::pmpi.Initialized(&initialized);
  convene::capi::pmpi.Finalized(&finalized);
  if (!initialized || finalized) return nullptr;
  return Communicator::of(comm);
}

}  // namespace

std::string& convene::capi::last_error() {
  thread_local std::string text;
  return text;
}

void* convene::capi::next_function(const char* name) {
  return find_mpi() == MpiFit::fits ? nullptr : dlsym(RTLD_NEXT, name);
}

void convene::capi::need_mpi() {
  if (find_mpi() == MpiFit::fits) return;
  refuse(std::string("libconvene-" CONVENE_STACK_NAME " does not fit the MPI of this program ('") +
             mpi_library_version() + "'); link the libconvene of that MPI",
         true);
}

CONVENE_API const char* convene_version(void) {
  CONVENE_STEP_ASIDE(convene_version, version, ());
  return CONVENE_VERSION;
}

#define ALLGATHER(Count, Displacement)                                                       \
  const void *sendbuf, Count sendcount, PublicType sendtype, void *recvbuf, Count recvcount, \
      PublicType recvtype, PublicComm comm
CONVENE_API_COLLECTIVE(allgather, ALLGATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CONVENE_API_COLLECTIVE(alltoall, ALLGATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

#define ALLGATHERV(Count, Displacement)                                                               \
  const void *sendbuf, Count sendcount, PublicType sendtype, void *recvbuf, const Count recvcounts[], \
      const Displacement displs[], PublicType recvtype, PublicComm comm
CONVENE_API_COLLECTIVE(allgatherv, ALLGATHERV,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))

CONVENE_API_COLLECTIVE(neighbor_allgather, ALLGATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CONVENE_API_COLLECTIVE(neighbor_allgatherv, ALLGATHERV,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))

#define GATHER(Count, Displacement)                                                          \
  const void *sendbuf, Count sendcount, PublicType sendtype, void *recvbuf, Count recvcount, \
      PublicType recvtype, int root, PublicComm comm
CONVENE_API_COLLECTIVE(gather, GATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
CONVENE_API_COLLECTIVE(scatter, GATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))

#define GATHERV(Count, Displacement)                                                                  \
  const void *sendbuf, Count sendcount, PublicType sendtype, void *recvbuf, const Count recvcounts[], \
      const Displacement displs[], PublicType recvtype, int root, PublicComm comm
CONVENE_API_COLLECTIVE(gatherv, GATHERV,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))

#define SCATTERV(Count, Displacement)                                                              \
  const void *sendbuf, const Count sendcounts[], const Displacement displs[], PublicType sendtype, \
      void *recvbuf, Count recvcount, PublicType recvtype, int root, PublicComm comm
CONVENE_API_COLLECTIVE(scatterv, SCATTERV,
                       (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))

#define BCAST(Count, Displacement) void *buffer, Count count, PublicType type, int root, PublicComm comm
CONVENE_API_COLLECTIVE(bcast, BCAST, (buffer, count, type, root, comm))

#define ALLTOALLV(Count, Displacement)                                                              \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], PublicType sendtype, \
      void *recvbuf, const Count recvcounts[], const Displacement rdispls[], PublicType recvtype,   \
      PublicComm comm
CONVENE_API_COLLECTIVE(alltoallv, ALLTOALLV,
                       (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))

CONVENE_API_FORMS(barrier, , (comm), PublicComm comm)

int convene::capi::start_operation(convene_operation operation, MPI_Request* request) {
  if (!operation) return lacks("convene_start", "an operation, from a convene_*_init");
  if (!request) return lacks("convene_start", "a place for a request");
  return guarded([&] { return start_persistent(*reinterpret_cast<Persistent*>(operation), request); });
}

CONVENE_API int convene_start(convene_operation operation, MPI_Request* request) {
  CONVENE_STEP_ASIDE(convene_start, start, (operation, request));
  convene::runtime::recorder::note_caller(__builtin_return_address(0));
  return convene::capi::start_operation(operation, request);
}

CONVENE_API int convene_free(convene_operation* operation) {
  CONVENE_STEP_ASIDE(convene_free, free, (operation));
  if (!operation || !*operation)
    return convene::capi::lacks("convene_free", "an operation that has not been freed");
  return convene::capi::guarded([&] {
    convene::capi::free_persistent(reinterpret_cast<convene::capi::Persistent*>(*operation));
    *operation = nullptr;
    return MPI_SUCCESS;
  });
}

CONVENE_PUBLIC(use, (PublicComm comm, const char* uses)) {
  CONVENE_STEP_ASIDE(convene_public_use, use, (comm, uses));
  Communicator* handle = handle_of(comm);
  if (!handle || !uses) {
    last_error() = "convene_use needs a communicator of an initialized MPI, and a text";
    return MPI_ERR_ARG;
  }
  try {
    handle->decisions().use(convene::capi::Selection::from(uses, ""));
    return MPI_SUCCESS;
  } catch (const convene::capi::Error& error) {
    last_error() = error.what();
    return MPI_ERR_ARG;
  }
}

CONVENE_PUBLIC(expect, (PublicComm comm, const double seconds[])) {
  CONVENE_STEP_ASIDE(convene_public_expect, expect, (comm, seconds));
  return convene::capi::guarded([&] {
    Communicator* handle = handle_of(comm);
    if (!handle) throw convene::capi::Error("convene_expect needs a communicator of an initialized MPI");
    handle->decisions().expect(seconds ? std::span(seconds, handle->procs()) : std::span<const double>());
    return MPI_SUCCESS;
  });
}

CONVENE_API const char* convene_error(void) {
  CONVENE_STEP_ASIDE(convene_error, error, ());
  return last_error().c_str();
}

CONVENE_PUBLIC(last, (PublicComm comm, convene_account* account)) {
  CONVENE_STEP_ASIDE(convene_public_last, last, (comm, account));
  const Communicator* handle = handle_of(comm);
  if (!handle || !handle->stats().last() || !account) return MPI_ERR_ARG;
  const convene::capi::CallStats& record = *handle->stats().last();
  *account = {record.algorithm.c_str(), record.reason.c_str(),
              static_cast<double>(record.last) * convene::capi::seconds_per_tick()};
  return MPI_SUCCESS;
}

CONVENE_PUBLIC(memory, (PublicComm comm, convene_footprint* footprint)) {
  CONVENE_STEP_ASIDE(convene_public_memory, memory, (comm, footprint));
  const Communicator* handle = handle_of(comm);
  if (!handle || !footprint) return MPI_ERR_ARG;
  const convene::capi::ScheduleCache& schedules = convene::capi::process_schedules();
  *footprint = {handle->memory(), handle->program_memory(), schedules.memory(), schedules.size(),
                handle->tags().exists()};
  return MPI_SUCCESS;
}
