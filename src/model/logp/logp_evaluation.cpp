// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/logp_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/event_queue.hpp"
#include "model/logp/bursts.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/core/ready_walk.hpp"

namespace convene::model {

namespace {

/// The messages of a step: the data, and the request and the answer of a synchronous send.
enum class Phase : std::uint8_t { request, answer, data };

/// A job of a rank's processor.
struct Task {
  StepId step;
  Phase phase;
};

/// In the order of the schedule.
struct Later {
  bool operator()(const Task& a, const Task& b) const {
    return std::tie(a.step, a.phase) > std::tie(b.step, b.phase);
  }
};
using Tasks = std::priority_queue<Task, std::vector<Task>, Later>;

/// The kind of an event, in the upper bits of its stamp; the lower bits are the phase.
enum EventKind : std::uint32_t { wake = 0u << 2, complete = 1u << 2, arrive = 2u << 2 };
constexpr std::uint32_t phase_bits = 3;

struct LogPRank {
  std::vector<std::uint8_t>
      arrived;  ///< by step: a bit for each phase that arrived before the step was ready
  Tasks sends, receives, local;
  double processor = 0, send_port = 0;                          ///< when they are free
  double recv_port = -std::numeric_limits<double>::infinity();  ///< when it is free
  double wake = std::numeric_limits<double>::infinity();        ///< the time of the rank's next wake event
  /// By generation: the start of the burst, and the number of its messages so far.
  std::map<std::uint32_t, std::pair<double, std::uint32_t>> sent;
  double done = 0;
};

class LogPEvaluation {
 public:
  LogPEvaluation(const Plan& plan, const Mapping& mapping, const ModelPlatform& platform,
                 const MessageModel& messages, const MessageSizes& sizes, const LogPStart& start)
      : plan_(plan),
        platform_(platform),
        channels_(platform.channels, mapping),
        messages_(messages),
        sizes_(sizes),
        links_(link(plan)),
        walks_(ready_walks(plan)),
        ranks_(plan.size()),
        limit_(start.limit) {
    if (!links_.fault.empty()) throw Error("the plan cannot be evaluated: " + links_.fault);
    if (messages.depends_on_bursts) bursts_.emplace(plan, links_);
    rank_of_.reserve(links_.base.back());
    for (Rank rank = 0; rank < plan.size(); ++rank) rank_of_.resize(links_.base[rank + 1], rank);
    find_costs();
    for (Rank rank = 0; rank < start.arrivals.size(); ++rank)
      ranks_[rank].processor = ranks_[rank].done = start.arrivals[rank];
  }

  std::vector<double> run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank) {
      ranks_[rank].arrived.resize(plan_[rank].size(), 0);
      walks_[rank].start([&](StepId step) { make_ready(rank, step); });
    }
    for (Rank rank = 0; rank < plan_.size(); ++rank) work(rank, 0);
    while (!events_.empty()) {
      const TimedEvent event = events_.pop();
      if (event.seconds() > limit_) return {};
      dispatch(event);
    }
    return results();
  }

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  void dispatch(const TimedEvent& event) {
    const double now = event.seconds();
    const std::uint32_t kind = event.stamp & ~phase_bits;
    const Rank rank = kind == wake ? event.what : rank_of_[event.what];
    if (kind == wake) {
      if (now >= ranks_[rank].wake) ranks_[rank].wake = never;
    } else {
      const StepId step = links_.step(rank, event.what);
      if (kind == complete)
        on_complete(rank, step, now);
      else
        on_arrival(rank, {step, static_cast<Phase>(event.stamp & phase_bits)});
    }
    work(rank, now);
  }

  void push(double time, Rank rank, EventKind kind, Task task) {
    events_.push(time, links_.at(rank, task.step), kind | static_cast<std::uint32_t>(task.phase));
  }

  void make_ready(Rank rank, StepId step) {
    LogPRank& state = ranks_[rank];
    switch (plan_[rank][step].kind) {
      case StepKind::send:
        return state.sends.push({step, is_synchronous(rank, step) ? Phase::request : Phase::data});
      case StepKind::recv:
        for (Phase phase : {Phase::request, Phase::data})
          if (state.arrived[step] >> static_cast<unsigned>(phase) & 1) state.receives.push({step, phase});
        return;
      default:
        return state.local.push({step, Phase::data});
    }
  }

  void on_complete(Rank rank, StepId step, double now) {
    ranks_[rank].done = std::max(ranks_[rank].done, now);
    walks_[rank].complete(step, [&](StepId next) { make_ready(rank, next); });
  }

  void on_arrival(Rank rank, Task task) {
    LogPRank& state = ranks_[rank];
    if (task.phase == Phase::answer || walks_[rank].is_ready(task.step))
      state.receives.push(task);
    else
      state.arrived[task.step] |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(task.phase));
  }

  /// Starts all tasks that can start now. Adds a wake event for the next that can start later.
  void work(Rank rank, double now) {
    LogPRank& state = ranks_[rank];
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
    events_.push(time, rank, wake);
  }

  /// Starts the first in the schedule of the tasks that can start.
  void start(Rank rank, double now, bool send, bool recv, bool local) {
    LogPRank& state = ranks_[rank];
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
    push(state.processor, rank, complete, task);
  }

  double send_start(Rank rank, Task task, double now) const {
    const LogPRank& state = ranks_[rank];
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
    const LogPRank& state = ranks_[rank];
    return std::max({now, state.processor, state.recv_port + cost_of(rank, task).recv_port});
  }

  void do_send(Rank rank, Task task, double now) {
    LogPRank& state = ranks_[rank];
    const MessageCost message = cost_of(rank, task);
    state.processor = now + message.send_busy;
    state.send_port = now + message.send_port;
    if (message.burst_gap > 0) {
      auto& [start, sent] =
          state.sent.try_emplace(bursts_->generation(rank, task.step), now, 0u).first->second;
      ++sent;
    }
    const auto [peer, step] = other_end(rank, task.step);
    push(now + message.flight, peer, arrive, {step, task.phase});
    if (task.phase == Phase::data && plan_[rank][task.step].kind == StepKind::send)
      push(now + message.send_done, rank, complete, task);
  }

  void do_receive(Rank rank, Task task, double now) {
    LogPRank& state = ranks_[rank];
    const MessageCost message = cost_of(rank, task);
    state.processor = now + message.recv_busy;
    state.recv_port = now + message.recv_port_behind;
    if (task.phase == Phase::request)
      state.sends.push({task.step, Phase::answer});
    else if (task.phase == Phase::answer)
      state.sends.push({task.step, Phase::data});
    else
      push(now + message.recv_busy, rank, complete, task);
  }

  std::pair<Rank, StepId> other_end(Rank rank, StepId step) const {
    const Rank peer = plan_[rank][step].peer;
    return {peer, links_.step(peer, links_.partner[links_.at(rank, step)])};
  }

  const ModelChannel& channel(Rank rank, StepId step) const {
    return platform_.channels[channels_.between(rank, plan_[rank][step].peer)];
  }
  bool is_synchronous(Rank rank, StepId step) const {
    return messages_.is_synchronous &&
           messages_.is_synchronous(channel(rank, step), sizes_.bytes(plan_[rank], step));
  }

  MessageCost cost_of(Rank rank, Task task) const {
    if (task.phase != Phase::data) return messages_.cost(channel(rank, task.step), 1, {});
    return costs_[cost_of_[links_.at(rank, task.step)]];
  }

  /// The costs of all messages. Successive messages are often equal.
  void find_costs() {
    struct Key {
      const ModelChannel* way;
      double bytes;
      Burst burst;
      bool operator==(const Key&) const = default;
    };
    std::vector<Key> keys;  // of costs_
    cost_of_.resize(links_.base.back());
    for (Rank rank = 0; rank < plan_.size(); ++rank)
      for (StepId step = 0; step < plan_[rank].size(); ++step) {
        if (!plan_[rank][step].is_message()) continue;
        const Key key{&channel(rank, step), sizes_.bytes(plan_[rank], step),
                      bursts_ ? burst_of(rank, step) : Burst{}};
        std::size_t at = keys.size();
        for (std::size_t back = 1; back <= std::min<std::size_t>(keys.size(), 4); ++back)
          if (keys[keys.size() - back] == key) at = keys.size() - back;
        if (at == keys.size()) {
          keys.push_back(key);
          costs_.push_back(messages_.cost(*key.way, key.bytes, key.burst));
        }
        cost_of_[links_.at(rank, step)] = static_cast<std::uint32_t>(at);
      }
  }

  /// The number of messages in the bursts of this one at its two ends.
  Burst burst_of(Rank rank, StepId step) const {
    const auto [peer, peer_step] = other_end(rank, step);
    return plan_[rank][step].kind == StepKind::send
               ? Burst{bursts_->sent_with(rank, step), bursts_->received_with(peer, peer_step)}
               : Burst{bursts_->sent_with(peer, peer_step), bursts_->received_with(rank, step)};
  }

  std::vector<double> results() const {
    std::uint64_t incomplete = 0;
    for (const ReadyWalk& walk : walks_) incomplete += walk.incomplete();
    if (incomplete > 0)
      throw Error(fmt::format("this plan deadlocks: {} steps wait for each other", incomplete));
    std::vector<double> done;
    for (const LogPRank& state : ranks_) done.push_back(state.done);
    return done;
  }

  const Plan& plan_;
  const ModelPlatform& platform_;
  const ChannelMap channels_;
  const MessageModel& messages_;
  const MessageSizes& sizes_;
  const MessageMatching links_;
  std::optional<Bursts> bursts_;
  std::vector<ReadyWalk> walks_;  // by rank
  std::vector<LogPRank> ranks_;
  std::vector<Rank> rank_of_;  // by index in the plan
  std::vector<MessageCost> costs_;
  std::vector<std::uint32_t> cost_of_;  // by index in the plan: which of costs_
  EventQueue events_;
  const double limit_;
};

class LogPPlanCost : public PlanCost {
 public:
  LogPPlanCost(const CostModel& model, const PlanRequest& request) : model_(model), request_(request) {}

  double seconds(double bytes) const override {
    const std::vector<double> done =
        evaluate_logp_plan(request_.plan, request_.mapping, request_.platform, model_,
                           MessageSizes::uniform(bytes * request_.place.value()));
    return done.empty() ? 0 : *std::ranges::max_element(done);
  }

 private:
  const CostModel& model_;
  const PlanRequest request_;
};

}  // namespace

std::vector<double> evaluate_logp_plan(const Plan& plan, const Mapping& mapping,
                                       const ModelPlatform& platform, const CostModel& model,
                                       const MessageSizes& sizes, const LogPStart& start) {
  if (mapping.procs() != plan.size())
    throw Error(
        fmt::format("the plan is for {} processes and the mapping for {}", plan.size(), mapping.procs()));
  if (!start.arrivals.empty() && start.arrivals.size() != plan.size())
    throw Error(fmt::format("the plan is for {} processes and there are {} arrivals", plan.size(),
                            start.arrivals.size()));
  require_parameters(model, platform);
  return LogPEvaluation(plan, mapping, platform, *model.messages, sizes, start).run();
}

std::unique_ptr<PlanCost> prepare_logp(const CostModel& model, const PlanRequest& request) {
  return std::make_unique<LogPPlanCost>(model, request);
}

}  // namespace convene::model
