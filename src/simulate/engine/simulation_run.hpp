// SPDX-License-Identifier: BSD-3-Clause
// Simulation run: the state of one simulation and its event loop. simulation_steps.hpp and
// simulation_messages.hpp define the events of steps and of messages. Internal to the engine.
//
// A message is five events in general: its sender's processor is done with it, the channels at either end
// have carried it, it is delivered, and its receiver's processor is done with it. (Rendezvous, ports and
// further channels add some.) Most messages need fewer events, two at best:
// - The time at which a message leaves empty channels is predicted without an event; if another message
//   enters one of them before, the first is reconsidered (equal_share.hpp). Otherwise, channels that finish a
//   message at the same time share one event.
// - A delivery with a known time and a posted receive needs no event (processors.hpp).
// A revoked prediction leaves a stale event, or a stale message in a queue.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "simulate/engine/in_order_ranks.hpp"
#include "simulate/engine/incast.hpp"
#include "simulate/engine/look_ahead.hpp"
#include "simulate/engine/processors.hpp"
#include "simulate/engine/sender_ports.hpp"
#include "simulate/engine/simulation_options.hpp"
#include "simulate/engine/simulation_result.hpp"
#include "simulate/engine/simulator_state.hpp"
#include "simulate/engine/step_history.hpp"
#include "simulate/engine/time_slices.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate::engine {

template <class ContentionModel>
class SimulationRun {
 public:
  SimulationRun(const Workload& workload, const SimulatedPlatform& platform, const Seating& seating,
                std::span<const double> arrivals, const SimulationOptions& options)
      : workload_(workload),
        platform_(platform),
        arrivals_(arrivals),
        begins_(options.begins.empty() ? arrivals : std::span<const double>(options.begins)),
        network_(platform, seating),
        contention_(network_, events_, channels_done),
        history_(options.critical_path ? workload.steps() : 0),
        slices_(platform.time_slice, seating.cpu, options.noise),
        own_processors_(slices_.are_on() ? one_for_each(workload.procs()) : std::vector<std::uint32_t>()),
        processors_(slices_.are_on() ? own_processors_ : seating.cpu, messages_, events_),
        noise_(options.noise, workload.procs()),
        stop_(options.stop),
        ports_(platform, workload.procs()),
        incast_(platform.incast, seating.mapping, options.noise),
        may_foresee_(!ports_.are_limited() && !incast_.is_on()),
        may_reserve_(options.noise.kind == NoiseKind::none && options.begins.empty() && !slices_.are_on()) {
    const Rank procs = workload.procs();
    ranks_.resize(procs);
    for (Rank rank = 0; rank < procs; ++rank) ranks_[rank].exit = arrivals[rank];
    if (!options.begins.empty()) deferred_.resize(procs);
    ordered_ranks_.set(options.orders, procs);
    state_.reserve(workload.steps());
    for (Rank rank = 0; rank < procs; ++rank)
      for (const std::uint32_t predecessors : workload.predecessors(rank))
        state_.push_back({ordered_ranks_.has_order(rank) ? 1 : predecessors, nothing_yet});
    left_ = workload.steps();
    looks_ahead_ = left_ > most_in_cache;
    if (looks_ahead_) events_.look_ahead(LookAhead<ContentionModel>::events);
    omit_joins_of_ordered_ranks();
  }

  SimulationResult run() {
    for (Rank rank = 0; rank < workload_.procs(); ++rank) {
      if (!deferred_.empty()) events_.push(arrivals_[rank], input_available | rank);
      events_.push(begins_[rank], rank_starts | rank);
    }
    while (true) {
      if (!contention_.is_settled() && events_.moment_is_over()) contention_.settle(now_);
      if (events_.empty()) break;
      if (++events_taken_ % events_between_polls == 0 && stop_.stop_requested()) throw Interrupted();
      const TimedEvent event = events_.pop();
      if (looks_ahead_) look_ahead().at_events();
      now_ = event.seconds();
      dispatch(event);
      if (!done_.empty()) release_successors();
      if (idle_ != none) process_delivered();
    }
    if (left_ > 0) throw_deadlock();
    return take_result();
  }

 private:
  /// Events between two polls of the stop token.
  static constexpr std::uint64_t events_between_polls = 4096;
  /// This many steps fit into the cache and need no prefetching.
  static constexpr std::uint64_t most_in_cache = 16384;

  void dispatch(const TimedEvent& event) {
    const std::uint32_t number = event.what & ~kind_bits;
    switch (event.what & kind_bits) {
      case rank_starts:
        return start(number);
      case work_done:
        if (event.stamp == processors_[number].stamp) on_work_done(number);
        return;
      case cts_received:
        return enter_port(number);
      case port_granted:
        return inject(number);
      case channels_done:
        return contention_.fire(number, event.stamp, now_, [this](FlowId flow) { part_done(flow); });
      case unshared_links_done:
        return part_done(number);
      case delivered:
        return on_delivered(number);
      case input_available:
        return on_input_available(number);
    }
  }

  LookAhead<ContentionModel> look_ahead() {
    return {workload_, network_, events_, contention_, processors_, messages_, state_, ranks_, path_};
  }

  // Steps and processors (simulation_steps.hpp).
  void start(Rank rank);
  void on_input_available(Rank rank);
  bool waits_for_input(Rank rank) const { return !deferred_.empty() && !deferred_[rank].has_input; }
  void begin(Rank rank, StepId step, std::uint64_t first);
  void finish(Rank rank, StepId step, const SimStep& sim_step);
  void omit_joins_of_ordered_ranks();
  void advance(Rank rank);
  bool issue(Rank rank, StepId step);
  bool is_over(Rank rank, StepId step);
  void update_ordered_rank(const FinishedStep& done);
  void release_successors();
  void work(Rank rank, StepId step, const SimStep& sim_step, double seconds);
  void on_worked(Rank rank, StepId step, const SimStep& sim_step);
  void on_work_done(std::uint32_t processor);
  double occupy(Rank rank, double seconds, bool counts = true);
  double running_from(Rank rank, double time) const {
    return slices_.are_on() ? on_grid(slices_.end(rank, time, 0)) : time;
  }
  /// In time slices, a processor for each rank stands for its share of a core.
  static std::vector<std::uint32_t> one_for_each(Rank procs) {
    std::vector<std::uint32_t> processors(procs);
    std::iota(processors.begin(), processors.end(), 0);
    return processors;
  }

  // Messages (simulation_messages.hpp): at the sender, in the network, at the receiver.
  void send(Rank rank, StepId step, const SimStep& sim_step);
  void send_rts(std::uint32_t id);
  void send_cts(std::uint32_t id);
  void enter_port(std::uint32_t id);
  void inject(std::uint32_t id);
  void enter_channels(std::uint32_t id, bool is_shared, double alone);
  void reconsider(std::uint32_t id);
  void part_done(std::uint32_t id);
  void on_transferred(std::uint32_t id);
  void set_delivery(std::uint32_t id, double time);
  void on_delivered(std::uint32_t id);
  void deliver(std::uint32_t id);
  void begin_recv(std::uint64_t at);
  void set_work(SimMessage& message, double buffered);
  void receive(std::uint32_t id, double buffered);
  void process(std::uint32_t id);
  void process_delivered();

  SimulationResult take_result() {
    result_.exits.resize(workload_.procs());
    result_.waiting.resize(workload_.procs());
    for (Rank rank = 0; rank < workload_.procs(); ++rank) {
      result_.exits[rank] = std::max(ranks_[rank].exit, arrivals_[rank]);
      result_.waiting[rank] = std::max(0.0, result_.exits[rank] - arrivals_[rank] - ranks_[rank].computing);
      result_.end = std::max(result_.end, result_.exits[rank]);
    }
    for (ChannelId channel = 0; channel < network_.channels(); ++channel)
      if (const ChannelUse use = contention_.use(channel); use.bytes > 0) result_.channels.push_back(use);
    result_.events = events_taken_;
    result_.critical_path = history_.critical_path(workload_, result_.exits);
    return std::move(result_);
  }

  [[noreturn]] void throw_deadlock() const {
    std::string where;
    for (Rank rank = 0; rank < workload_.procs() && where.empty(); ++rank)
      for (StepId step = 0; step < workload_.schedule(rank).size() && where.empty(); ++step)
        if (state_[workload_.first(rank) + step].open_predecessors > 0)
          where = fmt::format("; the first step of rank {} that does not begin is step {}", rank, step);
    throw Error(fmt::format("the plan deadlocks: {} of {} steps wait for each other{}", left_,
                            workload_.steps(), where));
  }

  const Workload& workload_;
  const SimulatedPlatform& platform_;
  const std::span<const double> arrivals_, begins_;
  const SimulatedNetwork network_;
  GridEventQueue events_;
  ContentionModel contention_;
  StepHistory history_;
  Pool<SimMessage> messages_{~kind_bits};
  Pool<Job> jobs_{~kind_bits};
  const TimeSlices slices_;
  const std::vector<std::uint32_t> own_processors_;  // empty without time slices
  Processors processors_;
  NoiseSource noise_;
  const std::stop_token stop_;
  SenderPorts ports_;
  Incast incast_;
  const bool may_foresee_;  // a message that has passed its channels has no effect but its delivery
  const bool may_reserve_;  // the duration of a processor's job does not depend on the jobs before it
  double now_ = 0;
  std::uint64_t left_ = 0;  // steps that are not finished
  std::uint64_t events_taken_ = 0;
  bool looks_ahead_ = false;
  LargeVector<StepState> state_;    // by step
  std::vector<FinishedStep> done_;  // finished steps whose successors are not released
  std::uint32_t idle_ = none;       // a processor that became idle at this event and has messages to process
  LargeVector<RankState> ranks_;
  InOrderRanks ordered_ranks_;
  std::vector<DeferredSteps> deferred_;  // by rank, if ranks start at other times than they arrive
  Path path_, other_path_;
  SimulationResult result_;
};

}  // namespace convene::simulate::engine
