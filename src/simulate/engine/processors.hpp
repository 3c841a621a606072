// SPDX-License-Identifier: BSD-3-Clause
// Processors: the current job of each, and the messages that it will process. Internal to the engine.
//
// A processor handles messages in the order of their delivery, when it has no other work. A message whose
// delivery time is known needs no event for its delivery in two cases:
// - The processor will be busy at that time: the message is queued (queue).
// - The processor will be idle: it is reserved for the message, and has an event for the end of that work
//   (reserve).
// If other work precedes a reservation, the message is queued after that work, provided that the work lasts
// until the delivery; otherwise the delivery gets an event. Queued messages get events for their deliveries,
// too, when the processor becomes idle before. (A reserved message precedes work that becomes ready at the
// very time of its delivery.)
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "simulate/engine/simulator_state.hpp"
#include "simulate/kernel/grid_time.hpp"
#include "simulate/kernel/pool.hpp"

namespace convene::simulate::engine {

class Processors {
 public:
  /// `of_rank`: the processor of each rank.
  Processors(const std::vector<std::uint32_t>& of_rank, Pool<SimMessage>& messages, GridEventQueue& events)
      : of_rank_(of_rank),
        is_own_(are_own(of_rank)),
        core_(*std::max_element(of_rank.begin(), of_rank.end()) + 1),
        messages_(messages),
        events_(events) {}

  std::uint32_t of(Rank rank) const { return is_own_ ? rank : of_rank_[rank]; }
  Core& operator[](std::uint32_t number) { return core_[number]; }
  const Core& operator[](std::uint32_t number) const { return core_[number]; }
  void prefetch(std::uint32_t number) const { prefetch_line(core_.data() + number); }

  /// Starts a job of a rank's step that lasts until `until`: a message, or `Core::job`.
  void start(std::uint32_t number, double until, std::uint32_t at, Rank rank, StepId step) {
    Core& core = core_[number];
    core.at = at;
    core.rank = rank;
    core.step = step;
    events_.push(until, work_done | number, core.stamp);
  }

  /// Queues a message with a known delivery time and a posted receive, if its processor will be busy then.
  /// Returns whether it did.
  bool queue(SimMessage& message, std::uint32_t id) {
    Core& core = core_[of(message.to)];
    if (!core.is_busy() || core.begins > message.moment || core.free + core.backlog < message.moment)
      return false;
    if (!core.queued.empty() && messages_[core.queued.last].moment > message.moment) return false;
    message.state = SimMessage::queued;
    core.backlog += message.work;
    messages_.push_back(core.queued, id);
    return true;
  }

  /// Reserves the processor for such a message, if it will be idle then. Returns whether it did.
  bool reserve(SimMessage& message, std::uint32_t id) {
    const std::uint32_t number = of(message.to);
    Core& core = core_[number];
    if (core.is_busy() || core.has_delivered()) return false;
    message.state = SimMessage::reserved;
    core.free = on_grid(message.moment + message.work);
    core.begins = message.moment;
    start(number, core.free, id, message.to, message.recv);
    return true;
  }

  /// Adds an event for the delivery of a message.
  void schedule_delivery(std::uint32_t id) {
    SimMessage& message = messages_[id];
    message.state = SimMessage::delivery_scheduled;
    events_.push(message.moment, delivered | id);
  }

  /// Cancels the reservation. Returns its message.
  std::uint32_t cancel_reservation(Core& core, double now) {
    const std::uint32_t id = std::exchange(core.at, Core::idle);
    ++core.stamp;
    core.free = core.begins = now;
    return id;
  }

  /// Queues that message again, after the work that preceded it.
  void requeue(Core& core, std::uint32_t id) {
    SimMessage& message = messages_[id];
    message.state = SimMessage::queued;
    core.backlog += message.work;
    messages_.push_front(core.queued, id);
    if (core.free < message.moment) schedule_queued(core);
  }

  /// Withdraws the delivery time of a message. Returns the message's number from now on: its event or its
  /// place in a queue keeps the old number, which is stale.
  std::uint32_t reschedule(std::uint32_t id, double now) {
    const SimMessage message = messages_[id];
    Core& core = core_[of(message.to)];
    if (message.state == SimMessage::reserved) {
      cancel_reservation(core, now);
      schedule_queued(core);
      return id;
    }
    if (message.state == SimMessage::queued) core.backlog -= message.work;
    messages_[id].state = SimMessage::stale;
    return messages_.add(message);
  }

  /// Appends a delivered message while the processor is busy.
  void add_delivered(Core& core, std::uint32_t id) {
    SimMessage& message = messages_[id];
    message.state = SimMessage::unexpected;
    core.backlog += message.work;
    messages_.push_back(core.delivered, id);
  }

  /// Updates the queues of an idle processor: stale messages are removed, later deliveries get events, since
  /// the processor will not be busy then. Returns whether it has messages to process.
  bool update_delivered(Core& core, double now) {
    while (!core.queued.empty() && messages_[core.queued.first].state == SimMessage::stale)
      messages_.remove(messages_.pop_front(core.queued));
    if (!core.queued.empty() && messages_[core.queued.first].moment > now) schedule_queued(core);
    return core.has_delivered();
  }

  /// Removes the first of them.
  std::uint32_t pop_delivered(Core& core) {
    const bool from_queued = core.delivered.empty() ||
                             (!core.queued.empty() &&
                              messages_[core.queued.first].moment < messages_[core.delivered.first].moment);
    const std::uint32_t id = messages_.pop_front(from_queued ? core.queued : core.delivered);
    core.backlog -= messages_[id].work;
    return id;
  }

 private:
  static bool are_own(const std::vector<std::uint32_t>& of_rank) {
    for (Rank rank = 0; rank < of_rank.size(); ++rank)
      if (of_rank[rank] != rank) return false;
    return true;
  }

  void schedule_queued(Core& core) {
    while (!core.queued.empty()) {
      const std::uint32_t id = messages_.pop_front(core.queued);
      if (messages_[id].state == SimMessage::stale) {
        messages_.remove(id);
        continue;
      }
      core.backlog -= messages_[id].work;
      schedule_delivery(id);
    }
  }

  const std::vector<std::uint32_t>& of_rank_;
  const bool is_own_;  // rank r's processor has the number r, as it often has
  LargeVector<Core> core_;
  Pool<SimMessage>& messages_;
  GridEventQueue& events_;
};

}  // namespace convene::simulate::engine
