// SPDX-License-Identifier: BSD-3-Clause
// File of a rank's recordings; docs/reference/formats.md describes its format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/comm_info.hpp"
#include "runtime/stats/recording.hpp"

namespace convene::runtime::recorder {

/// The members of a communicator and this rank's number among them. Local.
RecordedCommunicator describe_communicator(const CommInfo& info);

/// Agrees on a name, which rank 0 chooses. Collective.
void name_communicator(MPI_Comm comm, RecordedCommunicator& communicator, CommonClock::Await await);

/// Writes one file into the directory; reports a failure on standard error. Call it while the MPI still
/// works.
void write_recordings(const std::string& directory, const std::vector<const Recording*>& recordings,
                      TickLine ticks);

}  // namespace convene::runtime::recorder
