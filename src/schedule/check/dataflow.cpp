// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

constexpr std::size_t not_sent = static_cast<std::size_t>(-1);
constexpr std::uint32_t done = 0xffffffffu;  // in place of a number of missing predecessors

/// The last step that writes a place, in words.
std::string last_writer(const Schedule& schedule, Buffer buffer, Place wanted) {
  for (StepId id = schedule.size(); id-- > 0;) {
    if (schedule[id].kind == StepKind::send || schedule[id].kind == StepKind::join) continue;
    for (const Range& range : schedule.to(id)) {
      bool found = false;
      if (range.buffer() == buffer)
        for_each_place(range, schedule.places(buffer), [&](Place place) { found |= place == wanted; });
      if (found) return "last written by " + describe(schedule, id);
    }
  }
  return "no step writes it";
}

}  // namespace

Dataflow::Dataflow(const Plan& plan, const MessageMatching& links, const Contract& contract)
    : plan_(plan), links_(links) {
  segments_ = contract.reduction.segments;
  if (segments_ > 0) expressions_.emplace(static_cast<Rank>(plan.size()), contract.reduction);
  lay_out(contract);
  if (!fault_.empty()) return;
  start();
  run();
  if (fault_.empty() && left_ > 0) explain_stuck();
  if (fault_.empty()) compare(contract);
  if (fault_.empty() && contract.reduction.same_expression) fault_ = find_unlike(contract);
}

std::string Dataflow::in_words(Content content) const {
  if (content == nothing) return "nothing";
  return expressions_ ? expressions_->in_words(content) : fmt::format("block {}", content);
}

void Dataflow::lay_out(const Contract& contract) {
  first_place_.assign(plan_.size() * max_buffers, 0);
  std::size_t total = 0;
  for (const Schedule& schedule : plan_)
    for (unsigned b = 0; b < max_buffers; ++b) {
      first_place_[schedule.rank() * max_buffers + b] = total;
      const auto buffer = static_cast<Buffer>(b);
      if (buffer != Buffer::shared || schedule.first_sharer() == schedule.rank())
        total += schedule.places(buffer);
    }
  held_.assign(total, nothing);
  for (Rank rank = 0; rank < plan_.size(); ++rank) {
    fill(rank, Buffer::input, contract[rank].input);
    fill(rank, Buffer::output, contract[rank].output);
    if (fault_.empty() && contract[rank].wanted.size() != contract[rank].output.size())
      fault_ = fmt::format("rank {}: the contract's output has {} places before and {} afterwards", rank,
                           contract[rank].output.size(), contract[rank].wanted.size());
  }
}

void Dataflow::fill(Rank rank, Buffer buffer, const std::vector<Content>& contents) {
  const std::uint32_t places = plan_[rank].places(buffer);
  if (places != contents.size() && !(places == 0 && buffer == Buffer::input)) {
    fault_ = fmt::format("rank {}: the schedule's {} has {} places, the contract's {}", rank, name(buffer),
                         places, contents.size());
    return;
  }
  if (places > 0)
    std::copy(contents.begin(), contents.end(), held_.begin() + static_cast<long>(at(rank, buffer)));
}

void Dataflow::start() {
  missing_.resize(links_.base.back());
  payload_at_.assign(links_.base.back(), not_sent);
  left_ = links_.base.back();
  for (const Schedule& schedule : plan_)
    for (StepId id = 0; id < schedule.size(); ++id) {
      missing_[links_.at(schedule.rank(), id)] = schedule[id].predecessors;
      if (schedule[id].predecessors == 0) todo_.push_back({schedule.rank(), id});
    }
}

void Dataflow::run() {
  while (!todo_.empty() && fault_.empty()) {
    const Todo next = todo_.back();
    todo_.pop_back();
    if (execute(next.rank, next.step)) complete(plan_[next.rank], next.step);
  }
}

/// Does one step whose predecessors are complete; false where it must wait for its message.
bool Dataflow::execute(Rank rank, StepId id) {
  const Schedule& schedule = plan_[rank];
  const PlanStep index = links_.at(rank, id);
  switch (schedule[id].kind) {
    case StepKind::send: {
      payload_at_[index] = payload_.size();
      if (!schedule[id].is_shm_signal()) gather(schedule, id, schedule.ranges(id), payload_);
      const PlanStep partner = links_.partner[index];
      const Rank peer = schedule[id].peer;
      if (missing_[partner] == 0) todo_.push_back({peer, links_.step(peer, partner)});  // it waited
      return true;
    }
    case StepKind::recv: {
      const std::size_t payload = payload_at_[links_.partner[index]];
      if (payload == not_sent || missing_[index] == done) return false;
      if (schedule[id].is_shm_signal()) return true;
      write(schedule, id, schedule.ranges(id), payload_.data() + payload);
      return true;
    }
    case StepKind::copy:
      between_.clear();
      gather(schedule, id, schedule.from(id), between_);
      write(schedule, id, schedule.to(id), between_.data());
      return true;
    case StepKind::combine:
      combine(schedule, id);
      return true;
    case StepKind::join:
      return true;
  }
  return true;
}

void Dataflow::gather(const Schedule& schedule, StepId id, std::span<const Range> from,
                      std::vector<Content>& into) {
  for (const Range& range : from) {
    const Content* held = held_.data() + at(schedule.rank(), range.buffer());
    for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
      into.push_back(held[place]);
      if (held[place] == nothing && fault_.empty())
        fault_ =
            fmt::format("{}: {} place {} holds nothing", describe(schedule, id), name(range.buffer()), place);
    });
  }
}

void Dataflow::write(const Schedule& schedule, StepId id, std::span<const Range> to,
                     const Content* contents) {
  for (const Range& range : to) {
    Content* held = held_.data() + at(schedule.rank(), range.buffer());
    if (range.buffer() == Buffer::input && fault_.empty())
      fault_ = describe(schedule, id) + ": writes into the caller's input";
    for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
      if (held[place] == *contents && fault_.empty())
        fault_ = fmt::format("{}: {} is delivered twice to {} place {}", describe(schedule, id),
                             in_words(*contents), name(range.buffer()), place);
      held[place] = *contents++;
    });
  }
}

void Dataflow::combine(const Schedule& schedule, StepId id) {
  between_.clear();
  beneath_.clear();
  gather(schedule, id, schedule.from(id), between_);
  gather(schedule, id, schedule.to(id), beneath_);
  if (fault_.empty() && !expressions_)
    fault_ = describe(schedule, id) + ": combines, but nothing is to be reduced";
  std::string why;
  for (std::size_t i = 0; i < between_.size() && fault_.empty(); ++i) {
    beneath_[i] = expressions_->combine(between_[i], beneath_[i], why);
    if (!why.empty()) fault_ = fmt::format("{}: {}", describe(schedule, id), why);
  }
  write(schedule, id, schedule.to(id), beneath_.data());
}

void Dataflow::complete(const Schedule& schedule, StepId id) {
  missing_[links_.at(schedule.rank(), id)] = done;
  --left_;
  for (StepId next : schedule.successors(id))
    if (--missing_[links_.at(schedule.rank(), next)] == 0) todo_.push_back({schedule.rank(), next});
}

/// Follows what waits for what, from the first step that could not be done, until a step comes round again.
void Dataflow::explain_stuck() {
  Rank rank = 0;
  const auto stands = [&](Rank at, StepId id) { return missing_[links_.at(at, id)] != done; };
  const auto first_stuck = [&](Rank at) {
    StepId id = 0;
    while (id < plan_[at].size() && !stands(at, id)) ++id;
    return id;
  };
  while (first_stuck(rank) == plan_[rank].size()) ++rank;
  // Ids grow along dependencies: the first step of a rank that is not done has no predecessor left, so it is a
  // receive, and its message was not sent because the sender is stuck in an earlier step of its own.
  std::vector<bool> passed(plan_.size(), false);
  fault_ = fmt::format("{}: stuck for ever", describe(plan_[rank], first_stuck(rank)));
  for (int hops = 0; hops < 4 && !passed[rank]; ++hops) {
    passed[rank] = true;
    const Rank peer = plan_[rank][first_stuck(rank)].peer;
    fault_ += fmt::format("; it waits for rank {}, which is stuck in {}", peer,
                          describe(plan_[peer], first_stuck(peer)));
    rank = peer;
  }
}

bool Dataflow::is_wanted(Content found, Content wanted) const {
  if (!expressions_) return found == wanted;
  const auto content = static_cast<std::uint32_t>(wanted);
  return expressions_->is_sum(found, content / segments_, content % segments_);
}

std::string Dataflow::wanted_in_words(Content wanted) const {
  if (!expressions_) return in_words(wanted);
  const auto content = static_cast<std::uint32_t>(wanted);
  return fmt::format("segment {} of ranks 0 to {}", content % segments_, content / segments_);
}

/// Two ranks that hold the same sum by different expressions.
std::string Dataflow::find_unlike(const Contract& contract) const {
  std::vector<std::pair<Content, Rank>> first(contract.size() * segments_,
                                              {nothing, 0});  // by what is wanted
  for (Rank rank = 0; rank < contract.size(); ++rank)
    for (Place place = 0; place < contract[rank].wanted.size(); ++place) {
      const Content wanted = contract[rank].wanted[place];
      if (wanted == nothing) continue;
      const Content held = holds(rank, Buffer::output, place);
      auto& [expression, holder] = first[static_cast<std::size_t>(wanted)];
      if (expression == nothing) {
        expression = held;
        holder = rank;
      } else if (expression != held) {
        return fmt::format(
            "rank {}: output place {} holds {}, but combined in other brackets or another order than on rank "
            "{}; {}",
            rank, place, in_words(held), holder, last_writer(plan_[rank], Buffer::output, place));
      }
    }
  return "";
}

void Dataflow::compare(const Contract& contract) {
  for (Rank rank = 0; rank < plan_.size(); ++rank) {
    const std::vector<Content>& wanted = contract[rank].wanted;
    for (Place place = 0; place < wanted.size(); ++place) {
      const Content found = holds(rank, Buffer::output, place);
      if (wanted[place] == nothing || is_wanted(found, wanted[place])) continue;
      fault_ = fmt::format("rank {}: output place {} should hold {} but holds {}; {}", rank, place,
                           wanted_in_words(wanted[place]), in_words(found),
                           last_writer(plan_[rank], Buffer::output, place));
      return;
    }
  }
}

std::span<const Content> Dataflow::carried(Rank rank, StepId send) const {
  const Step& step = plan_[rank][send];
  if (step.kind != StepKind::send || step.is_shm_signal() || payload_at_.empty()) return {};
  const std::size_t payload = payload_at_[links_.at(rank, send)];
  if (payload == not_sent) return {};
  return {payload_.data() + payload, static_cast<std::size_t>(places(plan_[rank].ranges(send)))};
}

}  // namespace convene::schedule
