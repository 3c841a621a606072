// SPDX-License-Identifier: BSD-3-Clause
// Fortran forms of interpose/creation.cpp that do not call the C functions. All arguments are passed by
// address, handles are integers, and ierror may be absent (null).
#pragma once

#include "interpose/fortran/fortran_requests.hpp"
#include "interpose/interposition.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/comm/communicator.hpp"

namespace convene::interpose::fortran {

using Word = const void*;

/// What follows the creation of a communicator, which has returned `code`.
inline void prepare(const int* made, int code, const void* caller) {
  if (code != MPI_SUCCESS || !is_active()) return;
  recorder::note_caller(caller);
  Communicator::prepare(comm_of(*made));
}

}  // namespace convene::interpose::fortran

/// Defines one spelling of a function; `names` are those of the parameters, without ierror.
#define CONVENE_CREATION_SPELLING(id, spelling, parameters, names)                                           \
  extern "C" void convene_creation_##id parameters __asm__(spelling) __attribute__((visibility("default"))); \
  extern "C" void convene_creation_##id parameters {                                                         \
    static constinit convene::mpi::NextFunction<void(*) parameters> next(spelling);                          \
    int code = MPI_SUCCESS;                                                                                  \
    next.get(__builtin_return_address(0))(CONVENE_CREATION_LIST names, &code);                               \
    convene::interpose::fortran::prepare(made, code, __builtin_return_address(0));                           \
    if (ierror) *ierror = code;                                                                              \
  }
#define CONVENE_CREATION_LIST(...) __VA_ARGS__

/// Each function: name, name in capitals, parameters, their names without ierror.
#define CONVENE_CREATIONS(X)                                                                               \
  X(comm_dup, COMM_DUP, (Word comm, int* made, int* ierror), (comm, made))                                 \
  X(comm_dup_with_info, COMM_DUP_WITH_INFO, (Word comm, Word info, int* made, int* ierror),                \
    (comm, info, made))                                                                                    \
  X(comm_split, COMM_SPLIT, (Word comm, Word color, Word key, int* made, int* ierror),                     \
    (comm, color, key, made))                                                                              \
  X(comm_split_type, COMM_SPLIT_TYPE, (Word comm, Word type, Word key, Word info, int* made, int* ierror), \
    (comm, type, key, info, made))                                                                         \
  X(comm_create, COMM_CREATE, (Word comm, Word group, int* made, int* ierror), (comm, group, made))        \
  X(comm_create_group, COMM_CREATE_GROUP, (Word comm, Word group, Word tag, int* made, int* ierror),       \
    (comm, group, tag, made))                                                                              \
  X(intercomm_merge, INTERCOMM_MERGE, (Word comm, Word high, int* made, int* ierror), (comm, high, made))  \
  X(cart_create, CART_CREATE,                                                                              \
    (Word comm, Word dimensions, Word sizes, Word periods, Word reorder, int* made, int* ierror),          \
    (comm, dimensions, sizes, periods, reorder, made))                                                     \
  X(cart_sub, CART_SUB, (Word comm, Word remaining, int* made, int* ierror), (comm, remaining, made))      \
  X(graph_create, GRAPH_CREATE,                                                                            \
    (Word comm, Word nodes, Word index, Word edges, Word reorder, int* made, int* ierror),                 \
    (comm, nodes, index, edges, reorder, made))                                                            \
  X(dist_graph_create, DIST_GRAPH_CREATE,                                                                  \
    (Word comm, Word count, Word sources, Word degrees, Word destinations, Word weights, Word info,        \
     Word reorder, int* made, int* ierror),                                                                \
    (comm, count, sources, degrees, destinations, weights, info, reorder, made))                           \
  X(dist_graph_create_adjacent, DIST_GRAPH_CREATE_ADJACENT,                                                \
    (Word comm, Word in, Word sources, Word source_weights, Word out, Word destinations,                   \
     Word destination_weights, Word info, Word reorder, int* made, int* ierror),                           \
    (comm, in, sources, source_weights, out, destinations, destination_weights, info, reorder, made))
