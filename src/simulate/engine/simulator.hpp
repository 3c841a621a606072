// SPDX-License-Identifier: BSD-3-Clause
// The player: runs the schedules of all ranks on a platform that need not exist, event by event. Equal questions have
// equal answers, to the last bit.
//
// What a message costs. The sender's processor is busy for `send` seconds (and packs, where the blocks are scattered);
// one rank's work is done one after the other, and so is that of ranks that share a core. What is ready to be sent, copied
// or combined comes before messages that have landed, as in the executor, which issues all it can before it looks for
// further messages. Then the message enters the network, at once or, with a gap or a limit of ports, when it may. All channels on its way carry it at the same time;
// when the slowest has, it arrives after the way's latency. Then the receiver's processor is busy for `recv` seconds
// (and unpacks). A message of at most `eager` bytes is sent without asking, and its send is complete when the processor
// is done with it; one that comes before its receive is ready is copied once more. A larger one asks first (the way's
// latency), is answered when the receive is ready (the latency again; neither takes time where the platform's `asks` is
// false), and its send is complete when it has left.
// Transfers progress in the background, whatever the processors do. A rank does nothing before it arrives, or, where
// options say so, nothing before another moment: then what does not use its own input runs in a second thread, on a
// core that is free, while it still computes.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "schedule/core/order.hpp"
#include "simulate/contention/equal_share.hpp"
#include "simulate/engine/workload.hpp"
#include "simulate/platform/network.hpp"
#include "simulate/platform/noise.hpp"
#include "simulate/platform/simulated_platform.hpp"

namespace convene::simulate {

enum class Contention : std::uint8_t {
  sharing,  ///< every channel divides its bandwidth equally (fast)
  maxmin,   ///< max-min fairness over paths (exact)
};

struct PlayOptions {
  Contention contention = Contention::sharing;
  bool critical_path = false;  ///< needs 21 bytes more a step
  Noise noise = {};            ///< what holds up processors
  /// By rank, seconds: when it begins with what does not use its own input, be that before it arrives (in a background
  /// thread) or after (because what to do is not known before). Empty: when it arrives.
  std::vector<double> begins = {};
  /// By rank (one for all, where the source is one schedule): the order in which it begins its steps and waits for them, as the
  /// executor does. A rank whose order is empty, and every rank where there are none, begins each step as soon as what it
  /// depends on is done. Not together with `begins`.
  std::span<const Order> orders = {};
  std::stop_token stop = {};  ///< looked at every few thousand events
};

/// What play() throws where it was asked to stop.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("the simulation was interrupted") {}
};

/// A piece of the critical path: what the time before the end was spent with.
struct CriticalStep {
  Rank rank = 0;
  StepId step = 0;
  StepKind kind = StepKind::join;
  std::uint32_t round = 0;
  double ready = 0;     ///< when all that the step depends on was done
  double finished = 0;  ///< when it was
  bool waited = false;  ///< whether it was the other end of the message that decided
};

struct Outcome {
  std::vector<double> exits;  ///< by rank, seconds: when its last step was done
  /// By rank, seconds between arrival and exit in which it had nothing to compute.
  std::vector<double> waiting;
  double end = 0;  ///< the last exit
  std::uint64_t messages = 0;
  double bytes = 0;                         ///< sent, of all ranks together
  std::vector<ChannelUse> channels;         ///< those that carried anything
  std::vector<CriticalStep> critical_path;  ///< from the first to the last, where it was asked for
};

/// Plays the schedules. `arrivals` has a time from 0 on for every rank. Throws Error where a number does not fit, and
/// where the ranks do not finish: then the plan can deadlock.
Outcome play(const Source& source, const Platform& platform, const Seating& seating,
             std::span<const double> arrivals, const PlayOptions& options = {});

}  // namespace convene::simulate
