// SPDX-License-Identifier: BSD-3-Clause
// Simulator: a discrete-event simulation of the schedules of all ranks on a modelled platform. Equal requests
// have equal results, to the last bit.
//
// Cost of a message. The sender's processor is busy for `send` seconds, and packs noncontiguous blocks. A
// processor does one job at a time; ranks that share a core share its processor. Ready sends, copies and
// combines precede delivered messages, as in the executor, which issues all possible steps before it polls
// for further messages. Then the message enters the network: at once or, with a gap or a limit of ports, when
// the port admits it. All channels of its path carry it at the same time; when the slowest has carried it,
// the message is delivered after the path's latency. Then the receiver's processor is busy for `recv`
// seconds, and unpacks.
//
// Protocols. A message of at most `eager` bytes is sent at once; its send completes with the processor's
// work. If it is delivered before its receive is posted, it is copied once more. A larger message
// (rendezvous) sends a request first (the path's latency), is answered when the receive is posted (the
// latency again; both take no time if the platform's `rendezvous_handshake` is false), and its send completes
// when it has left the channels.
//
// Transfers progress in the background, independent of the processors. A rank executes nothing before it
// arrives or, with the option, before another time: then steps that do not use its own input run in a second
// thread, on a free core, while the rank still computes.
#pragma once

#include <span>

#include "simulate/engine/simulation_options.hpp"
#include "simulate/engine/simulation_result.hpp"
#include "simulate/engine/workload.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {

/// Simulates the workload. `arrivals`: by rank, seconds from 0 on. Throws Error if a number is out of range,
/// and if the ranks do not finish: then the plan can deadlock.
SimulationResult run_simulation(const Workload& workload, const SimulatedPlatform& platform,
                                const Seating& seating, std::span<const double> arrivals,
                                const SimulationOptions& options = {});

}  // namespace convene::simulate
