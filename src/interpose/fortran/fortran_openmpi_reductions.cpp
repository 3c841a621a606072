// SPDX-License-Identifier: BSD-3-Clause
// The reductions in Fortran under Open MPI; interpose/fortran/fortran_openmpi.hpp says why they are here.
#include "mpi/functions.hpp"

#ifdef OPEN_MPI

#include "interpose/fortran/fortran_openmpi.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/reductions.hpp"

namespace convene::interpose {
using namespace fortran;

CONVENE_FORTRAN_FORMS(reduce, REDUCE, (sendbuf, recvbuf, count, type, op, root, comm),
                      (translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op), *root,
                       comm_of(comm)),
                      const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                      const MPI_Fint* op, const MPI_Fint* root, const MPI_Fint* comm)
CONVENE_FORTRAN_FORMS(allreduce, ALLREDUCE, (sendbuf, recvbuf, count, type, op, comm),
                      (translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                       comm_of(comm)),
                      const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                      const MPI_Fint* op, const MPI_Fint* comm)
CONVENE_FORTRAN_FORMS(reduce_scatter, REDUCE_SCATTER, (sendbuf, recvbuf, recvcounts, type, op, comm),
                      (translated(sendbuf), translated(recvbuf), recvcounts, type_of(type), op_of(op),
                       comm_of(comm)),
                      const void* sendbuf, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* type,
                      const MPI_Fint* op, const MPI_Fint* comm)
CONVENE_FORTRAN_FORMS(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                      (sendbuf, recvbuf, recvcount, type, op, comm),
                      (translated(sendbuf), translated(recvbuf), *recvcount, type_of(type), op_of(op),
                       comm_of(comm)),
                      const void* sendbuf, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* type,
                      const MPI_Fint* op, const MPI_Fint* comm)
CONVENE_FORTRAN_FORMS(scan, SCAN, (sendbuf, recvbuf, count, type, op, comm),
                      (translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                       comm_of(comm)),
                      const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                      const MPI_Fint* op, const MPI_Fint* comm)
CONVENE_FORTRAN_FORMS(exscan, EXSCAN, (sendbuf, recvbuf, count, type, op, comm),
                      (translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                       comm_of(comm)),
                      const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                      const MPI_Fint* op, const MPI_Fint* comm)

namespace {

int free_operator(MPI_Fint* index) {
  MPI_Op op = op_of(index);
  const int code = HeldOperator::free(&op);
  if (code == MPI_SUCCESS) *index = reinterpret_cast<MPI_Fint (*)(MPI_Op)>(mpi_symbol("PMPI_Op_c2f"))(op);
  return code;
}

}  // namespace

CONVENE_FORTRAN(op_free, OP_FREE, (MPI_Fint * op, MPI_Fint* ierror), (op, ierror), free_operator(op))

}  // namespace convene::interpose

#endif  // OPEN_MPI
