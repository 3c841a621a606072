// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/online/online_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/online/incremental_schedule.hpp"

namespace convene::schedule {

OnlineSimulation::OnlineSimulation(std::vector<Runnable> ranks, Options options)
    : options_(std::move(options)), members_(ranks.size()) {
  options_.arrivals.resize(ranks.size(), 0);
  for (Rank rank = 0; rank < ranks.size(); ++rank) {
    frames_.push_back(std::move(ranks[rank].schedule));
    deciders_.push_back(std::move(ranks[rank].online));
    pend(rank, {}, options_.arrivals[rank] * ticks_a_round);
  }
}

OnlineSimulation::OnlineSimulation(const OnlineSimulation& other)
    : options_(other.options_),
      frames_(other.frames_),
      members_(other.members_),
      pending_(other.pending_),
      stirred_(other.stirred_),
      pairs_(other.pairs_),
      messages_(other.messages_),
      next_number_(other.next_number_) {
  for (const auto& online : other.deciders_) deciders_.push_back(online->copy());
}

/// A rank sees it when it has arrived.
void OnlineSimulation::pend(Rank rank, const Event& event, std::uint64_t time, std::uint32_t step,
                            MessageId message, std::uint64_t told) {
  if (!options_.in_background) time = std::max(time, options_.arrivals[rank] * ticks_a_round);
  pending_.emplace(Key{time, next_number_++}, Pending{rank, event, step, message, told});
}

bool OnlineSimulation::can_happen(const Pending& pending) const {
  if (pending.event.kind == Event::Kind::begun) return true;
  if (!members_[pending.rank].has_begun && !options_.in_background) return false;
  return pending.event.kind != Event::Kind::noticed || deciders_[pending.rank]->is_listening();
}

/// Of the notices from one rank to another only the first can come.
bool OnlineSimulation::is_first_notice(const Key& key, const Pending& pending) const {
  return std::none_of(pending_.begin(), pending_.end(), [&](const auto& other) {
    const Pending& is = other.second;
    return is.event.kind == Event::Kind::noticed && is.rank == pending.rank &&
           is.event.peer == pending.event.peer && other.first.second < key.second;
  });
}

std::vector<OnlineSimulation::Choice> OnlineSimulation::choices() const {
  std::vector<Choice> result;
  for (const auto& [key, pending] : pending_)
    if (can_happen(pending) && (pending.event.kind != Event::Kind::noticed || is_first_notice(key, pending)))
      result.push_back({pending.rank, key.first, key.second});
  for (const auto& [time, rank] : stirred_) result.push_back({rank, time, Choice::quiet});
  return result;
}

Event OnlineSimulation::event(const Choice& choice) const {
  if (choice.number == Choice::quiet) return {.kind = Event::Kind::quiet};
  return pending_.at({choice.time, choice.number}).event;
}

// Taken in the order of time, notices keep their order, and a rank is quiet when nothing else happens at the same time.
std::optional<OnlineSimulation::Choice> OnlineSimulation::earliest() const {
  auto first = pending_.begin();
  while (first != pending_.end() && !can_happen(first->second)) ++first;
  if (!stirred_.empty() && (first == pending_.end() || stirred_.begin()->first < first->first.first))
    return Choice{stirred_.begin()->second, stirred_.begin()->first, Choice::quiet};
  if (first == pending_.end()) return std::nullopt;
  return Choice{first->second.rank, first->first.first, first->first.second};
}

void OnlineSimulation::take(const Choice& choice) {
  Member& member = members_[choice.rank];
  const Event happened = event(choice);
  stirred_.erase({member.last_time, choice.rank});
  member.last_time = std::max(member.last_time, choice.time);
  if (choice.number != Choice::quiet) {
    stirred_.emplace(member.last_time, choice.rank);
    const auto found = pending_.find({choice.time, choice.number});
    const Pending taken = found->second;
    pending_.erase(found);
    std::uint32_t step = taken.step;
    if (happened.kind == Event::Kind::begun) member.has_begun = true;
    if (happened.kind == Event::Kind::noticed) {
      step = static_cast<std::uint32_t>(member.done.size());
      Done& heard = member.done.emplace_back();
      heard.wanted = {.kind = StepKind::recv, .is_notice = true, .peer = happened.peer};
      heard.message = taken.message;
      heard.time = taken.told;
    }
    if (step != no_step) reach(member, step, choice.time);
  }
  decide(choice.rank, happened, choice.time);
}

/// From now on everything comes behind this step too.
void OnlineSimulation::reach(Member& member, std::uint32_t step, std::uint64_t time) {
  if (member.moment == no_step) {
    member.moment = step;
    return;
  }
  // A step that was decided upon before the last moment does not come behind it: a join stands for both.
  Done& join = member.done.emplace_back();
  join.is_join = true;
  join.time = time;
  join.after = {member.moment, step};
  member.moment = static_cast<std::uint32_t>(member.done.size()) - 1;
}

void OnlineSimulation::decide(Rank rank, const Event& event, std::uint64_t now) {
  OnlineSteps steps;
  deciders_[rank]->on(event, steps);
  for (const OnlineStep& wanted : steps.list()) {
    if (wanted.is_notice)
      notify(rank, wanted, now);
    else if (wanted.kind == StepKind::send || wanted.kind == StepKind::recv)
      offer(rank, wanted, now);
    else
      members_[rank].moment = add(members_[rank], wanted, now);
  }
}

std::uint32_t OnlineSimulation::add(Member& member, const OnlineStep& wanted, std::uint64_t now) {
  Done& done = member.done.emplace_back();
  done.wanted = wanted;
  done.time = now;
  if (member.moment != no_step) done.after.push_back(member.moment);
  return static_cast<std::uint32_t>(member.done.size()) - 1;
}

void OnlineSimulation::notify(Rank rank, const OnlineStep& wanted, std::uint64_t now) {
  const std::uint32_t step = add(members_[rank], wanted, now);
  members_[rank].done[step].message = messages_;
  Pair& pair = pairs_[{rank, wanted.peer}];
  pair.last_notice = std::max(pair.last_notice, now + 1);
  pend(wanted.peer, {.kind = Event::Kind::noticed, .peer = rank, .notice = wanted.notice}, pair.last_notice,
       no_step, messages_, now);
  ++messages_;
}

void OnlineSimulation::offer(Rank rank, const OnlineStep& wanted, std::uint64_t now) {
  const std::uint32_t step = add(members_[rank], wanted, now);
  if (wanted.kind == StepKind::send) {
    pairs_[{rank, wanted.peer}].sends.push_back({step, now});
    if (options_.eager)
      pend(rank, {.kind = Event::Kind::sent, .peer = wanted.peer, .slots = wanted.from}, now, step);
    meet(rank, wanted.peer);
  } else {
    pairs_[{wanted.peer, rank}].receives.push_back({step, now});
    meet(wanted.peer, rank);
  }
}

/// Data travels as soon as both ends are there and their ports are free.
void OnlineSimulation::meet(Rank from, Rank to) {
  Pair& pair = pairs_[{from, to}];
  for (; pair.met < std::min(pair.sends.size(), pair.receives.size()); ++pair.met) {
    const Open &send = pair.sends[pair.met], &receive = pair.receives[pair.met];
    Member &sender = members_[from], &receiver = members_[to];
    const std::uint64_t begin =
        std::max({send.time, receive.time, sender.sends_until, receiver.receives_until});
    sender.sends_until = receiver.receives_until = begin + ticks_a_round;
    Done &sent = sender.done[send.step], &received = receiver.done[receive.step];
    sent.message = received.message = messages_++;
    sent.time = received.time = begin;
    if (!options_.eager)
      pend(from, {.kind = Event::Kind::sent, .peer = to, .slots = sent.wanted.from}, begin + ticks_a_round,
           send.step);
    pend(to, {.kind = Event::Kind::received, .peer = from, .slots = received.wanted.to},
         begin + ticks_a_round, receive.step);
  }
}

std::string OnlineSimulation::unfinished() const {
  for (Rank rank = 0; rank < members_.size(); ++rank)
    if (deciders_[rank]->is_listening())
      return fmt::format("rank {} waits for a notice that nobody sends", rank);
  for (const auto& [between, pair] : pairs_)
    if (pair.sends.size() != pair.receives.size())
      return fmt::format("rank {} sends {} messages to rank {}, which receives {}", between.first,
                         pair.sends.size(), between.second, pair.receives.size());
  if (!pending_.empty())
    return fmt::format("rank {} is over, but something is still on its way to it",
                       pending_.begin()->second.rank);
  return "";
}

Plan OnlineSimulation::plan() const {
  std::vector<std::uint64_t> rounds;  // that messages with data began in
  for (const Member& member : members_)
    for (const Done& done : member.done)
      if (const OnlineStep& step = done.wanted;
          !done.is_join && (step.kind == StepKind::send || step.kind == StepKind::recv) &&
          step.from.count() + step.to.count() > 0)
        rounds.push_back(done.time / ticks_a_round);
  std::sort(rounds.begin(), rounds.end());
  rounds.erase(std::unique(rounds.begin(), rounds.end()), rounds.end());
  const auto round = [&](const Done& done) {
    const auto found = std::lower_bound(rounds.begin(), rounds.end(), done.time / ticks_a_round);
    const auto last = static_cast<std::ptrdiff_t>(std::max<std::size_t>(rounds.size(), 1)) - 1;
    return static_cast<std::uint32_t>(
        std::min(found - rounds.begin(), last));  // notices may come after all data
  };
  // Messages are numbered in the order in which their sends were decided upon.
  std::vector<std::uint32_t> numbers(messages_, 0);
  for (const Member& member : members_) {
    std::map<Rank, std::uint32_t> sent;
    for (const Done& done : member.done)
      if (done.wanted.kind == StepKind::send && !done.is_join && done.message != no_message)
        numbers[done.message] = sent[done.wanted.peer]++;
  }
  Plan plan;
  for (Rank rank = 0; rank < members_.size(); ++rank) {
    IncrementalSchedule schedule(frames_[rank]);
    for (const Done& done : members_[rank].done) {
      const std::uint32_t match = done.message == no_message ? 0 : numbers[done.message];
      const StepId id =
          done.is_join ? schedule.add_join(round(done)) : schedule.add(done.wanted, match, round(done));
      for (const std::uint32_t before : done.after) schedule.order(before, id);
    }
    plan.push_back(schedule.finish());
  }
  return plan;
}

Plan simulate_to_end(OnlineSimulation interplay) {
  while (const auto next = interplay.earliest()) interplay.take(*next);
  return interplay.plan();
}

}  // namespace convene::schedule
