// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/logp_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "model/logp/bursts.hpp"
#include "schedule/check/matching.hpp"

namespace convene::model {

namespace {

/// A message of LogGPS' question and answer, or the data themselves.
enum class Phase : std::uint8_t { question, answer, data };

/// Something a processor is to do for a step.
struct Task {
  StepId step;  ///< of the rank whose task it is
  Phase phase;
};

/// By the order in the schedule.
struct Later {
  bool operator()(const Task& a, const Task& b) const {
    return std::tie(a.step, a.phase) > std::tie(b.step, b.phase);
  }
};
using Tasks = std::priority_queue<Task, std::vector<Task>, Later>;

struct Event {
  double time;
  std::uint64_t number;  ///< in the order of making, so that equal times are played in a fixed order
  Rank rank;
  enum Kind : std::uint8_t { wake, complete, arrive } kind;
  Task task;
};
struct After {
  bool operator()(const Event& a, const Event& b) const {
    return std::tie(a.time, a.number) > std::tie(b.time, b.number);
  }
};

struct RankState {
  std::vector<std::uint32_t> missing;  ///< by step: dependencies that are not complete
  std::vector<std::uint8_t>
      arrived;  ///< by step: bit for each phase that has come and waits for the step to be ready
  std::vector<std::uint8_t> ready;  ///< by step
  Tasks sends, receives, local;
  double processor = 0, send_port = 0;                          ///< from when on they are free
  double recv_port = -std::numeric_limits<double>::infinity();  ///< from when on it is free
  double wake = std::numeric_limits<double>::infinity();        ///< when the rank is to be looked at again
  std::map<std::uint32_t, std::pair<double, std::uint32_t>>
      sent;  ///< by generation: start of the burst, messages so far
  double done = 0;
};

class Play {
 public:
  Play(const Plan& plan, const Mapping& mapping, const Platform& platform, Model model,
       const MessageSizes& sizes)
      : plan_(plan),
        platform_(platform),
        channels_(platform.channels, mapping),
        model_(model),
        sizes_(sizes),
        links_(link(plan)),
        ranks_(plan.size()) {
    if (!links_.fault.empty()) throw Error("this plan cannot be played: " + links_.fault);
    if (model == Model::logfp) bursts_.emplace(plan, links_);
  }

  std::vector<double> run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank) prepare(rank);
    for (Rank rank = 0; rank < plan_.size(); ++rank) work(rank, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.kind == Event::complete) complete(event.rank, event.task.step, event.time);
      if (event.kind == Event::arrive) arrive(event.rank, event.task);
      if (event.kind == Event::wake && event.time >= ranks_[event.rank].wake) ranks_[event.rank].wake = never;
      work(event.rank, event.time);
    }
    return results();
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  void prepare(Rank rank) {
    const Schedule& schedule = plan_[rank];
    RankState& state = ranks_[rank];
    state.missing.resize(schedule.size());
    state.arrived.resize(schedule.size(), 0);
    state.ready.resize(schedule.size(), 0);
    left_ += schedule.size();
    for (StepId step = 0; step < schedule.size(); ++step) state.missing[step] = schedule[step].predecessors;
    for (StepId step = 0; step < schedule.size(); ++step)
      if (schedule[step].predecessors == 0) make_ready(rank, step, 0);
  }

  void push(double time, Rank rank, Event::Kind kind, Task task) {
    events_.push({time, ++number_, rank, kind, task});
  }

  void make_ready(Rank rank, StepId step, double time) {
    RankState& state = ranks_[rank];
    state.ready[step] = 1;
    switch (plan_[rank][step].kind) {
      case StepKind::send:
        return state.sends.push({step, is_synchronous(rank, step) ? Phase::question : Phase::data});
      case StepKind::recv:
        for (Phase phase : {Phase::question, Phase::data})
          if (state.arrived[step] >> static_cast<unsigned>(phase) & 1) state.receives.push({step, phase});
        return;
      case StepKind::join:
        return complete(rank, step, time);
      default:
        return state.local.push({step, Phase::data});
    }
  }

  void complete(Rank rank, StepId step, double time) {
    --left_;
    ranks_[rank].done = std::max(ranks_[rank].done, time);
    for (StepId next : plan_[rank].successors(step))
      if (--ranks_[rank].missing[next] == 0) make_ready(rank, next, time);
  }

  void arrive(Rank rank, Task task) {
    RankState& state = ranks_[rank];
    if (task.phase == Phase::answer || state.ready[task.step])
      state.receives.push(task);
    else
      state.arrived[task.step] |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(task.phase));
  }

  /// Starts whatever can start now, and sees to it that the rank is looked at again when the next can.
  void work(Rank rank, double now) {
    RankState& state = ranks_[rank];
    while (true) {
      const double send = state.sends.empty() ? never : send_start(rank, state.sends.top(), now);
      const double recv = state.receives.empty() ? never : recv_start(rank, state.receives.top(), now);
      const double local = state.local.empty() ? never : std::max(now, state.processor);
      const double first = std::min({send, recv, local});
      if (first == never) return;
      if (first > now) return wake_at(rank, first);
      start(rank, now, send <= now, recv <= now, local <= now);
    }
  }

  void wake_at(Rank rank, double time) {
    if (time >= ranks_[rank].wake) return;
    ranks_[rank].wake = time;
    push(time, rank, Event::wake, {});
  }

  /// Of those that can start, the one that stands first in the schedule.
  void start(Rank rank, double now, bool send, bool recv, bool local) {
    RankState& state = ranks_[rank];
    Tasks* best = nullptr;
    for (const auto& [possible, tasks] :
         {std::pair(recv, &state.receives), std::pair(local, &state.local), std::pair(send, &state.sends)})
      if (possible && (!best || Later()(best->top(), tasks->top()))) best = tasks;
    const Task task = best->top();
    best->pop();
    if (best == &state.sends) return do_send(rank, task, now);
    if (best == &state.receives) return do_receive(rank, task, now);
    state.processor =
        now + local_cost(platform_, plan_[rank][task.step].kind, sizes_.bytes(plan_[rank], task.step));
    push(state.processor, rank, Event::complete, task);
  }

  double send_start(Rank rank, Task task, double now) const {
    const RankState& state = ranks_[rank];
    double earliest = std::max({now, state.processor, state.send_port});
    const MessageCost message = cost_of(rank, task);
    if (message.burst_gap > 0) {
      const auto burst = state.sent.find(bursts_->generation(rank, task.step));
      if (burst != state.sent.end() && burst->second.second >= message.free)
        earliest = std::max(
            earliest, burst->second.first + (burst->second.second + 1 - message.free) * message.burst_gap);
    }
    return earliest;
  }

  double recv_start(Rank rank, Task task, double now) const {
    const RankState& state = ranks_[rank];
    return std::max({now, state.processor, state.recv_port + cost_of(rank, task).recv_port});
  }

  void do_send(Rank rank, Task task, double now) {
    RankState& state = ranks_[rank];
    const MessageCost message = cost_of(rank, task);
    state.processor = now + message.send_busy;
    state.send_port = now + message.send_port;
    if (message.burst_gap > 0) {
      auto& [start, sent] =
          state.sent.try_emplace(bursts_->generation(rank, task.step), now, 0u).first->second;
      ++sent;
    }
    const auto [peer, step] = other_end(rank, task.step);
    push(now + message.flight, peer, Event::arrive, {step, task.phase});
    if (task.phase == Phase::data && plan_[rank][task.step].kind == StepKind::send)
      push(now + message.send_done, rank, Event::complete, task);
  }

  void do_receive(Rank rank, Task task, double now) {
    RankState& state = ranks_[rank];
    const MessageCost message = cost_of(rank, task);
    state.processor = now + message.recv_busy;
    state.recv_port = now + message.recv_port_behind;
    if (task.phase == Phase::question)
      state.sends.push({task.step, Phase::answer});
    else if (task.phase == Phase::answer)
      state.sends.push({task.step, Phase::data});
    else
      push(now + message.recv_busy, rank, Event::complete, task);
  }

  std::pair<Rank, StepId> other_end(Rank rank, StepId step) const {
    const Rank peer = plan_[rank][step].peer;
    return {peer, links_.step(peer, links_.partner[links_.at(rank, step)])};
  }

  const Channel& channel(Rank rank, StepId step) const {
    return platform_.channels[channels_.between(rank, plan_[rank][step].peer)];
  }
  bool is_synchronous(Rank rank, StepId step) const {
    return model::is_synchronous(model_, channel(rank, step), sizes_.bytes(plan_[rank], step));
  }

  MessageCost cost_of(Rank rank, Task task) const {
    const Channel& way = channel(rank, task.step);
    if (task.phase != Phase::data) return cost(model_, way, 1);
    Burst burst;
    if (bursts_) burst = burst_of(rank, task.step);
    return cost(model_, way, sizes_.bytes(plan_[rank], task.step), burst);
  }

  /// How many messages go with this one at its two ends.
  Burst burst_of(Rank rank, StepId step) const {
    const auto [peer, peer_step] = other_end(rank, step);
    return plan_[rank][step].kind == StepKind::send
               ? Burst{bursts_->sent_with(rank, step), bursts_->received_with(peer, peer_step)}
               : Burst{bursts_->sent_with(peer, peer_step), bursts_->received_with(rank, step)};
  }

  std::vector<double> results() const {
    if (left_ > 0)
      throw Error(fmt::format("this plan does not come to its end: {} steps wait for each other", left_));
    std::vector<double> done;
    for (const RankState& state : ranks_) done.push_back(state.done);
    return done;
  }

  const Plan& plan_;
  const Platform& platform_;
  const ChannelMap channels_;
  const Model model_;
  const MessageSizes& sizes_;
  const MessageMatching links_;
  std::optional<Bursts> bursts_;  // LogfP
  std::vector<RankState> ranks_;
  std::priority_queue<Event, std::vector<Event>, After> events_;
  std::uint64_t number_ = 0, left_ = 0;
};

}  // namespace

std::vector<double> play(const Plan& plan, const Mapping& mapping, const Platform& platform, Model model,
                         const MessageSizes& sizes) {
  if (mapping.procs() != plan.size())
    throw Error(
        fmt::format("the plan is for {} processes and the mapping for {}", plan.size(), mapping.procs()));
  require_parameters(model, platform);
  return Play(plan, mapping, platform, model, sizes).run();
}

}  // namespace convene::model
