// SPDX-License-Identifier: BSD-3-Clause
// The public C functions: the reductions.
#include "convene/convene.h"
#include "runtime/api.hpp"
#include "runtime/reductions.hpp"

CONVENE_API int convene_reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                               int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::reduce(sendbuf, recvbuf, count, type, op, root, comm);
}

CONVENE_API int convene_reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                 MPI_Op op, int root, MPI_Comm comm) {
  convene::need_mpi();
  return convene::reduce(sendbuf, recvbuf, count, type, op, root, comm);
}

CONVENE_API int convene_ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                int root, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::reduce(sendbuf, recvbuf, count, type, op, root, comm, convene::Form{request});
}

CONVENE_API int convene_ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                  MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::reduce(sendbuf, recvbuf, count, type, op, root, comm, convene::Form{request});
}

CONVENE_API int convene_allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm) {
  convene::need_mpi();
  return convene::allreduce(sendbuf, recvbuf, count, type, op, comm);
}

CONVENE_API int convene_allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                    MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::allreduce(sendbuf, recvbuf, count, type, op, comm);
}

CONVENE_API int convene_iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type,
                                   MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::allreduce(sendbuf, recvbuf, count, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                     MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::allreduce(sendbuf, recvbuf, count, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                       MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm);
}

CONVENE_API int convene_reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                         MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm);
}

CONVENE_API int convene_ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                        MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                                          MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm);
}

CONVENE_API int convene_reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                               MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm);
}

CONVENE_API int convene_ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                                              MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                              MPI_Request* request) {
  convene::need_mpi();
  return convene::reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                                MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                                MPI_Request* request) {
  convene::need_mpi();
  return convene::reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
  convene::need_mpi();
  return convene::scan(sendbuf, recvbuf, count, type, op, comm);
}

CONVENE_API int convene_scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::scan(sendbuf, recvbuf, count, type, op, comm);
}

CONVENE_API int convene_iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                              MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::scan(sendbuf, recvbuf, count, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::scan(sendbuf, recvbuf, count, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                               MPI_Comm comm) {
  convene::need_mpi();
  return convene::exscan(sendbuf, recvbuf, count, type, op, comm);
}

CONVENE_API int convene_exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                 MPI_Op op, MPI_Comm comm) {
  convene::need_mpi();
  return convene::exscan(sendbuf, recvbuf, count, type, op, comm);
}

CONVENE_API int convene_iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::exscan(sendbuf, recvbuf, count, type, op, comm, convene::Form{request});
}

CONVENE_API int convene_iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype type,
                                  MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  convene::need_mpi();
  return convene::exscan(sendbuf, recvbuf, count, type, op, comm, convene::Form{request});
}
