// SPDX-License-Identifier: BSD-3-Clause
// Learned wisdom: verdicts of this process's trials, which become entries of a wisdom file when MPI
// finalizes.
//
// Design notes
// - The file is the first of CONVENE_WISDOM, by default the user's. None is written with CONVENE_WISDOM=none.
// - If the launching machine shares no files with this process, the entries return to it with the results
//   (runtime/results/result_files.hpp); `convene` merges them there.
// - Rank 0 of a communicator keeps its verdicts. Several processes, and other jobs, may write one file: they
//   wait for its lock, merge, and replace it as a whole. No MPI function is called meanwhile.
#pragma once

#include "decide/wisdom_update.hpp"

namespace convene::runtime {

/// Keeps a verdict until MPI finalizes; without the machine and the date, which are added then.
void add_learned(decide::LearnedEntry entry);

}  // namespace convene::runtime
