// SPDX-License-Identifier: BSD-3-Clause
// Table of the collectives, one line each. Derived from it: the table of MPI functions (mpi/functions.hpp),
// the runtime's functions (runtime/call/collectives.hpp), the MPI_* entries in C and Fortran (interpose/),
// the convene_* functions (capi/api.cpp) and the benchmark's call tables (tools/bench_collective.hpp).
// Preprocessor only; needs no MPI header.
//
// To add a collective whose arguments follow a pattern below: one line in CONVENE_COLLECTIVES. To add a
// pattern: its CONVENE_ARGUMENTS_* line and its CONVENE_RUN_* line (runtime/call/run_pattern.hpp). To add a
// kind of argument, such as one datatype per peer: a line in the C declarations below, in the C entries, the
// C API, and the Fortran entries.
#pragma once

/// All collectives, in the order of collective::all_collectives:
///   KIND(Name, name, NAME, PATTERN, SEND, RECV)
/// KIND is a macro of the caller: `blocks`, `reduction` (takes an operator) or `plain` (no data, hence no
/// large counts). PATTERN names the arguments. SEND and RECV are the numbers of blocks that a rank sends and
/// receives (runtime::Number).
// clang-format off
#define CONVENE_COLLECTIVES(blocks, reduction, plain) \
  blocks(Allgather, allgather, ALLGATHER, ALL, one, each) \
  blocks(Allgatherv, allgatherv, ALLGATHERV, ALL_V, one, each) \
  blocks(Gather, gather, GATHER, GATHER, one, each_at_root) \
  blocks(Gatherv, gatherv, GATHERV, GATHER_V, one, each_at_root) \
  blocks(Scatter, scatter, SCATTER, SCATTER, each_at_root, one) \
  blocks(Scatterv, scatterv, SCATTERV, SCATTER_V, each_at_root, one) \
  blocks(Bcast, bcast, BCAST, BCAST, none, one) \
  blocks(Alltoall, alltoall, ALLTOALL, ALL, each, each) \
  blocks(Alltoallv, alltoallv, ALLTOALLV, ALL_TO_ALL_V, each, each) \
  blocks(Alltoallw, alltoallw, ALLTOALLW, ALL_TO_ALL_W, each, each) \
  plain(Barrier, barrier, BARRIER, BARRIER, none, none) \
  reduction(Reduce, reduce, REDUCE, REDUCE, one, one_at_root) \
  reduction(Allreduce, allreduce, ALLREDUCE, ALLREDUCE, one, one) \
  reduction(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, ALLREDUCE, each, one) \
  reduction(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER, each, one) \
  reduction(Scan, scan, SCAN, ALLREDUCE, one, one) \
  reduction(Exscan, exscan, EXSCAN, ALLREDUCE, one, one) \
  blocks(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER, ALL, one_if_targets, per_source) \
  blocks(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, ALL_V, one_if_targets, per_source) \
  blocks(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL, ALL, per_target, per_source) \
  blocks(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, ALL_TO_ALL_V, per_target, per_source)
// clang-format on

/// For an omitted KIND.
#define CONVENE_NO_COLLECTIVE(...)

// clang-format off
// The arguments of each pattern in MPI's order, without info and request: X(KIND, name). The ROOT_ kinds are
// significant at the root only, SEND_TYPES where sendbuf is not MPI_IN_PLACE.
#define CONVENE_ARGUMENTS_ALL(X)                                                                                   \
  X(INPUT, sendbuf), X(COUNT, sendcount), X(TYPE, sendtype),                                                       \
  X(OUTPUT, recvbuf), X(COUNT, recvcount), X(TYPE, recvtype), X(COMM, comm)
#define CONVENE_ARGUMENTS_ALL_V(X)                                                                                 \
  X(INPUT, sendbuf), X(COUNT, sendcount), X(TYPE, sendtype),                                                       \
  X(OUTPUT, recvbuf), X(COUNTS, recvcounts), X(DISPLACEMENTS, displs), X(TYPE, recvtype), X(COMM, comm)
#define CONVENE_ARGUMENTS_GATHER(X)                                                                                \
  X(INPUT, sendbuf), X(COUNT, sendcount), X(TYPE, sendtype),                                                       \
  X(OUTPUT, recvbuf), X(ROOT_COUNT, recvcount), X(TYPE, recvtype), X(ROOT, root), X(COMM, comm)
#define CONVENE_ARGUMENTS_GATHER_V(X)                                                                              \
  X(INPUT, sendbuf), X(COUNT, sendcount), X(TYPE, sendtype),                                                       \
  X(OUTPUT, recvbuf), X(ROOT_COUNTS, recvcounts), X(ROOT_DISPLACEMENTS, displs), X(TYPE, recvtype),                \
  X(ROOT, root), X(COMM, comm)
#define CONVENE_ARGUMENTS_SCATTER(X)                                                                               \
  X(INPUT, sendbuf), X(ROOT_COUNT, sendcount), X(TYPE, sendtype),                                                  \
  X(OUTPUT, recvbuf), X(COUNT, recvcount), X(TYPE, recvtype), X(ROOT, root), X(COMM, comm)
#define CONVENE_ARGUMENTS_SCATTER_V(X)                                                                             \
  X(INPUT, sendbuf), X(ROOT_COUNTS, sendcounts), X(ROOT_DISPLACEMENTS, displs), X(TYPE, sendtype),                 \
  X(OUTPUT, recvbuf), X(COUNT, recvcount), X(TYPE, recvtype), X(ROOT, root), X(COMM, comm)
#define CONVENE_ARGUMENTS_BCAST(X)                                                                                 \
  X(OUTPUT, buffer), X(COUNT, count), X(TYPE, type), X(ROOT, root), X(COMM, comm)
#define CONVENE_ARGUMENTS_ALL_TO_ALL_V(X)                                                                          \
  X(INPUT, sendbuf), X(COUNTS, sendcounts), X(DISPLACEMENTS, sdispls), X(TYPE, sendtype),                          \
  X(OUTPUT, recvbuf), X(COUNTS, recvcounts), X(DISPLACEMENTS, rdispls), X(TYPE, recvtype), X(COMM, comm)
#define CONVENE_ARGUMENTS_ALL_TO_ALL_W(X)                                                                          \
  X(INPUT, sendbuf), X(COUNTS, sendcounts), X(DISPLACEMENTS, sdispls), X(SEND_TYPES, sendtypes),                   \
  X(OUTPUT, recvbuf), X(COUNTS, recvcounts), X(DISPLACEMENTS, rdispls), X(TYPES, recvtypes), X(COMM, comm)
#define CONVENE_ARGUMENTS_REDUCE(X)                                                                                \
  X(INPUT, sendbuf), X(OUTPUT, recvbuf), X(COUNT, count), X(TYPE, type), X(OP, op), X(ROOT, root), X(COMM, comm)
#define CONVENE_ARGUMENTS_ALLREDUCE(X)                                                                             \
  X(INPUT, sendbuf), X(OUTPUT, recvbuf), X(COUNT, count), X(TYPE, type), X(OP, op), X(COMM, comm)
#define CONVENE_ARGUMENTS_REDUCE_SCATTER(X)                                                                        \
  X(INPUT, sendbuf), X(OUTPUT, recvbuf), X(COUNTS, recvcounts), X(TYPE, type), X(OP, op), X(COMM, comm)
#define CONVENE_ARGUMENTS_BARRIER(X) X(COMM, comm)
// clang-format on

/// The names of a pattern's arguments, for a call: CONVENE_NAMES(ALL) is `sendbuf, sendcount, …, comm`.
#define CONVENE_NAMES(PATTERN) CONVENE_ARGUMENTS_##PATTERN(CONVENE_NAME)
#define CONVENE_NAME(KIND, name) name

// The declaration of an argument in C. `Handles` has the types of handles: Type, Op, Comm.
#define CONVENE_DECLARE_INPUT(Count, Displacement, Handles, name) const void* name
#define CONVENE_DECLARE_OUTPUT(Count, Displacement, Handles, name) void* name
#define CONVENE_DECLARE_COUNT(Count, Displacement, Handles, name) Count name
#define CONVENE_DECLARE_COUNTS(Count, Displacement, Handles, name) const Count* name
#define CONVENE_DECLARE_DISPLACEMENTS(Count, Displacement, Handles, name) const Displacement* name
#define CONVENE_DECLARE_ROOT_COUNT CONVENE_DECLARE_COUNT
#define CONVENE_DECLARE_ROOT_COUNTS CONVENE_DECLARE_COUNTS
#define CONVENE_DECLARE_ROOT_DISPLACEMENTS CONVENE_DECLARE_DISPLACEMENTS
#define CONVENE_DECLARE_TYPE(Count, Displacement, Handles, name) Handles::Type name
#define CONVENE_DECLARE_TYPES(Count, Displacement, Handles, name) const MPI_Datatype* name
#define CONVENE_DECLARE_SEND_TYPES CONVENE_DECLARE_TYPES
#define CONVENE_DECLARE_OP(Count, Displacement, Handles, name) Handles::Op name
#define CONVENE_DECLARE_ROOT(Count, Displacement, Handles, name) int name
#define CONVENE_DECLARE_COMM(Count, Displacement, Handles, name) Handles::Comm name

// True for the kinds that are arrays with one entry per block: CONVENE_HAS_ARRAYS(ALL_V).
#define CONVENE_IS_ARRAY_INPUT false
#define CONVENE_IS_ARRAY_OUTPUT false
#define CONVENE_IS_ARRAY_COUNT false
#define CONVENE_IS_ARRAY_COUNTS true
#define CONVENE_IS_ARRAY_DISPLACEMENTS true
#define CONVENE_IS_ARRAY_ROOT_COUNT false
#define CONVENE_IS_ARRAY_ROOT_COUNTS true
#define CONVENE_IS_ARRAY_ROOT_DISPLACEMENTS true
#define CONVENE_IS_ARRAY_TYPE false
#define CONVENE_IS_ARRAY_TYPES true
#define CONVENE_IS_ARRAY_SEND_TYPES true
#define CONVENE_IS_ARRAY_OP false
#define CONVENE_IS_ARRAY_ROOT false
#define CONVENE_IS_ARRAY_COMM false
#define CONVENE_IS_ARRAY(KIND, name) CONVENE_IS_ARRAY_##KIND
/// A constant expression: true if a pattern has arrays of counts.
#define CONVENE_HAS_ARRAYS(PATTERN)                                             \
  [] {                                                                          \
    for (const bool is_array : {CONVENE_ARGUMENTS_##PATTERN(CONVENE_IS_ARRAY)}) \
      if (is_array) return true;                                                \
    return false;                                                               \
  }()
