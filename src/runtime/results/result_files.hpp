// SPDX-License-Identifier: BSD-3-Clause
// Result files: profiles, recordings and learned wisdom. A rank that sees the directory of the run writes
// into it. The results of other ranks travel through the MPI to rank 0 when the program finalizes; rank 0
// writes them, or returns them to the launching machine (return_channel.hpp).
//
// Design notes
// - A directory of the run is recognised by a file in it that carries the run's identifier: a directory of
//   the same name on another node has none.
// - All ranks agree in MPI_Init whether results must travel. If not, MPI_Finalize is as without this module.
//   If so, the communicator for it is made there, too: MPI_Finalize is collective, and every rank sends.
// - Rank 0 takes one rank's files after the other, in the order in which ranks finalize, and passes on each
//   chunk at once: a run that is ended meanwhile has the results of those. Memory is bounded by a chunk.
// - A send that has completed may still be queued in the MPI. So each rank waits for a receipt before it
// enters
//   MPI_Finalize, and rank 0 for the answer to that.
// - A file's content is produced when it is written or sent. What it refers to must exist until then.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/layers.hpp"

namespace convene::runtime::results {

using Sink = std::function<void(std::string_view)>;
/// Passes the content to a sink, in any number of parts.
using Content = std::function<void(const Sink&)>;

/// Directories of the run; an empty one is not wanted.
struct Directories {
  std::string profiles, recordings;
};

/// True if results of some rank must travel: all ranks then call collect(). Collective over MPI_COMM_WORLD.
bool prepare(Directories directories);

/// True if the files of this rank travel.
bool is_remote();

/// Writes a file into a directory of the run, or keeps it for collect(). Returns why not, in the system's
/// words; else nothing.
std::string write(const std::string& directory, const std::string& name, Content content);

/// Sends the kept files to rank 0, which writes or returns all. Collective over MPI_COMM_WORLD. Failures are
/// reported in one sentence on standard error.
void collect();

/// The content of that name on the launching machine; empty if rank 0 has access to its files, or on failure.
/// For rank 0.
std::string fetch(const std::string& name);

}  // namespace convene::runtime::results
