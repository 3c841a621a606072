// SPDX-License-Identifier: BSD-3-Clause
// SimGrid platform files (version 4.1).
#pragma once

#include <string>

#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {

/// The platform as XML: a host "r<rank>" for each rank, a link for each channel, and a route for each pair of
/// ranks. Messages behave as in the simulator: latencies and links without contention are separate links,
/// without contention in SimGrid (FATPIPE). The cost of messages on processors is an option of SMPI, not of
/// the file. Throws Error above 512 ranks, since all routes are written out.
std::string simgrid_platform(const SimulatedPlatform& platform, const Seating& seating);

}  // namespace convene::simulate
