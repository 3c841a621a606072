// SPDX-License-Identifier: BSD-3-Clause
// A platform in the form that SimGrid reads (platform version 4.1).
#pragma once

#include <string>

#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {

/// A host "r<rank>" for each rank, a link for each channel that a way leads through, and a route for each pair of
/// ranks. What a message does on its way is the same as in the player: latencies and links that nobody shares stand in
/// a link of their own, which SimGrid does not let messages contend for (FATPIPE). What a message costs processors is
/// not in it: SMPI takes that from its options. Throws Error above 512 ranks: routes are written out.
std::string simgrid_platform(const Platform& platform, const Seating& seating);

}  // namespace convene::simulate
