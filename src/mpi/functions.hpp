// SPDX-License-Identifier: BSD-3-Clause
// Table of PMPI functions: Convene's own calls of MPI. Filled when the first call arrives.
//
// Convene is not linked against an MPI. A drop-in library is loaded before the MPI is, and into shells and launchers
// that never load one; a program may load its MPI privately, as Python does. So every function is looked up at run time,
// and one that the MPI lacks (a large-count form, say) is null. Calls that pass through use mpi/next_symbol.hpp.
#pragma once

#include "base/layers.hpp"
#include "mpi/stack.hpp"

namespace convene::mpi {

// clang-format off
#define CONVENE_MPI_FUNCTIONS(X) \
  X(Abort) X(Allgather) X(Allgatherv) X(Allreduce) X(Alltoall) X(Alltoallv) X(Barrier) X(Bcast) X(Cancel) X(Cart_shift) X(Cartdim_get) \
  X(Comm_call_errhandler) X(Comm_create) X(Comm_create_keyval) X(Comm_free) X(Comm_get_attr) \
  X(Comm_get_errhandler) X(Comm_group) X(Comm_idup) X(Comm_rank) X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) \
  X(Comm_set_errhandler) X(Comm_size) X(Comm_split) X(Comm_split_type) X(Comm_test_inter) X(Dist_graph_neighbors) \
  X(Dist_graph_neighbors_count) X(Errhandler_free) X(Exscan) X(Finalized) \
  X(Gather) X(Gatherv) X(Get_processor_name) X(Graph_neighbors) X(Graph_neighbors_count) X(Grequest_complete) X(Grequest_start) X(Group_free) \
  X(Group_size) X(Group_translate_ranks) \
  X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ibarrier) X(Ibcast) X(Igather) X(Igatherv) \
  X(Iallreduce) X(Iexscan) X(Ineighbor_allgather) X(Ineighbor_allgatherv) X(Initialized) X(Iprobe) X(Irecv) X(Ireduce) X(Ireduce_scatter) X(Ireduce_scatter_block) \
  X(Intercomm_merge) X(Iscan) X(Iscatter) X(Iscatterv) X(Isend) X(Neighbor_allgather) X(Neighbor_allgatherv) X(Op_commutative) X(Op_free) X(Pack) X(Query_thread) X(Recv) X(Recv_init) X(Reduce) X(Reduce_local) \
  X(Reduce_scatter) X(Reduce_scatter_block) X(Request_free) X(Scan) X(Scatter) X(Scatterv) X(Send) X(Sendrecv) X(Start) X(Status_set_cancelled) X(Status_set_elements) X(Test) X(Testsome) X(Topo_test) \
  X(Type_commit) X(Type_contiguous) X(Type_create_struct) X(Type_free) X(Type_get_contents) \
  X(Type_get_envelope) X(Type_get_extent) X(Type_get_true_extent) X(Type_size_x) X(Unpack) X(Wait) X(Waitsome)

#if CONVENE_LARGE_COUNTS
#define CONVENE_MPI_LARGE_FUNCTIONS(X) \
  X(Allgather_c) X(Allgatherv_c) X(Alltoall_c) X(Alltoallv_c) X(Bcast_c) X(Gather_c) X(Gatherv_c) \
  X(Iallgather_c) X(Iallgatherv_c) X(Ialltoall_c) X(Ialltoallv_c) X(Ibcast_c) X(Igather_c) X(Igatherv_c) \
  X(Ineighbor_allgather_c) X(Ineighbor_allgatherv_c) X(Neighbor_allgather_c) X(Neighbor_allgatherv_c) \
  X(Allreduce_c) X(Exscan_c) X(Iallreduce_c) X(Iexscan_c) X(Ireduce_c) X(Ireduce_scatter_block_c) \
  X(Ireduce_scatter_c) X(Iscan_c) X(Iscatter_c) X(Iscatterv_c) X(Reduce_c) X(Reduce_scatter_block_c) \
  X(Reduce_scatter_c) X(Scan_c) X(Scatter_c) X(Scatterv_c) X(Type_get_contents_c) X(Type_get_envelope_c) \
  X(Pack_c) X(Unpack_c)
#else
#define CONVENE_MPI_LARGE_FUNCTIONS(X)
#endif
// clang-format on

struct MpiTable {
#define CONVENE_MEMBER(name) decltype(&PMPI_##name) name = nullptr;
  CONVENE_MPI_FUNCTIONS(CONVENE_MEMBER)
  CONVENE_MPI_LARGE_FUNCTIONS(CONVENE_MEMBER)
#undef CONVENE_MEMBER
};

/// The MPI of this process; all null before find_mpi().
extern MpiTable pmpi;

/// How the loaded MPI fits the stack that this library was built for.
enum class MpiFit { none, fits, differs };

/// Finds the loaded MPI, and fills the table if it is the stack that this library was built for. Any thread may call it,
/// any number of times: the first call that finds an MPI decides.
MpiFit find_mpi();

/// Address of a function or object of the loaded MPI, or null. For what is not in the table.
void* mpi_symbol(const char* name);

/// Whether the loaded library is one of MPI's standard ABI, by its file name.
bool is_standard_abi();

/// First line of MPI_Get_library_version; empty if no MPI is loaded.
const char* mpi_library_version();

}  // namespace convene::mpi
