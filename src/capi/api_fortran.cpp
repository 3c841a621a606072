// SPDX-License-Identifier: BSD-3-Clause
// Functions called by the Fortran module (include/convene/convene.f90): persistent operations and their
// phases, with Fortran's handles: integers as large as an int.
#include <string>
#include <type_traits>

#include "capi/api.hpp"
#include "mpi/stack.hpp"

namespace {

namespace stack = convene::mpi::stack;

template <class To, class From>
To translated(const char* function, From from) {
  if constexpr (std::is_same_v<To, From>)
    return from;
  else
    return reinterpret_cast<To (*)(From)>(convene::capi::mpi_symbol(function))(from);
}

MPI_Comm comm_of_index(int index) { return translated<MPI_Comm>(stack::comm_from_fortran, index); }
MPI_Datatype type_of(int index) { return translated<MPI_Datatype>(stack::type_from_fortran, index); }
MPI_Op op_of(int index) { return translated<MPI_Op>(stack::op_from_fortran, index); }

}  // namespace

CONVENE_API int convene_fortran_use(int comm, const char* uses) {
  CONVENE_STEP_ASIDE(convene_fortran_use, fortran_use, (comm, uses));
  convene::capi::need_mpi();
  return convene_use(comm_of_index(comm), uses);
}

CONVENE_API int convene_fortran_expect(int comm, const double* seconds, int procs) {
  CONVENE_STEP_ASIDE(convene_fortran_expect, fortran_expect, (comm, seconds, procs));
  convene::capi::need_mpi();
  return convene::capi::guarded([&] {
    int needed = 0;
    if (procs > 0 && convene::capi::pmpi.Comm_size(comm_of_index(comm), &needed) == MPI_SUCCESS &&
        procs != needed)
      throw convene::capi::Error("convene_expect received " + std::to_string(procs) + " times for " +
                                 std::to_string(needed) + " ranks; pass one for each rank");
    return convene_expect(comm_of_index(comm), procs > 0 ? seconds : nullptr);
  });
}

CONVENE_API int convene_fortran_allgather_init(const void* sendbuf, int sendcount, int sendtype,
                                               void* recvbuf, int recvcount, int recvtype, int comm,
                                               convene_operation* operation) {
  CONVENE_STEP_ASIDE(convene_fortran_allgather_init, fortran_allgather_init,
                     (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, operation));
  convene::capi::need_mpi();
  return convene_allgather_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount, type_of(recvtype),
                                comm_of_index(comm), operation);
}

CONVENE_API int convene_fortran_allgatherv_init(const void* sendbuf, int sendcount, int sendtype,
                                                void* recvbuf, const int* recvcounts, const int* displs,
                                                int recvtype, int comm, convene_operation* operation) {
  CONVENE_STEP_ASIDE(convene_fortran_allgatherv_init, fortran_allgatherv_init,
                     (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, operation));
  convene::capi::need_mpi();
  return convene_allgatherv_init(sendbuf, sendcount, type_of(sendtype), recvbuf, recvcounts, displs,
                                 type_of(recvtype), comm_of_index(comm), operation);
}

CONVENE_API int convene_fortran_reduce_init(const void* sendbuf, void* recvbuf, int count, int type, int op,
                                            int root, int comm, convene_operation* operation) {
  CONVENE_STEP_ASIDE(convene_fortran_reduce_init, fortran_reduce_init,
                     (sendbuf, recvbuf, count, type, op, root, comm, operation));
  convene::capi::need_mpi();
  return convene_reduce_init(sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of_index(comm),
                             operation);
}

CONVENE_API int convene_fortran_allreduce_init(const void* sendbuf, void* recvbuf, int count, int type,
                                               int op, int comm, convene_operation* operation) {
  CONVENE_STEP_ASIDE(convene_fortran_allreduce_init, fortran_allreduce_init,
                     (sendbuf, recvbuf, count, type, op, comm, operation));
  convene::capi::need_mpi();
  return convene_allreduce_init(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of_index(comm),
                                operation);
}

CONVENE_API int convene_fortran_start(convene_operation operation, int* request) {
  CONVENE_STEP_ASIDE(convene_fortran_start, fortran_start, (operation, request));
  convene::runtime::recorder::note_caller(__builtin_return_address(0));
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = convene::capi::start_operation(operation, &started);
  if (code == MPI_SUCCESS) *request = translated<int>(stack::request_to_fortran, started);
  return code;
}
