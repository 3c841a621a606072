// SPDX-License-Identifier: BSD-3-Clause
// What a program calls instead of its MPI: the reductions.
#include "interpose/entry.hpp"
#include "runtime/operator.hpp"
#include "runtime/reductions.hpp"

using convene::comm_of;
using convene::Form;
using convene::HandleWord;
using convene::op_of;
using convene::type_of;

CONVENE_ENTRY(Reduce,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op, int root,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, root, comm),
              reduce(sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of(comm)))
CONVENE_ENTRY(Ireduce,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op, int root,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, root, comm, request),
              reduce(sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Allreduce,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, comm),
              allreduce(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Iallreduce,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op, HandleWord comm,
               MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, comm, request),
              allreduce(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), Form{request}))
CONVENE_ENTRY(Reduce_scatter,
              (const void* sendbuf, void* recvbuf, const int* recvcounts, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, recvcounts, type, op, comm),
              reduce_scatter(sendbuf, recvbuf, recvcounts, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Ireduce_scatter,
              (const void* sendbuf, void* recvbuf, const int* recvcounts, HandleWord type, HandleWord op,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, recvcounts, type, op, comm, request),
              reduce_scatter(sendbuf, recvbuf, recvcounts, type_of(type), op_of(op), comm_of(comm),
                             Form{request}))
CONVENE_ENTRY(Reduce_scatter_block,
              (const void* sendbuf, void* recvbuf, int recvcount, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, recvcount, type, op, comm),
              reduce_scatter_block(sendbuf, recvbuf, recvcount, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Ireduce_scatter_block,
              (const void* sendbuf, void* recvbuf, int recvcount, HandleWord type, HandleWord op,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, recvcount, type, op, comm, request),
              reduce_scatter_block(sendbuf, recvbuf, recvcount, type_of(type), op_of(op), comm_of(comm),
                                   Form{request}))
CONVENE_ENTRY(Scan,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, comm),
              scan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Iscan,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op, HandleWord comm,
               MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, comm, request),
              scan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), Form{request}))
CONVENE_ENTRY(Exscan,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, comm),
              exscan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Iexscan,
              (const void* sendbuf, void* recvbuf, int count, HandleWord type, HandleWord op, HandleWord comm,
               MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, comm, request),
              exscan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), Form{request}))

CONVENE_ENTRY(Op_free, (MPI_Op * op), (op), HeldOperator::free(op))

#if MPI_VERSION >= 4

CONVENE_ENTRY(Reduce_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op, int root,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, root, comm),
              reduce(sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of(comm)))
CONVENE_ENTRY(Ireduce_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op, int root,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, root, comm, request),
              reduce(sendbuf, recvbuf, count, type_of(type), op_of(op), root, comm_of(comm), Form{request}))
CONVENE_ENTRY(Allreduce_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, comm),
              allreduce(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Iallreduce_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, comm, request),
              allreduce(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), Form{request}))
CONVENE_ENTRY(Reduce_scatter_c,
              (const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, HandleWord type,
               HandleWord op, HandleWord comm),
              (sendbuf, recvbuf, recvcounts, type, op, comm),
              reduce_scatter(sendbuf, recvbuf, recvcounts, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Ireduce_scatter_c,
              (const void* sendbuf, void* recvbuf, const MPI_Count* recvcounts, HandleWord type,
               HandleWord op, HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, recvcounts, type, op, comm, request),
              reduce_scatter(sendbuf, recvbuf, recvcounts, type_of(type), op_of(op), comm_of(comm),
                             Form{request}))
CONVENE_ENTRY(Reduce_scatter_block_c,
              (const void* sendbuf, void* recvbuf, MPI_Count recvcount, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, recvcount, type, op, comm),
              reduce_scatter_block(sendbuf, recvbuf, recvcount, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Ireduce_scatter_block_c,
              (const void* sendbuf, void* recvbuf, MPI_Count recvcount, HandleWord type, HandleWord op,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, recvcount, type, op, comm, request),
              reduce_scatter_block(sendbuf, recvbuf, recvcount, type_of(type), op_of(op), comm_of(comm),
                                   Form{request}))
CONVENE_ENTRY(Scan_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, comm),
              scan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Iscan_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, comm, request),
              scan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), Form{request}))
CONVENE_ENTRY(Exscan_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op,
               HandleWord comm),
              (sendbuf, recvbuf, count, type, op, comm),
              exscan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm)))
CONVENE_ENTRY(Iexscan_c,
              (const void* sendbuf, void* recvbuf, MPI_Count count, HandleWord type, HandleWord op,
               HandleWord comm, MPI_Request* request),
              (sendbuf, recvbuf, count, type, op, comm, request),
              exscan(sendbuf, recvbuf, count, type_of(type), op_of(op), comm_of(comm), Form{request}))

#endif
