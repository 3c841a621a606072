// SPDX-License-Identifier: BSD-3-Clause
// The file in which a rank leaves what it recorded: docs/reference/formats.md says how it is laid out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/comm_info.hpp"
#include "runtime/stats/recording.hpp"

namespace convene::runtime::recorder {

/// Who the members are and which of them this rank is. Local.
RecordedCommunicator describe_communicator(const CommInfo& info);

/// Agrees on a name: rank 0 gives it. Collective.
void name_communicator(MPI_Comm comm, RecordedCommunicator& communicator, CommonClock::Await await);

/// Writes one file into the directory; where that fails, says so on standard error. While the MPI still
/// works.
void write_recordings(const std::string& directory, const std::vector<const Recording*>& recordings,
                      TickLine ticks);

}  // namespace convene::runtime::recorder
