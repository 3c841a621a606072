// SPDX-License-Identifier: BSD-3-Clause
// The public C functions.
#include "runtime/api.hpp"

#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/persistent.hpp"
#include "runtime/settings.hpp"

namespace {

using convene::Communicator;
using convene::last_error;

/// The handle of a communicator, or null where there is no MPI that fits, or none that has been initialized.
Communicator* handle_of(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  if (convene::find_mpi() != convene::MpiFit::fits || comm == MPI_COMM_NULL) return nullptr;
  convene::mpi.Initialized(&initialized);
  convene::mpi.Finalized(&finalized);
  if (!initialized || finalized) return nullptr;
  return Communicator::of(comm);
}

}  // namespace

std::string& convene::last_error() {
  thread_local std::string text;
  return text;
}

void convene::need_mpi() {
  if (find_mpi() == MpiFit::fits) return;
  refuse(std::string("libconvene-" CONVENE_STACK_NAME " does not fit the MPI of this program ('") +
             mpi_library_version() + "'); link the libconvene of that MPI",
         true);
}

CONVENE_API const char* convene_version(void) { return CONVENE_VERSION; }

#define ALLGATHER(Count, Displacement)                                                         \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count recvcount, \
      MPI_Datatype recvtype, MPI_Comm comm
CONVENE_API_COLLECTIVE(allgather, ALLGATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CONVENE_API_COLLECTIVE(alltoall, ALLGATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))

#define ALLGATHERV(Count, Displacement)                                                                 \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], \
      const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm
CONVENE_API_COLLECTIVE(allgatherv, ALLGATHERV,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))

CONVENE_API_COLLECTIVE(neighbor_allgather, ALLGATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm))
CONVENE_API_COLLECTIVE(neighbor_allgatherv, ALLGATHERV,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm))

#define GATHER(Count, Displacement)                                                            \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, Count recvcount, \
      MPI_Datatype recvtype, int root, MPI_Comm comm
CONVENE_API_COLLECTIVE(gather, GATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))
CONVENE_API_COLLECTIVE(scatter, GATHER,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm))

#define GATHERV(Count, Displacement)                                                                    \
  const void *sendbuf, Count sendcount, MPI_Datatype sendtype, void *recvbuf, const Count recvcounts[], \
      const Displacement displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
CONVENE_API_COLLECTIVE(gatherv, GATHERV,
                       (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm))

#define SCATTERV(Count, Displacement)                                                                \
  const void *sendbuf, const Count sendcounts[], const Displacement displs[], MPI_Datatype sendtype, \
      void *recvbuf, Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
CONVENE_API_COLLECTIVE(scatterv, SCATTERV,
                       (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm))

#define BCAST(Count, Displacement) void *buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm
CONVENE_API_COLLECTIVE(bcast, BCAST, (buffer, count, type, root, comm))

#define ALLTOALLV(Count, Displacement)                                                                \
  const void *sendbuf, const Count sendcounts[], const Displacement sdispls[], MPI_Datatype sendtype, \
      void *recvbuf, const Count recvcounts[], const Displacement rdispls[], MPI_Datatype recvtype,   \
      MPI_Comm comm
CONVENE_API_COLLECTIVE(alltoallv, ALLTOALLV,
                       (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm))

CONVENE_API_FORMS(barrier, , (comm), MPI_Comm comm)

CONVENE_API int convene_start(convene_operation operation, MPI_Request* request) {
  if (!operation || !request) return MPI_ERR_ARG;
  return convene::guarded(
      [&] { return convene::start_persistent(*reinterpret_cast<convene::Persistent*>(operation), request); });
}

CONVENE_API int convene_free(convene_operation* operation) {
  if (!operation || !*operation) return MPI_ERR_ARG;
  return convene::guarded([&] {
    convene::free_persistent(reinterpret_cast<convene::Persistent*>(*operation));
    *operation = nullptr;
    return MPI_SUCCESS;
  });
}

CONVENE_API int convene_use(MPI_Comm comm, const char* uses) {
  Communicator* handle = handle_of(comm);
  if (!handle || !uses) {
    last_error() = "convene_use needs a communicator of an initialized MPI, and a text";
    return MPI_ERR_ARG;
  }
  try {
    handle->use(convene::Selection::from(uses, ""));
    return MPI_SUCCESS;
  } catch (const convene::Error& error) {
    last_error() = error.what();
    return MPI_ERR_ARG;
  }
}

CONVENE_API int convene_expect(MPI_Comm comm, const double seconds[]) {
  return convene::guarded([&] {
    Communicator* handle = handle_of(comm);
    if (!handle) throw convene::Error("convene_expect needs a communicator of an initialized MPI");
    handle->expect(seconds ? std::span(seconds, handle->procs()) : std::span<const double>());
    return MPI_SUCCESS;
  });
}

CONVENE_API const char* convene_error(void) { return last_error().c_str(); }

CONVENE_API int convene_last(MPI_Comm comm, convene_account* account) {
  const Communicator* handle = handle_of(comm);
  if (!handle || !handle->last_record() || !account) return MPI_ERR_ARG;
  const convene::Record& record = *handle->last_record();
  *account = {record.algorithm.c_str(), record.reason.c_str(),
              static_cast<double>(record.last) * convene::seconds_per_tick()};
  return MPI_SUCCESS;
}

CONVENE_API int convene_memory(MPI_Comm comm, convene_footprint* footprint) {
  const Communicator* handle = handle_of(comm);
  if (!handle || !footprint) return MPI_ERR_ARG;
  const convene::ScheduleCache& schedules = convene::process_schedules();
  *footprint = {handle->memory(), handle->program_memory(), schedules.memory(), schedules.size(),
                handle->has_own()};
  return MPI_SUCCESS;
}
