// SPDX-License-Identifier: BSD-3-Clause
// Fabric channel: the fabric transport of an internal communicator.
//
// Design notes
// - The process's endpoint is opened for its first channel and closed at the end of the process's runtime,
//   after all channels. Addresses are exchanged by an MPI_Allgather on the internal communicator, inside a
//   call in which all ranks take part.
// - All ranks decide alike. If one of them cannot use the fabric, or two use different providers, all stay
//   with messages of the MPI, and that is declared.
// - Each process numbers its channels by itself: threads may set up several communicators at a time, in
//   another order on each rank.
#pragma once

#include <memory>

#include "runtime/comm/comm_info.hpp"
#include "transport/transport.hpp"

namespace convene::runtime {

/// Opens the fabric transport of an internal communicator. Collective; null on all ranks if one of them
/// cannot use it.
std::unique_ptr<Transport> open_fabric(MPI_Comm internal, const CommInfo& info);

}  // namespace convene::runtime
