// SPDX-License-Identifier: BSD-3-Clause
// The public C functions.
#include "runtime/api.hpp"

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

}  // namespace

void convene::need_mpi() {
  if (find_mpi() == MpiFit::fits) return;
  refuse(std::string("libconvene-" CONVENE_STACK_NAME " does not fit the MPI of this program ('") +
             mpi_library_version() + "'); link the libconvene of that MPI",
         true);
}

CONVENE_API const char* convene_version(void) { return CONVENE_VERSION; }

CONVENE_API int convene_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  convene::need_mpi();
  return convene::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

CONVENE_API int convene_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                    MPI_Comm comm) {
  convene::need_mpi();
  return convene::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

CONVENE_API int convene_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                   MPI_Comm comm) {
  convene::need_mpi();
  return convene::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

CONVENE_API int convene_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                     MPI_Datatype recvtype, MPI_Comm comm) {
  convene::need_mpi();
  return convene::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

CONVENE_API int convene_gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

CONVENE_API int convene_gather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                 MPI_Comm comm) {
  convene::need_mpi();
  return convene::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

CONVENE_API int convene_gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                MPI_Comm comm) {
  convene::need_mpi();
  return convene::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

CONVENE_API int convene_gatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                  MPI_Datatype recvtype, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}

CONVENE_API int convene_scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

CONVENE_API int convene_scatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                  MPI_Comm comm) {
  convene::need_mpi();
  return convene::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

CONVENE_API int convene_scatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                 MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                 int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

CONVENE_API int convene_scatterv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                                   MPI_Datatype recvtype, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

CONVENE_API int convene_bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::bcast(buffer, count, type, root, comm);
}

CONVENE_API int convene_bcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::bcast(buffer, count, type, root, comm);
}

CONVENE_API int convene_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  convene::need_mpi();
  return convene::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

CONVENE_API int convene_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  convene::need_mpi();
  return convene::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

CONVENE_API int convene_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                  const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  convene::need_mpi();
  return convene::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                            comm);
}

CONVENE_API int convene_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                    const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                    MPI_Datatype recvtype, MPI_Comm comm) {
  convene::need_mpi();
  return convene::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                            comm);
}

CONVENE_API int convene_barrier(MPI_Comm comm) {
  convene::need_mpi();
  return convene::barrier(comm);
}

CONVENE_API int convene_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Request* request) {
  convene::need_mpi();
  return convene::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                            convene::Form{request});
}

CONVENE_API int convene_iallgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                     MPI_Request* request) {
  convene::need_mpi();
  return convene::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                            convene::Form{request});
}

CONVENE_API int convene_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                    const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                    MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                             convene::Form{request});
}

CONVENE_API int convene_iallgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm,
                             convene::Form{request});
}

CONVENE_API int convene_igather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                MPI_Request* request) {
  convene::need_mpi();
  return convene::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                         convene::Form{request});
}

CONVENE_API int convene_igather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                  MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                         convene::Form{request});
}

CONVENE_API int convene_igatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                                 MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                          convene::Form{request});
}

CONVENE_API int convene_igatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                                   MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm,
                          convene::Form{request});
}

CONVENE_API int convene_iscatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                 MPI_Request* request) {
  convene::need_mpi();
  return convene::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                          convene::Form{request});
}

CONVENE_API int convene_iscatter_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                                   MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                          convene::Form{request});
}

CONVENE_API int convene_iscatterv(const void* sendbuf, const int sendcounts[], const int displs[],
                                  MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                  int root, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                           convene::Form{request});
}

CONVENE_API int convene_iscatterv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                    const MPI_Aint displs[], MPI_Datatype sendtype, void* recvbuf,
                                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                                    MPI_Request* request) {
  convene::need_mpi();
  return convene::scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm,
                           convene::Form{request});
}

CONVENE_API int convene_ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                               MPI_Request* request) {
  convene::need_mpi();
  return convene::bcast(buffer, count, type, root, comm, convene::Form{request});
}

CONVENE_API int convene_ibcast_c(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
                                 MPI_Request* request) {
  convene::need_mpi();
  return convene::bcast(buffer, count, type, root, comm, convene::Form{request});
}

CONVENE_API int convene_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                           convene::Form{request});
}

CONVENE_API int convene_ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Request* request) {
  convene::need_mpi();
  return convene::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                           convene::Form{request});
}

CONVENE_API int convene_ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                   MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                   const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                   MPI_Request* request) {
  convene::need_mpi();
  return convene::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                            comm, convene::Form{request});
}

CONVENE_API int convene_ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                                     const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                     const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                     MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                            comm, convene::Form{request});
}

CONVENE_API int convene_ibarrier(MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::barrier(comm, convene::Form{request});
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
