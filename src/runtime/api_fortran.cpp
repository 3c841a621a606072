// SPDX-License-Identifier: BSD-3-Clause
// What the Fortran module (include/convene/convene.f90) calls: persistent operations and their phases, with Fortran's
// handles.
#include "runtime/api.hpp"

namespace {

/// The handle of an index. Where indexes are no handles, the MPI has a function for it.
template <class Handle>
Handle from_fortran([[maybe_unused]] const char* function, MPI_Fint index) {
#if defined(MPICH) && !defined(MPI_ABI_VERSION)
  return index;
#else
  return reinterpret_cast<Handle (*)(MPI_Fint)>(convene::mpi_symbol(function))(index);
#endif
}

MPI_Comm comm_of(MPI_Fint index) { return from_fortran<MPI_Comm>("PMPI_Comm_f2c", index); }
MPI_Datatype type_of(MPI_Fint index) { return from_fortran<MPI_Datatype>("PMPI_Type_f2c", index); }
MPI_Op op_of(MPI_Fint index) { return from_fortran<MPI_Op>("PMPI_Op_f2c", index); }

MPI_Fint to_fortran(MPI_Request request) {
#if defined(MPICH) && !defined(MPI_ABI_VERSION)
  return request;
#else
  return reinterpret_cast<MPI_Fint (*)(MPI_Request)>(convene::mpi_symbol("PMPI_Request_c2f"))(request);
#endif
}

}  // namespace

CONVENE_API int convene_fortran_use(MPI_Fint comm, const char* uses) {
  convene::need_mpi();
  return convene_use(comm_of(comm), uses);
}

CONVENE_API int convene_fortran_allgather_init(const void* sendbuf, int sendcount, MPI_Fint sendtype,
                                               void* recvbuf, int recvcount, MPI_Fint recvtype, MPI_Fint comm,
                                               convene_operation* operation) {
  convene::need_mpi();
  return convene_allgather_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                                comm_of(comm), operation);
}

CONVENE_API int convene_fortran_allgatherv_init(const void* sendbuf, int sendcount, MPI_Fint sendtype,
                                                void* recvbuf, const int* recvcounts, const int* displs,
                                                MPI_Fint recvtype, MPI_Fint comm,
                                                convene_operation* operation) {
  convene::need_mpi();
  return convene_allgatherv_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                                 type_of(recvtype), comm_of(comm), operation);
}

CONVENE_API int convene_fortran_reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Fint type,
                                            MPI_Fint op, int root, MPI_Fint comm,
                                            convene_operation* operation) {
  convene::need_mpi();
  return convene_reduce_init(sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of(comm),
                             operation);
}

CONVENE_API int convene_fortran_allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Fint type,
                                               MPI_Fint op, MPI_Fint comm, convene_operation* operation) {
  convene::need_mpi();
  return convene_allreduce_init(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), operation);
}

CONVENE_API int convene_fortran_start(convene_operation operation, MPI_Fint* request) {
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = convene_start(operation, &started);
  if (code == MPI_SUCCESS) *request = to_fortran(started);
  return code;
}
