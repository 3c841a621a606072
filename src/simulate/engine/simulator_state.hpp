// SPDX-License-Identifier: BSD-3-Clause
// State of the simulator: messages, steps, ranks and processors. Internal to the engine.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"
#include "simulate/engine/workload.hpp"
#include "simulate/kernel/pool.hpp"

namespace convene::simulate::engine {

/// The kind of an event: the upper 4 bits of its number. The lower bits are the number of what the event
/// concerns: a rank, core or message, or a channel or route.
enum EventKind : std::uint32_t {
  rank_starts = 0u << 28,          // rank: starts its steps, in general on entering the collective
  work_done = 1u << 28,            // core: has finished its current job
  cts_received = 2u << 28,         // message: the receiver's clear-to-send is at the sender
  port_granted = 3u << 28,         // message: may enter the network
  channels_done = 4u << 28,        // channel or route, in the numbering of the contention model
  unshared_links_done = 5u << 28,  // message: has passed the links without contention
  delivered = 6u << 28,            // message: has arrived at the receiver
  input_available = 7u << 28,      // rank: its input is available
};
constexpr std::uint32_t kind_bits = 0xfu << 28;

/// A message, from the end of its sender's work to the end of its receiver's.
struct alignas(64) SimMessage {
  enum State : std::uint8_t {
    rts_sent,            // rendezvous: waits for the receiver's clear-to-send
    sending,             // in the network; its delivery time is not known yet
    delivery_scheduled,  // its delivery time is known and has an event
    queued,              // its delivery time is known; it is in the queue of its receiver's busy processor
    reserved,            // its delivery time is known; its receiver's idle processor is reserved for it
    unexpected,          // delivered, and not processed: its receive is not posted, or the processor is busy
    stale                // replaced by another number; an event or a queue still holds this one
  };

  Rank from = 0, to = 0;
  StepId send = 0, recv = 0;
  double bytes = 0;
  double latency = 0;  // of its path
  double moment = 0;   // rendezvous: arrival of the request at the receiver; then: delivery of the message
  double work = 0;     // seconds of the receiver's processor
  std::uint32_t next = 0;  // in the queue of the sender's port or of the receiver's processor
  std::uint8_t parts = 0;  // parts of its path that it has not passed
  State state = sending;
  bool rendezvous = false, late = false;  // late: was sent before its receive was posted
};

/// A send, a copy or a combine step in the queue of its processor.
struct Job {
  double done = 0;  // when the processor will have finished it
  Rank rank = 0;
  StepId step = 0;
  std::uint32_t next = 0;  // in the queue
};

/// The state of a receive; any other value is the message that waits for it.
constexpr std::uint32_t nothing_yet = 0xffffffffu, posted = 0xfffffffeu;

/// A finished step whose successors have not been released. (The constructor lets a vector build it in place:
/// a copy would wait for the bytes just written.) Without a SimStep: only the processor's part of the step is
/// done.
struct FinishedStep {
  FinishedStep(std::uint64_t first_, const SimStep* sim_step_, Rank rank_, StepId step_)
      : first(first_), sim_step(sim_step_), rank(rank_), step(step_) {}

  std::uint64_t first;  // the number of its rank's first step
  const SimStep* sim_step;
  Rank rank;
  StepId step;
};

struct StepState {
  std::uint32_t open_predecessors;  // predecessors that are not finished
  std::uint32_t receive;            // of a receive: its state
};

/// Ready steps that wait for the rank's input, if ranks start before they arrive.
struct DeferredSteps {
  bool has_input = false;
  std::vector<StepId> steps;
};

/// The part of a rank's state that every event touches.
struct RankState {
  double computing = 0;  // seconds
  double exit = 0;
};

/// A processor: one cache line. Only its current job has an event.
struct alignas(64) Core {
  double begins = 0;        // start of the last reservation: in the future while the processor is reserved
  double free = 0;          // end of that, and of all its jobs
  double backlog = 0;       // seconds of work for queued and delivered messages after that
  std::uint32_t at = idle;  // the message that it processes, or `job`
  Rank rank = 0;            // the rank and
  StepId step = 0;          // the step of its current job
  std::uint32_t stamp = 0;  // of its event
  FifoQueue jobs;           // sends, copies and combines to be done
  FifoQueue delivered;      // delivered messages to be processed
  FifoQueue queued;         // messages that will be delivered while it is busy

  static constexpr std::uint32_t idle = none, job = none - 1;
  bool is_busy() const { return at != idle; }
  bool is_reserved(double now) const { return begins > now; }
  bool has_delivered() const { return !delivered.empty() || !queued.empty(); }
};

}  // namespace convene::simulate::engine
