// SPDX-License-Identifier: BSD-3-Clause
// End of the process's runtime: stops threads, completes operations, closes handles and writes files, in a
// fixed order.
//
// Design notes
// - The end is the deletion of MPI_COMM_SELF's attributes, at the start of MPI_Finalize: the MPI still works
//   then, and tools that call PMPI_Finalize themselves reach it, too. The stages run in the order of the
//   enumeration, the actions of a stage in the order in which they were registered.
// - Threads end earlier if Convene intercepts MPI_Finalize itself (capi/finalize.cpp explains why).
// - If results are collected, the end is before MPI_Finalize, where every MPI communicates as usual. Where
//   Convene does not intercept MPI_Finalize, it is at the deletion of the attributes even then.
// - A module registers its action when it first needs one. Registered actions are plain functions that are
//   called once. Any thread may register; the list has a lock, which is not held while actions run.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/layers.hpp"

namespace convene::runtime::process {

enum class EndStage : std::uint8_t {
  stop_threads,      ///< background progress, the watch of native calls
  drain,             ///< complete pending operations, within a second
  close,             ///< free communicator handles, write the profile
  write_recordings,  ///< write recordings, those of communicators included
  collect            ///< results of nodes that do not share the directories of the run
};

/// Calls `action` once at a stage of the end. The first registration sets the attribute on MPI_COMM_SELF, so
/// MPI must be initialised.
void at_end(EndStage stage, void (*action)());

/// Runs the actions of EndStage::stop_threads now; those of all stages if one is EndStage::collect. Call it
/// before MPI_Finalize.
void before_finalize();

/// True once before_finalize() has run: no thread may be started afterwards.
bool are_threads_stopped();

/// True from the stage `close` on: communicators are closed, and the MPI frees the rest.
bool is_finalizing();

}  // namespace convene::runtime::process
