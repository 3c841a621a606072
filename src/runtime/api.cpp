// SPDX-License-Identifier: BSD-3-Clause
// The public C functions.
#include "base/error.hpp"
#include "convene/convene.h"
#include "runtime/collectives.hpp"
#include "runtime/communicator.hpp"
#include "runtime/settings.hpp"

namespace {

using convene::Communicator;

std::string& last_error() {
  thread_local std::string text;
  return text;
}

/// The handle of a communicator, or null where there is no MPI that fits, or none that has been initialized.
Communicator* handle_of(MPI_Comm comm) {
  int initialized = 0, finalized = 0;
  if (convene::find_mpi() != convene::MpiFit::fits || comm == MPI_COMM_NULL) return nullptr;
  convene::mpi.Initialized(&initialized);
  convene::mpi.Finalized(&finalized);
  if (!initialized || finalized) return nullptr;
  return Communicator::of(comm);
}

/// Every collective's first line: the MPI is looked up once. Without a fitting one nothing can be done.
void need_mpi() {
  if (convene::find_mpi() == convene::MpiFit::fits) return;
  convene::refuse(std::string("libconvene-" CONVENE_STACK_NAME " does not fit the MPI of this program ('") +
                      convene::mpi_library_version() + "'); link the libconvene of that MPI",
                  true);
}

}  // namespace

#define CONVENE_API extern "C" __attribute__((visibility("default")))

CONVENE_API const char* convene_version(void) { return CONVENE_VERSION; }

CONVENE_API int convene_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  need_mpi();
  return convene::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

CONVENE_API int convene_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm) {
  need_mpi();
  return convene::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

CONVENE_API int convene_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                   MPI_Comm comm) {
  need_mpi();
  return convene::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

CONVENE_API int convene_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                     MPI_Datatype recvtype, MPI_Comm comm) {
  need_mpi();
  return convene::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
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
