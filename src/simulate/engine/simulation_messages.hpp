// SPDX-License-Identifier: BSD-3-Clause
// Messages of a simulation run: at the sender, in the network, and at the receiver. Internal to the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "simulate/engine/simulation_run.hpp"

namespace convene::simulate::engine {

/// The sender's processor has finished its work for the message.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::send(Rank rank, StepId step, const SimStep& sim_step) {
  const bool rendezvous = sim_step.bytes > platform_.eager;
  const std::uint32_t id = messages_.add({.from = rank,
                                          .to = workload_.peer(rank, sim_step),
                                          .send = step,
                                          .recv = sim_step.partner,
                                          .bytes = sim_step.bytes,
                                          .rendezvous = rendezvous});
  if (rendezvous) return send_rts(id);
  enter_port(id);
  finish(rank, step, sim_step);
}

/// Sends a request to send. Without a handshake neither the request nor the answer takes time.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::send_rts(std::uint32_t id) {
  SimMessage& message = messages_[id];
  network_.find(message.from, message.to, path_);
  message.latency = platform_.rendezvous_handshake ? path_.latency : 0;
  message.moment = on_grid(now_ + message.latency);
  message.state = SimMessage::rts_sent;
  std::uint32_t& receive = state_[workload_.first(message.to) + message.recv].receive;
  if (receive == posted)
    send_cts(id);
  else
    receive = id;
}

/// Answers a request to send: the receive is posted.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::send_cts(std::uint32_t id) {
  SimMessage& message = messages_[id];
  message.late = now_ > message.moment;
  if (message.late) history_.decided_by_other_end(workload_.first(message.from) + message.send);
  message.state = SimMessage::sending;
  const double answered = running_from(message.to, std::max(now_, message.moment));
  const double at = running_from(message.from, on_grid(answered + message.latency));
  if (at > now_)
    events_.push(at, cts_received | id);
  else
    enter_port(id);
}

/// Injects the message into the network as soon as the sender's ports allow it.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::enter_port(std::uint32_t id) {
  if (!ports_.are_limited()) return inject(id);
  const std::optional<double> at = ports_.admit(messages_, id, now_);
  if (!at) return;
  if (*at > now_)
    events_.push(*at, port_granted | id);
  else
    inject(id);
}

/// The message enters the network.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::inject(std::uint32_t id) {
  SimMessage& message = messages_[id];
  if (incast_.is_on() && incast_.loses(message.from, message.to, message.bytes))
    return events_.push(now_ + incast_.timeout(), port_granted | id);
  network_.find(message.from, message.to, path_);
  message.latency = path_.latency;
  ++result_.messages;
  result_.bytes += message.bytes;
  const double alone = message.bytes * path_.seconds_a_byte;
  const bool is_shared = message.bytes > 0 && path_.count > 0;
  if (may_foresee_ && !message.rendezvous) {
    if (!is_shared) return set_delivery(id, on_grid(on_grid(now_ + alone) + message.latency));
    if constexpr (ContentionModel::foresees)
      if (alone == 0)
        if (const std::optional<double> passed = contention_.foresee(id, message.bytes, path_, now_))
          return set_delivery(id, on_grid(*passed + message.latency));
  }
  enter_channels(id, is_shared, alone);
}

/// `alone`: seconds on links without contention.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::enter_channels(std::uint32_t id, bool is_shared, double alone) {
  if constexpr (ContentionModel::foresees)
    if (is_shared) contention_.for_foreseen(path_, now_, [this](FlowId flow) { reconsider(flow); });
  SimMessage& message = messages_[id];
  message.parts = 0;
  if (is_shared) message.parts = static_cast<std::uint8_t>(contention_.enter(id, message.bytes, path_, now_));
  if (alone > 0) {
    ++message.parts;
    events_.push(now_ + alone, unshared_links_done | id);
  }
  if (message.parts == 0) on_transferred(id);
}

/// Another message enters a channel of a message whose end was predicted: that message becomes an ordinary
/// one.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::reconsider(std::uint32_t id) {
  const std::uint32_t number = processors_.reschedule(id, now_);
  SimMessage& message = messages_[number];
  message.state = SimMessage::sending;
  network_.find(message.from, message.to, other_path_);
  message.parts = static_cast<std::uint8_t>(contention_.reconsider(id, number, other_path_, now_));
}

template <class ContentionModel>
inline void SimulationRun<ContentionModel>::part_done(std::uint32_t id) {
  if (--messages_[id].parts == 0) on_transferred(id);
}

/// All channels have carried the message.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::on_transferred(std::uint32_t id) {
  const SimMessage message = messages_[id];
  if (incast_.is_on()) incast_.left(message.from, message.to, message.bytes);
  set_delivery(id, on_grid(now_ + message.latency));
  if (ports_.are_limited())
    if (const std::uint32_t next = ports_.leave(messages_, message.from); next != none) enter_port(next);
  if (message.rendezvous) finish(message.from, message.send, workload_.sim_step(message.from, message.send));
}

/// The delivery time of a message is known.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::set_delivery(std::uint32_t id, double time) {
  if (time == now_) return deliver(id);
  SimMessage& message = messages_[id];
  message.moment = time;
  const std::uint64_t at = workload_.first(message.to) + message.recv;
  if (state_[at].receive == posted) {
    set_work(message, 0);
    if (processors_.queue(message, id) || (may_reserve_ && processors_.reserve(message, id))) {
      if (!message.late) history_.decided_by_other_end(at);
      return;
    }
  }
  processors_.schedule_delivery(id);
}

/// The event of a delivery.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::on_delivered(std::uint32_t id) {
  if (messages_[id].state == SimMessage::stale) return messages_.remove(id);
  deliver(id);
}

/// The message is at the receiver.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::deliver(std::uint32_t id) {
  SimMessage& message = messages_[id];
  const std::uint64_t at = workload_.first(message.to) + message.recv;
  if (state_[at].receive == posted) {
    if (!message.late) history_.decided_by_other_end(at);
    return receive(id, 0);
  }
  message.state = SimMessage::unexpected;
  state_[at].receive = id;
}

/// A receive is posted.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::begin_recv(std::uint64_t at) {
  const std::uint32_t waiting = std::exchange(state_[at].receive, posted);
  if (waiting == nothing_yet) return;
  if (messages_[waiting].state == SimMessage::rts_sent)
    send_cts(waiting);
  else
    receive(waiting, messages_[waiting].bytes);  // from the unexpected-message buffer
}

/// Sets the work of the receiver's processor. `buffered`: bytes to be copied from an unexpected-message
/// buffer.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::set_work(SimMessage& message, double buffered) {
  const SimStep& sim_step = workload_.sim_step(message.to, message.recv);
  const double copied = buffered + (sim_step.scattered ? message.bytes : 0);
  message.work = on_grid(platform_.cpu.recv + copied * platform_.cpu.copy);
}

/// A delivered message whose receive is posted: its processor handles it, now or later.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::receive(std::uint32_t id, double buffered) {
  SimMessage& message = messages_[id];
  set_work(message, buffered);
  message.moment = now_;
  Core& core = processors_[processors_.of(message.to)];
  if (core.is_reserved(now_)) {
    const std::uint32_t displaced = processors_.cancel_reservation(core, now_);
    process(id);
    return processors_.requeue(core, displaced);
  }
  // Its queues decide, not `free`: a job that ends at this time may release work that precedes the message.
  if (!core.is_busy() && !core.has_delivered()) return process(id);
  processors_.add_delivered(core, id);
}

/// The receiver's processor starts to process a message.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::process(std::uint32_t id) {
  const SimMessage& message = messages_[id];
  const Rank rank = message.to;
  const StepId step = message.recv;
  const double done = occupy(rank, message.work, !may_reserve_);
  if (done > now_) return processors_.start(processors_.of(rank), done, id, rank, step);
  messages_.remove(id);
  finish(rank, step, workload_.sim_step(rank, step));
}

/// A processor that finished a job processes delivered messages, unless the job has released other work.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::process_delivered() {
  Core& core = processors_[std::exchange(idle_, none)];
  while (!core.is_busy() && processors_.update_delivered(core, now_)) {
    process(processors_.pop_delivered(core));
    release_successors();
  }
}

}  // namespace convene::simulate::engine
