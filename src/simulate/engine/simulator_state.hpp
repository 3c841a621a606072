// SPDX-License-Identifier: BSD-3-Clause
// What the player remembers while it plays: of messages, steps, ranks and processors. For player.cpp only.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/core/schedule.hpp"
#include "simulate/engine/workload.hpp"
#include "simulate/kernel/pool.hpp"

namespace convene::simulate::engine {

/// What an event is about: the upper 4 bits of its number. The rest is a rank, a message or a channel.
enum Kind : std::uint32_t {
  arrive = 0u << 28,        // rank: begins, in general by entering the collective
  computed = 1u << 28,      // core: has done its piece of work
  answered = 2u << 28,      // message: the receiver has agreed
  admitted = 3u << 28,      // message: its turn at the port has come
  carried = 4u << 28,       // channel or flow, as the contention says
  passed_alone = 5u << 28,  // message: the links that nobody shares have carried it
  landed = 6u << 28,        // message: is at the receiver
  called = 7u << 28,        // rank: its input is there
};
constexpr std::uint32_t kind_bits = 0xfu << 28;

/// A message, from when its sender's processor is done with it.
struct alignas(64) Task {
  enum State : std::uint8_t {
    asking,     // rendezvous: the receiver has yet to agree
    sending,    // in the network, as far as is known
    announced,  // it is known when it lands: there is an event
    awaited,    // the same; it is in its receiver's line of those that land while the processor is busy
    expected,   // the same; the receiver's processor is set aside for it
    arrived,    // its receive is not ready yet
    gone        // nothing but what an event or a line still speaks of
  };

  Rank from = 0, to = 0;
  StepId send = 0, recv = 0;
  double bytes = 0;
  double latency = 0;      // of its way
  double moment = 0;       // rendezvous: when the request reached the receiver; then: when the message does
  double work = 0;         // seconds that the receiver's processor needs for it
  std::uint32_t next = 0;  // behind this one: at the sender's port, or at the receiver's processor
  std::uint8_t parts = 0;  // of its way that have not carried it yet
  State state = sending;
  bool rendezvous = false, late = false;  // late: came before its receive was ready
};

/// A send, a copy or a combination that its processor will come to.
struct Job {
  double done = 0;  // when the processor will be done with it
  Rank rank = 0;
  StepId step = 0;
  std::uint32_t next = 0;  // behind this one
};

/// What is known of a receive.
constexpr std::uint32_t nothing_yet = 0xffffffffu,
                        posted = 0xfffffffeu;  // else the message that is waiting for it

/// With a constructor, since a vector then makes it in its place: a copy would have to wait for what was just written.
/// (Without a move: its rank's thread goes on after it.)
struct Finished {
  Finished(std::uint64_t first_, const Move* move_, Rank rank_, StepId step_)
      : first(first_), move(move_), rank(rank_), step(step_) {}

  std::uint64_t first;  // of its rank's steps
  const Move* move;
  Rank rank;
  StepId step;
};

struct StepState {
  std::uint32_t missing;  // predecessors to come
  std::uint32_t receive;  // what is known of a receive
};

/// Steps that are ready but for the rank's input, where that comes later than the rank begins.
struct Held {
  bool called = false;
  std::vector<StepId> steps;
};

struct Port {
  std::uint32_t busy = 0;
  Line line;
  double next = 0;  // with a gap: when the next message may go
};

/// What is needed of a rank again and again.
struct RankState {
  double computing = 0;  // seconds
  double exit = 0;
};

/// One line of a cache. Only the piece of work that it is at has an event.
struct alignas(64) Core {
  double begins = 0;  // when the message lands that it was last set aside for: in the future as long as it is
  double free = 0;    // when it will have done that, and all its jobs
  double backlog = 0;       // seconds that it will need for messages after that
  std::uint32_t at = idle;  // the message that it receives, or `job`
  Rank rank = 0;            // whose step
  StepId step = 0;          // that is
  std::uint32_t stamp = 0;  // of its event
  Line jobs;                // what it will send, copy or combine
  Line landed;              // messages that it has yet to look at
  Line landing;             // more of them: those that land while it is busy anyway

  static constexpr std::uint32_t idle = none, job = none - 1;
  bool is_busy() const { return at != idle; }
  bool is_set_aside(double now) const { return begins > now; }
  bool has_landed() const { return !landed.empty() || !landing.empty(); }
};

}  // namespace convene::simulate::engine
