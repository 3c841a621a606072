// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/logp_bounds.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "model/platform/cost_model.hpp"

namespace convene::model {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// The costs of one step of a schedule. Of a local step: send_busy.
using Costs = std::vector<MessageCost>;

Costs costs_of(const Schedule& schedule, const LogPSetting& setting) {
  const ChannelMap channels(setting.platform.channels, setting.mapping);
  Costs costs(schedule.size());
  for (StepId step = 0; step < schedule.size(); ++step) {
    if (schedule[step].kind == StepKind::join) continue;
    const double bytes = setting.sizes.bytes(schedule, step);
    if (!schedule[step].is_message()) {
      costs[step].send_busy = local_cost(setting.platform, schedule[step].kind, bytes);
      continue;
    }
    const std::size_t channel = channels.between(schedule.rank(), schedule[step].peer);
    costs[step] = setting.model.messages->cost(setting.platform.channels[channel], bytes, {});
  }
  return costs;
}

/// Takes the lower or the higher of each figure.
void merge(MessageCost& into, const MessageCost& other, bool highest) {
  for (double MessageCost::*figure :
       {&MessageCost::send_busy, &MessageCost::send_port, &MessageCost::send_done, &MessageCost::flight,
        &MessageCost::recv_busy, &MessageCost::recv_port, &MessageCost::recv_port_behind})
    into.*figure = highest ? std::max(into.*figure, other.*figure) : std::min(into.*figure, other.*figure);
}

bool are_alike(const Schedule& one, const Schedule& other, const MessageSizes& sizes) {
  if (one.size() != other.size() || one.edges() != other.edges()) return false;
  for (StepId step = 0; step < one.size(); ++step)
    if (one[step].kind != other[step].kind || one[step].round != other[step].round ||
        one[step].predecessors != other[step].predecessors ||
        (one[step].kind != StepKind::join && sizes.bytes(one, step) != sizes.bytes(other, step)))
      return false;
  return true;
}

/// One rank for all: its own sends are what it receives.
class AlikeEvaluation {
 public:
  AlikeEvaluation(const Schedule& schedule, const Costs& costs)
      : schedule_(schedule),
        costs_(costs),
        unmet_(schedule.size()),
        ready_at_(schedule.size(), 0),
        arrives_at_(schedule.size(), never),
        receive_of_(schedule.size(), none) {
    for (StepId step = 0; step < schedule.size(); ++step) unmet_[step] = schedule[step].predecessors;
  }

  /// Empty if a receive has no send.
  std::optional<double> seconds(const MessageSizes& sizes) {
    if (!match(sizes)) return {};
    for (StepId step = 0; step < schedule_.size(); ++step)
      if (schedule_[step].predecessors == 0) make_ready(step);
    while (!ready_.empty()) {
      const auto [first, at] = next();
      const StepId step = ready_[first];
      ready_[first] = ready_.back();
      ready_.pop_back();
      start(step, at);
    }
    if (complete_ < schedule_.size()) return {};
    return done_;
  }

 private:
  static constexpr StepId none = 0xffffffffu;

  /// The n-th receive of a round belongs to the n-th send.
  bool match(const MessageSizes& sizes) {
    std::vector<StepId> sends, receives;
    for (StepId step = 0; step < schedule_.size(); ++step) {
      if (schedule_[step].kind == StepKind::send) sends.push_back(step);
      if (schedule_[step].kind == StepKind::recv) receives.push_back(step);
    }
    if (sends.size() != receives.size()) return false;
    const auto by_round = [&](StepId step) { return schedule_[step].round; };
    std::ranges::stable_sort(sends, {}, by_round);
    std::ranges::stable_sort(receives, {}, by_round);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      if (by_round(sends[i]) != by_round(receives[i]) ||
          sizes.bytes(schedule_, sends[i]) != sizes.bytes(schedule_, receives[i]))
        return false;
      receive_of_[sends[i]] = receives[i];
    }
    return true;
  }

  void make_ready(StepId step) {
    if (schedule_[step].kind == StepKind::join) return complete(step, ready_at_[step]);
    if (schedule_[step].kind != StepKind::recv || arrives_at_[step] != never) ready_.push_back(step);
  }

  void complete(StepId step, double at) {
    done_ = std::max(done_, at);
    ++complete_;
    for (const StepId next : schedule_.successors(step)) {
      ready_at_[next] = std::max(ready_at_[next], at);
      if (--unmet_[next] == 0) make_ready(next);
    }
  }

  double start_of(StepId step) const {
    const double at = std::max(processor_, ready_at_[step]);
    switch (schedule_[step].kind) {
      case StepKind::send:
        return std::max(at, send_port_);
      case StepKind::recv:
        return std::max({at, arrives_at_[step], recv_port_ + costs_[step].recv_port});
      default:
        return at;
    }
  }

  /// The ready step that can start first, and of these the first in the schedule.
  std::pair<std::size_t, double> next() {
    std::size_t best = 0;
    double earliest = never;
    for (std::size_t i = 0; i < ready_.size(); ++i)
      if (const double at = start_of(ready_[i]);
          at < earliest || (at == earliest && ready_[i] < ready_[best])) {
        best = i;
        earliest = at;
      }
    return {best, earliest};
  }

  void start(StepId step, double now) {
    const MessageCost& cost = costs_[step];
    switch (schedule_[step].kind) {
      case StepKind::send: {
        processor_ = now + cost.send_busy;
        send_port_ = now + cost.send_port;
        const StepId receive = receive_of_[step];
        arrives_at_[receive] = now + cost.flight;
        if (unmet_[receive] == 0) ready_.push_back(receive);
        return complete(step, now + cost.send_done);
      }
      case StepKind::recv:
        processor_ = now + cost.recv_busy;
        recv_port_ = now + cost.recv_port_behind;
        return complete(step, processor_);
      default:
        processor_ = now + cost.send_busy;
        return complete(step, processor_);
    }
  }

  const Schedule& schedule_;
  const Costs& costs_;
  std::vector<std::uint32_t> unmet_;  // by step, like the next three
  std::vector<double> ready_at_, arrives_at_;
  std::vector<StepId> receive_of_;  // of a send
  std::vector<StepId> ready_;
  std::uint32_t complete_ = 0;
  double processor_ = 0, send_port_ = 0, recv_port_ = -never, done_ = 0;
};

}  // namespace

double busy_seconds(const Schedule& schedule, const LogPSetting& setting) {
  const Costs costs = costs_of(schedule, setting);
  double processor = 0, send_port = 0, recv_port = 0, last_sent = 0, first_received = 0;
  for (StepId step = 0; step < schedule.size(); ++step) {
    const MessageCost& cost = costs[step];
    if (schedule[step].kind == StepKind::recv) {
      processor += cost.recv_busy;
      recv_port += cost.recv_port;
      first_received = std::max(first_received, cost.recv_port);
    } else {
      processor += cost.send_busy;
      send_port += cost.send_port;
      last_sent = std::max(last_sent, cost.send_port - cost.send_done);
    }
  }
  return std::max({processor, send_port - last_sent, recv_port - first_received});
}

std::optional<LogPBounds> alike_seconds(std::span<const Schedule> sample, const LogPSetting& setting) {
  for (const Schedule& each : sample.subspan(1))
    if (!are_alike(sample.front(), each, setting.sizes)) return {};
  Costs lowest = costs_of(sample.front(), setting), highest = lowest;
  for (const Schedule& each : sample.subspan(1)) {
    const Costs costs = costs_of(each, setting);
    for (StepId step = 0; step < each.size(); ++step) {
      merge(lowest[step], costs[step], false);
      merge(highest[step], costs[step], true);
    }
  }
  const auto least = AlikeEvaluation(sample.front(), lowest).seconds(setting.sizes);
  if (!least) return {};
  if (lowest == highest) return LogPBounds{*least, *least};
  const auto most = AlikeEvaluation(sample.front(), highest).seconds(setting.sizes);
  return LogPBounds{*least, std::max(*least, *most)};
}

}  // namespace convene::model
