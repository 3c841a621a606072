// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/online/online_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/online/incremental_schedule.hpp"

namespace convene::schedule {

OnlineSimulation::OnlineSimulation(std::vector<Runnable> ranks, Options options)
    : options_(std::move(options)), ranks_(ranks.size()) {
  options_.arrivals.resize(ranks.size(), 0);
  for (Rank rank = 0; rank < ranks.size(); ++rank) {
    schedules_.push_back(std::move(ranks[rank].schedule));
    algorithms_.push_back(std::move(ranks[rank].online));
    schedule_event(rank, {}, options_.arrivals[rank] * ticks_a_round);
  }
}

OnlineSimulation::OnlineSimulation(const OnlineSimulation& other)
    : options_(other.options_),
      schedules_(other.schedules_),
      ranks_(other.ranks_),
      pending_(other.pending_),
      unsettled_(other.unsettled_),
      pairs_(other.pairs_),
      messages_(other.messages_),
      next_number_(other.next_number_) {
  for (const auto& online : other.algorithms_) algorithms_.push_back(online->copy());
}

/// A rank that does not progress in the background sees no event before it arrives.
void OnlineSimulation::schedule_event(Rank rank, const Event& event, std::uint64_t time, std::uint32_t step,
                                      MessageId message, std::uint64_t sent_at) {
  if (!options_.in_background) time = std::max(time, options_.arrivals[rank] * ticks_a_round);
  pending_.emplace(Key{time, next_number_++}, PendingEvent{rank, event, step, message, sent_at});
}

bool OnlineSimulation::can_happen(const PendingEvent& pending) const {
  if (pending.event.kind == Event::Kind::begun) return true;
  if (!ranks_[pending.rank].has_begun && !options_.in_background) return false;
  return pending.event.kind != Event::Kind::noticed || algorithms_[pending.rank]->is_listening();
}

/// Of the notices from one rank to another only the oldest is possible next.
bool OnlineSimulation::is_oldest_notice(const Key& key, const PendingEvent& pending) const {
  return std::none_of(pending_.begin(), pending_.end(), [&](const auto& other) {
    const PendingEvent& older = other.second;
    return older.event.kind == Event::Kind::noticed && older.rank == pending.rank &&
           older.event.peer == pending.event.peer && other.first.second < key.second;
  });
}

std::vector<OnlineSimulation::Choice> OnlineSimulation::choices() const {
  std::vector<Choice> result;
  for (const auto& [key, pending] : pending_)
    if (can_happen(pending) && (pending.event.kind != Event::Kind::noticed || is_oldest_notice(key, pending)))
      result.push_back({pending.rank, key.first, key.second});
  for (const auto& [time, rank] : unsettled_) result.push_back({rank, time, Choice::quiet});
  return result;
}

Event OnlineSimulation::event(const Choice& choice) const {
  if (choice.number == Choice::quiet) return {.kind = Event::Kind::quiet};
  return pending_.at({choice.time, choice.number}).event;
}

// In the order of time, notices keep their order, and `quiet` follows all other events of the same time.
std::optional<OnlineSimulation::Choice> OnlineSimulation::earliest() const {
  auto first = pending_.begin();
  while (first != pending_.end() && !can_happen(first->second)) ++first;
  if (!unsettled_.empty() && (first == pending_.end() || unsettled_.begin()->first < first->first.first))
    return Choice{unsettled_.begin()->second, unsettled_.begin()->first, Choice::quiet};
  if (first == pending_.end()) return std::nullopt;
  return Choice{first->second.rank, first->first.first, first->first.second};
}

void OnlineSimulation::take(const Choice& choice) {
  RankState& state = ranks_[choice.rank];
  const Event happened = event(choice);
  unsettled_.erase({state.last_time, choice.rank});
  state.last_time = std::max(state.last_time, choice.time);
  if (choice.number != Choice::quiet) {
    unsettled_.emplace(state.last_time, choice.rank);
    const auto found = pending_.find({choice.time, choice.number});
    const PendingEvent taken = found->second;
    pending_.erase(found);
    std::uint32_t step = taken.step;
    if (happened.kind == Event::Kind::begun) state.has_begun = true;
    if (happened.kind == Event::Kind::noticed) {
      step = static_cast<std::uint32_t>(state.steps.size());
      ExecutedStep& notice = state.steps.emplace_back();
      notice.wanted = {.kind = StepKind::recv, .is_notice = true, .peer = happened.peer};
      notice.message = taken.message;
      notice.time = taken.sent_at;
    }
    if (step != no_step) order_after(state, step, choice.time);
  }
  handle(choice.rank, happened, choice.time);
}

/// Makes all further steps depend on this one, too.
void OnlineSimulation::order_after(RankState& state, std::uint32_t step, std::uint64_t time) {
  if (state.latest == no_step) {
    state.latest = step;
    return;
  }
  // A step requested before `latest` does not depend on it. A join depends on both.
  ExecutedStep& join = state.steps.emplace_back();
  join.is_join = true;
  join.time = time;
  join.after = {state.latest, step};
  state.latest = static_cast<std::uint32_t>(state.steps.size()) - 1;
}

void OnlineSimulation::handle(Rank rank, const Event& event, std::uint64_t now) {
  OnlineSteps steps;
  algorithms_[rank]->on(event, steps);
  for (const OnlineStep& wanted : steps.list()) {
    if (wanted.is_notice)
      send_notice(rank, wanted, now);
    else if (wanted.kind == StepKind::send || wanted.kind == StepKind::recv)
      post(rank, wanted, now);
    else
      ranks_[rank].latest = add(ranks_[rank], wanted, now);
  }
}

std::uint32_t OnlineSimulation::add(RankState& state, const OnlineStep& wanted, std::uint64_t now) {
  ExecutedStep& step = state.steps.emplace_back();
  step.wanted = wanted;
  step.time = now;
  if (state.latest != no_step) step.after.push_back(state.latest);
  return static_cast<std::uint32_t>(state.steps.size()) - 1;
}

void OnlineSimulation::send_notice(Rank rank, const OnlineStep& wanted, std::uint64_t now) {
  const std::uint32_t step = add(ranks_[rank], wanted, now);
  ranks_[rank].steps[step].message = messages_;
  Pair& pair = pairs_[{rank, wanted.peer}];
  pair.last_notice = std::max(pair.last_notice, now + 1);
  schedule_event(wanted.peer, {.kind = Event::Kind::noticed, .peer = rank, .notice = wanted.notice},
                 pair.last_notice, no_step, messages_, now);
  ++messages_;
}

void OnlineSimulation::post(Rank rank, const OnlineStep& wanted, std::uint64_t now) {
  const std::uint32_t step = add(ranks_[rank], wanted, now);
  if (wanted.kind == StepKind::send) {
    pairs_[{rank, wanted.peer}].sends.push_back({step, now});
    if (options_.eager)
      schedule_event(rank, {.kind = Event::Kind::sent, .peer = wanted.peer, .slots = wanted.from}, now, step);
    match(rank, wanted.peer);
  } else {
    pairs_[{wanted.peer, rank}].receives.push_back({step, now});
    match(wanted.peer, rank);
  }
}

/// Transfers data as soon as both ends are posted and their ports are free.
void OnlineSimulation::match(Rank from, Rank to) {
  Pair& pair = pairs_[{from, to}];
  for (; pair.matched < std::min(pair.sends.size(), pair.receives.size()); ++pair.matched) {
    const Posted &send = pair.sends[pair.matched], &receive = pair.receives[pair.matched];
    RankState &sender = ranks_[from], &receiver = ranks_[to];
    const std::uint64_t begin =
        std::max({send.time, receive.time, sender.sends_until, receiver.receives_until});
    sender.sends_until = receiver.receives_until = begin + ticks_a_round;
    ExecutedStep &sent = sender.steps[send.step], &received = receiver.steps[receive.step];
    sent.message = received.message = messages_++;
    sent.time = received.time = begin;
    if (!options_.eager)
      schedule_event(from, {.kind = Event::Kind::sent, .peer = to, .slots = sent.wanted.from},
                     begin + ticks_a_round, send.step);
    schedule_event(to, {.kind = Event::Kind::received, .peer = from, .slots = received.wanted.to},
                   begin + ticks_a_round, receive.step);
  }
}

std::string OnlineSimulation::unfinished() const {
  for (Rank rank = 0; rank < ranks_.size(); ++rank)
    if (algorithms_[rank]->is_listening())
      return fmt::format("rank {} waits for a notice that no rank sends", rank);
  for (const auto& [between, pair] : pairs_)
    if (pair.sends.size() != pair.receives.size())
      return fmt::format("rank {} sends {} messages to rank {}, which receives {}", between.first,
                         pair.sends.size(), between.second, pair.receives.size());
  if (!pending_.empty())
    return fmt::format("rank {} is finished, but an event is pending for it", pending_.begin()->second.rank);
  return "";
}

Plan OnlineSimulation::plan() const {
  std::vector<std::uint64_t> rounds;  // in which messages with data start
  for (const RankState& state : ranks_)
    for (const ExecutedStep& done : state.steps)
      if (const OnlineStep& step = done.wanted;
          !done.is_join && (step.kind == StepKind::send || step.kind == StepKind::recv) &&
          step.from.count() + step.to.count() > 0)
        rounds.push_back(done.time / ticks_a_round);
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  const auto round = [&](const ExecutedStep& done) {
    const auto found = std::lower_bound(rounds.begin(), rounds.end(), done.time / ticks_a_round);
    const auto last = static_cast<std::ptrdiff_t>(std::max<std::size_t>(rounds.size(), 1)) - 1;
    return static_cast<std::uint32_t>(std::min(found - rounds.begin(), last));  // notices may follow all data
  };
  // Messages are numbered in the order in which their sends were requested.
  std::vector<std::uint32_t> numbers(messages_, 0);
  for (const RankState& state : ranks_) {
    std::map<Rank, std::uint32_t> sent;
    for (const ExecutedStep& done : state.steps)
      if (done.wanted.kind == StepKind::send && !done.is_join && done.message != no_message)
        numbers[done.message] = sent[done.wanted.peer]++;
  }
  Plan plan;
  for (Rank rank = 0; rank < ranks_.size(); ++rank) {
    IncrementalSchedule schedule(schedules_[rank]);
    for (const ExecutedStep& done : ranks_[rank].steps) {
      const std::uint32_t match = done.message == no_message ? 0 : numbers[done.message];
      const StepId id =
          done.is_join ? schedule.add_join(round(done)) : schedule.add(done.wanted, match, round(done));
      for (const std::uint32_t before : done.after) schedule.order(before, id);
    }
    plan.push_back(schedule.finish());
  }
  return plan;
}

Plan simulate_to_end(OnlineSimulation simulation) {
  while (const auto next = simulation.earliest()) simulation.take(*next);
  return simulation.plan();
}

}  // namespace convene::schedule
