// SPDX-License-Identifier: BSD-3-Clause
// The reductions in Fortran under Open MPI; interpose/fortran_openmpi.hpp says why they are here.
#include "execute/mpi.hpp"

#ifdef OPEN_MPI

#include "interpose/fortran_openmpi.hpp"
#include "runtime/operator.hpp"
#include "runtime/reductions.hpp"

namespace convene {
using namespace fortran;

CONVENE_FORTRAN(reduce, REDUCE,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, root, comm, ierror),
                reduce(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op), *root,
                       comm_of(comm)))
CONVENE_FORTRAN(ireduce, IREDUCE,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, root, comm, request, ierror),
                reduce(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op), *root,
                       comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(reduce_init, REDUCE_INIT,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* root, const MPI_Fint* comm, const MPI_Fint* info,
                 MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, root, comm, info, request, ierror),
                reduce(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op), *root,
                       comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(allreduce, ALLREDUCE,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, ierror),
                allreduce(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                          comm_of(comm)))
CONVENE_FORTRAN(iallreduce, IALLREDUCE,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, request, ierror),
                allreduce(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                          comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(allreduce_init, ALLREDUCE_INIT,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, info, request, ierror),
                allreduce(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                          comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(reduce_scatter, REDUCE_SCATTER,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, recvbuf, recvcounts, type, op, comm, ierror),
                reduce_scatter(translated(sendbuf), translated(recvbuf), recvcounts, type_of(type), op_of(op),
                               comm_of(comm)))
CONVENE_FORTRAN(ireduce_scatter, IREDUCE_SCATTER,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, recvbuf, recvcounts, type, op, comm, request, ierror),
                reduce_scatter(translated(sendbuf), translated(recvbuf), recvcounts, type_of(type), op_of(op),
                               comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(reduce_scatter_init, REDUCE_SCATTER_INIT,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, recvbuf, recvcounts, type, op, comm, info, request, ierror),
                reduce_scatter(translated(sendbuf), translated(recvbuf), recvcounts, type_of(type), op_of(op),
                               comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(reduce_scatter_block, REDUCE_SCATTER_BLOCK,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, recvbuf, recvcount, type, op, comm, ierror),
                reduce_scatter_block(translated(sendbuf), translated(recvbuf), *recvcount, type_of(type),
                                     op_of(op), comm_of(comm)))
CONVENE_FORTRAN(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, recvbuf, recvcount, type, op, comm, request, ierror),
                reduce_scatter_block(translated(sendbuf), translated(recvbuf), *recvcount, type_of(type),
                                     op_of(op), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(reduce_scatter_block_init, REDUCE_SCATTER_BLOCK_INIT,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, recvbuf, recvcount, type, op, comm, info, request, ierror),
                reduce_scatter_block(translated(sendbuf), translated(recvbuf), *recvcount, type_of(type),
                                     op_of(op), comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(scan, SCAN,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, ierror),
                scan(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                     comm_of(comm)))
CONVENE_FORTRAN(iscan, ISCAN,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, request, ierror),
                scan(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                     comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(scan_init, SCAN_INIT,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, info, request, ierror),
                scan(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                     comm_of(comm), RequestOf(request).form(info)))
CONVENE_FORTRAN(exscan, EXSCAN,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, ierror),
                exscan(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                       comm_of(comm)))
CONVENE_FORTRAN(iexscan, IEXSCAN,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, request, ierror),
                exscan(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                       comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(exscan_init, EXSCAN_INIT,
                (const void* sendbuf, void* recvbuf, const MPI_Fint* count, const MPI_Fint* type,
                 const MPI_Fint* op, const MPI_Fint* comm, const MPI_Fint* info, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, recvbuf, count, type, op, comm, info, request, ierror),
                exscan(translated(sendbuf), translated(recvbuf), *count, type_of(type), op_of(op),
                       comm_of(comm), RequestOf(request).form(info)))

namespace {

int free_operator(MPI_Fint* index) {
  MPI_Op op = op_of(index);
  const int code = HeldOperator::free(&op);
  if (code == MPI_SUCCESS) *index = reinterpret_cast<MPI_Fint (*)(MPI_Op)>(mpi_symbol("PMPI_Op_c2f"))(op);
  return code;
}

}  // namespace

CONVENE_FORTRAN(op_free, OP_FREE, (MPI_Fint * op, MPI_Fint* ierror), (op, ierror), free_operator(op))

}  // namespace convene

#endif  // OPEN_MPI
