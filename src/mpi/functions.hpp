// SPDX-License-Identifier: BSD-3-Clause
// Table of PMPI functions: Convene's own calls of MPI. Filled at the first call.
//
// Convene is not linked against an MPI. A drop-in library is loaded before the MPI is, and into shells and
// launchers that never load one; a program may load its MPI privately, as Python does. So every function is
// looked up at run time, and functions that the MPI lacks (such as large-count forms) are null. Calls that
// pass through use mpi/next_symbol.hpp.
#pragma once

#include "base/layers.hpp"
#include "mpi/collective_table.hpp"
#include "mpi/stack.hpp"
#include "mpi/symbols.hpp"

namespace convene::mpi {

/// The collectives of an MPI: blocking, non-blocking and with large counts. A form that the MPI lacks is
/// null. (Persistent forms are looked up by name: few programs use them.)
struct CollectiveFunctions {
#define CONVENE_MEMBERS(Name, name, ...) \
  decltype(&PMPI_##Name) Name = nullptr; \
  decltype(&PMPI_I##name) I##name = nullptr;
#if CONVENE_LARGE_COUNTS
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

// All other functions that Convene calls.
// clang-format off
#define CONVENE_MPI_FUNCTIONS(X) \
  X(Abort) X(Cancel) X(Cart_shift) X(Cartdim_get) \
  X(Comm_call_errhandler) X(Comm_create) X(Comm_create_keyval) X(Comm_free) X(Comm_get_attr) \
  X(Comm_get_errhandler) X(Comm_group) X(Comm_rank) X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_split) X(Comm_split_type) X(Comm_test_inter) X(Dist_graph_neighbors) \
  X(Dist_graph_neighbors_count) X(Errhandler_free) X(Finalized) \
  X(Get_library_version) X(Get_processor_name) X(Graph_neighbors) X(Graph_neighbors_count) X(Grequest_complete) X(Grequest_start) X(Group_free) \
  X(Group_size) X(Group_translate_ranks) X(Initialized) X(Intercomm_merge) X(Iprobe) X(Irecv) X(Isend) \
  X(Op_commutative) X(Op_free) X(Pack) X(Query_thread) X(Recv) X(Recv_init) X(Reduce_local) \
  X(Request_free) X(Send) X(Sendrecv) X(Start) X(Status_set_cancelled) X(Status_set_elements) X(Test) X(Testsome) X(Topo_test) \
  X(Type_commit) X(Type_contiguous) X(Type_create_struct) X(Type_free) X(Type_get_contents) \
  X(Type_get_envelope) X(Type_get_extent) X(Type_get_true_extent) X(Type_size_x) X(Unpack) X(Wait) X(Waitsome)

#if CONVENE_LARGE_COUNTS
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

/// The next definitions of MPI's collectives (mpi/next_symbol.hpp), for calls of the program that run
/// natively: a profiling tool behind Convene sees them. Filled together with `pmpi`.
extern CollectiveFunctions next_mpi;

/// Compatibility of the loaded MPI with the stack that this library was built for.
enum class MpiFit { none, fits, differs };

/// Finds the loaded MPI, and fills the table if it is the stack that this library was built for. Any thread
/// may call it, any number of times: the first call that finds an MPI decides.
MpiFit find_mpi();

/// True if the loaded library implements MPI's standard ABI, according to its file name.
bool is_standard_abi();

/// First line of MPI_Get_library_version; empty if no MPI is loaded.
const char* mpi_library_version();

}  // namespace convene::mpi
