// SPDX-License-Identifier: BSD-3-Clause
// MPI functions that create communicators, blocking. After the call all ranks of the new communicator make
// its internal communicator: a non-blocking collective, which may be the first one there, must not wait for
// other ranks.
//
// Not here are MPI_Comm_idup, which does not wait, MPI_Comm_create_from_group, and what makes
// intercommunicators.
#include "interpose/interposition.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/comm/communicator.hpp"

using convene::interpose::HandleWord;

/// Defines one MPI function; the new communicator is `made`.
#define CONVENE_CREATION(name, parameters, names)                                      \
  extern "C" int convene_creation_##name parameters __asm__("MPI_" #name)              \
      __attribute__((visibility("default")));                                          \
  extern "C" int convene_creation_##name parameters {                                  \
    static constinit convene::mpi::NextFunction<int(*) parameters> next("MPI_" #name); \
    const int code = next.get(__builtin_return_address(0)) names;                      \
    if (code == MPI_SUCCESS && convene::interpose::is_active()) {                      \
      convene::runtime::recorder::note_caller(__builtin_return_address(0));            \
      convene::runtime::Communicator::prepare(*made);                                  \
    }                                                                                  \
    return code;                                                                       \
  }

CONVENE_CREATION(Comm_dup, (HandleWord comm, MPI_Comm* made), (comm, made))
CONVENE_CREATION(Comm_dup_with_info, (HandleWord comm, HandleWord info, MPI_Comm* made), (comm, info, made))
CONVENE_CREATION(Comm_split, (HandleWord comm, int color, int key, MPI_Comm* made), (comm, color, key, made))
CONVENE_CREATION(Comm_split_type, (HandleWord comm, int type, int key, HandleWord info, MPI_Comm* made),
                 (comm, type, key, info, made))
CONVENE_CREATION(Comm_create, (HandleWord comm, HandleWord group, MPI_Comm* made), (comm, group, made))
CONVENE_CREATION(Comm_create_group, (HandleWord comm, HandleWord group, int tag, MPI_Comm* made),
                 (comm, group, tag, made))
CONVENE_CREATION(Intercomm_merge, (HandleWord comm, int high, MPI_Comm* made), (comm, high, made))
CONVENE_CREATION(Cart_create,
                 (HandleWord comm, int dimensions, const int* sizes, const int* periods, int reorder,
                  MPI_Comm* made),
                 (comm, dimensions, sizes, periods, reorder, made))
CONVENE_CREATION(Cart_sub, (HandleWord comm, const int* remaining, MPI_Comm* made), (comm, remaining, made))
CONVENE_CREATION(Graph_create,
                 (HandleWord comm, int nodes, const int* index, const int* edges, int reorder,
                  MPI_Comm* made),
                 (comm, nodes, index, edges, reorder, made))
CONVENE_CREATION(Dist_graph_create,
                 (HandleWord comm, int count, const int* sources, const int* degrees, const int* destinations,
                  const int* weights, HandleWord info, int reorder, MPI_Comm* made),
                 (comm, count, sources, degrees, destinations, weights, info, reorder, made))
CONVENE_CREATION(Dist_graph_create_adjacent,
                 (HandleWord comm, int in, const int* sources, const int* source_weights, int out,
                  const int* destinations, const int* destination_weights, HandleWord info, int reorder,
                  MPI_Comm* made),
                 (comm, in, sources, source_weights, out, destinations, destination_weights, info, reorder,
                  made))
