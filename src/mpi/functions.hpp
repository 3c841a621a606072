// SPDX-License-Identifier: BSD-3-Clause
// The MPI as Convene calls it: a table of PMPI functions, looked up when the first call comes in.
//
// Nothing here is linked against an MPI. A drop-in library is loaded before the MPI is (and into shells and launchers
// that never load one), and a program may load its MPI without showing its symbols to others, as Python does. So
// every function is found at run time, and a form that the MPI does not have (the large-count ones, say) is null.
#pragma once

#include "base/layers.hpp"
#include "mpi/collective_table.hpp"
#include "mpi/symbols.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#ifdef OPEN_MPI
// Open MPI's predefined handles are addresses of its objects: look these up by name, too.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                         \
  (reinterpret_cast<type>([]() -> void* {                            \
    static void* const object = ::convene::mpi::mpi_object(#global); \
    return object;                                                   \
  }()))
#endif

namespace convene::mpi {

/// The collectives of an MPI: blocking, non-blocking and, where the MPI has such, with large counts. A form that the MPI
/// lacks is null. (Persistent forms are looked up by name: few programs use them.)
struct CollectiveFunctions {
#define CONVENE_MEMBERS(Name, name, ...) \
  decltype(&PMPI_##Name) Name = nullptr; \
  decltype(&PMPI_I##name) I##name = nullptr;
#if MPI_VERSION >= 4
#define CONVENE_MEMBERS_OF_DATA(Name, name, ...) \
  CONVENE_MEMBERS(Name, name)                    \
  decltype(&PMPI_##Name##_c) Name##_c = nullptr; \
  decltype(&PMPI_I##name##_c) I##name##_c = nullptr;
#else
#define CONVENE_MEMBERS_OF_DATA CONVENE_MEMBERS
#endif
  CONVENE_COLLECTIVES(CONVENE_MEMBERS_OF_DATA, CONVENE_MEMBERS_OF_DATA, CONVENE_MEMBERS)
#undef CONVENE_MEMBERS_OF_DATA
#undef CONVENE_MEMBERS
};

// Everything else that Convene calls.
// clang-format off
#define CONVENE_MPI_FUNCTIONS(X) \
  X(Abort) X(Cancel) X(Cart_shift) X(Cartdim_get) \
  X(Comm_call_errhandler) X(Comm_create) X(Comm_create_keyval) X(Comm_free) X(Comm_get_attr) \
  X(Comm_get_errhandler) X(Comm_group) X(Comm_idup) X(Comm_rank) X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_split) X(Comm_split_type) X(Comm_test_inter) X(Dist_graph_neighbors) \
  X(Dist_graph_neighbors_count) X(Errhandler_free) X(Finalized) \
  X(Get_processor_name) X(Graph_neighbors) X(Graph_neighbors_count) X(Grequest_complete) X(Grequest_start) X(Group_free) \
  X(Group_size) X(Group_translate_ranks) X(Initialized) X(Intercomm_merge) X(Iprobe) X(Irecv) X(Isend) \
  X(Op_commutative) X(Op_free) X(Pack) X(Query_thread) X(Recv) X(Recv_init) X(Reduce_local) \
  X(Request_free) X(Send) X(Sendrecv) X(Start) X(Status_set_cancelled) X(Status_set_elements) X(Test) X(Testsome) X(Topo_test) \
  X(Type_commit) X(Type_contiguous) X(Type_create_struct) X(Type_free) X(Type_get_contents) \
  X(Type_get_envelope) X(Type_get_extent) X(Type_get_true_extent) X(Type_size_x) X(Unpack) X(Wait) X(Waitsome)

#if MPI_VERSION >= 4
#define CONVENE_MPI_LARGE_FUNCTIONS(X) X(Pack_c) X(Type_get_contents_c) X(Type_get_envelope_c) X(Unpack_c)
#else
#define CONVENE_MPI_LARGE_FUNCTIONS(X)
#endif
// clang-format on

struct MpiTable : CollectiveFunctions {
#define CONVENE_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  CONVENE_MPI_FUNCTIONS(CONVENE_MEMBER)
  CONVENE_MPI_LARGE_FUNCTIONS(CONVENE_MEMBER)
#undef CONVENE_MEMBER
};

/// The PMPI functions of this process, for Convene's own calls; all null before find_mpi().
extern MpiTable pmpi;

/// The next definitions of MPI's collectives (mpi/next_symbol.hpp), for calls of the program that run natively: a profiling
/// tool behind Convene counts them. Filled together with `pmpi`.
extern CollectiveFunctions next_mpi;

/// How the MPI that this process has loaded fits the one that this library was built for.
enum class MpiFit { none, fits, differs };

/// Looks for the MPI that is loaded, and fills the table if it is the one that this library was built for. Any thread
/// may call it, any number of times: the first call that finds an MPI decides.
MpiFit find_mpi();

/// What the MPI says of itself, first line; empty where none is loaded.
const char* mpi_library_version();

}  // namespace convene::mpi
