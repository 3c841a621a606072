// SPDX-License-Identifier: BSD-3-Clause
// Traits of the MPI stack of this compilation: the only place that tests which mpi.h it is.
//
// What a stack does is in stack_<name>*.cpp here, in interpose and in interpose/fortran, compiled for that
// stack (or that family of stacks, cmake/stacks.cmake) alone. docs/structure.md lists what a new stack
// touches.
#pragma once

#include <cstddef>
#include <type_traits>

#include "base/layers.hpp"
#include "mpi/symbols.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace convene::mpi::stack {

/// Name of the stack, as in the names of Convene's libraries.
inline constexpr const char* name = CONVENE_STACK_NAME;

/// Whether time is simulated: what was measured on a machine does not count there.
#if defined(OPEN_MPI) || defined(MPI_ABI_VERSION) || defined(MPICH_VERSION)
inline constexpr bool is_simulated = false;
#else
inline constexpr bool is_simulated = true;
#endif

// MPICH packs scattered messages two to ten times as slowly as the executor does (5.0.2, within a node): all
// messages are packed for which a run has memory left. Elsewhere a datatype costs one or two microseconds and
// saves both copies.
inline constexpr std::size_t pack_all_below = 64 * 1024 * 1024, pack_short_below = 32 * 1024;

#if defined(OPEN_MPI)

inline constexpr bool has_progress_hook = true;  ///< its progress engine calls callbacks of
                                                 ///< add_progress_callback()
inline constexpr bool has_extended_requests = false;
inline constexpr std::size_t pack_below = pack_short_below;

#elif defined(MPI_ABI_VERSION)

inline constexpr bool has_progress_hook = false;
inline constexpr bool has_extended_requests = true;  ///< MPIX_Grequest_start, in a library that may lack it
inline constexpr std::size_t pack_below = pack_all_below;

#elif defined(MPICH_VERSION)

inline constexpr bool has_progress_hook = false;
inline constexpr bool has_extended_requests = true;
inline constexpr std::size_t pack_below = pack_all_below;

#else  // SimGrid's SMPI

inline constexpr bool has_progress_hook = false;
inline constexpr bool has_extended_requests = false;
inline constexpr std::size_t pack_below = pack_short_below;

#endif

/// True if handles are addresses of the MPI's objects; otherwise they are integers, the same in C and in
/// Fortran.
inline constexpr bool handles_are_addresses = std::is_pointer_v<MPI_Request>;

/// Names of the functions that convert handles between C and Fortran's integers.
#if defined(MPI_ABI_VERSION)
inline constexpr const char *comm_from_fortran = "PMPI_Comm_fromint",
                            *type_from_fortran = "PMPI_Type_fromint", *op_from_fortran = "PMPI_Op_fromint",
                            *op_to_fortran = "PMPI_Op_toint", *info_from_fortran = "PMPI_Info_fromint",
                            *request_from_fortran = "PMPI_Request_fromint",
                            *request_to_fortran = "PMPI_Request_toint";
#else
inline constexpr const char *comm_from_fortran = "PMPI_Comm_f2c", *type_from_fortran = "PMPI_Type_f2c",
                            *op_from_fortran = "PMPI_Op_f2c", *op_to_fortran = "PMPI_Op_c2f",
                            *info_from_fortran = "PMPI_Info_f2c", *request_from_fortran = "PMPI_Request_f2c",
                            *request_to_fortran = "PMPI_Request_c2f";
#endif

/// CONVENE_LARGE_COUNTS: defined if the header declares large-count functions (MPI 4).
#if MPI_VERSION >= 4
#define CONVENE_LARGE_COUNTS 1
#else
#define CONVENE_LARGE_COUNTS 0
#endif

/// The combiner of MPI_Type_get_value_index (MPI 4.1). Its types are predefined, like named ones.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
inline constexpr int combiner_value_index = MPI_COMBINER_VALUE_INDEX;
#else
inline constexpr int combiner_value_index = MPI_COMBINER_NAMED;
#endif

/// True if the loaded MPI has the binary interface of this stack.
bool is_loaded();

using ProgressCallback = int (*)();
/// True if add_progress_callback() works with the loaded MPI.
bool can_add_progress_callback();
/// Adds a callback to the MPI's progress engine, which makes every poll for messages more expensive. Returns
/// false on failure.
bool add_progress_callback(ProgressCallback callback);

/// Callbacks of a generalised request. The last two are for extended requests: `poll` progresses one, `wait`
/// waits for several.
struct RequestCallbacks {
  int (*query)(void*, MPI_Status*);
  int (*free)(void*);
  int (*cancel)(void*, int);
  int (*poll)(void*, MPI_Status*);
  int (*wait)(int, void**, double, MPI_Status*);
};
/// True if the loaded MPI has extended generalised requests, which its wait calls progress.
bool can_extend_requests();
/// Starts a generalised request: an extended one if the MPI has them, else a plain one. Returns the MPI's
/// code.
int start_request(const RequestCallbacks& callbacks, void* context, MPI_Request* request);

}  // namespace convene::mpi::stack

#if defined(OPEN_MPI)
// Predefined handles are addresses of objects, which are looked up by name like functions.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global)                         \
  (reinterpret_cast<type>([]() -> void* {                            \
    static void* const object = ::convene::mpi::mpi_object(#global); \
    return object;                                                   \
  }()))
#endif
