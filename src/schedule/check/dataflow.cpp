// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

constexpr std::size_t not_sent = static_cast<std::size_t>(-1);

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

Dataflow::Dataflow(const Plan& plan, const MessageMatching& matching, const Contract& contract)
    : plan_(plan), matching_(matching) {
  segments_ = contract.reduction.segments;
  if (segments_ > 0) expressions_.emplace(static_cast<Rank>(plan.size()), contract.reduction);
  lay_out(contract);
  if (!fault_.empty()) return;
  run();
  if (fault_.empty()) explain_deadlock();
  if (fault_.empty()) compare(contract);
  if (fault_.empty() && contract.reduction.same_expression) fault_ = find_differing_expressions(contract);
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

void Dataflow::run() {
  walks_ = ready_walks(plan_);
  payload_at_.assign(matching_.base.back(), not_sent);
  for (const Schedule& schedule : plan_) {
    const Rank rank = schedule.rank();
    for (StepId id = 0; id < schedule.size(); ++id)
      if (schedule[id].kind == StepKind::recv) walks_[rank].hold(id);  // until its message is sent
    walks_[rank].start([&](StepId id) { ready_.push_back({rank, id}); });
  }
  while (!ready_.empty() && fault_.empty()) {
    const auto [rank, step] = ready_.back();
    ready_.pop_back();
    execute(rank, step);
    walks_[rank].complete(step, [this, rank = rank](StepId next) { ready_.push_back({rank, next}); });
  }
}

void Dataflow::execute(Rank rank, StepId id) {
  const Schedule& schedule = plan_[rank];
  switch (schedule[id].kind) {
    case StepKind::send:
      return send(schedule, id);
    case StepKind::recv:
      return receive(schedule, id);
    case StepKind::copy:
      left_.clear();
      gather(schedule, id, schedule.from(id), left_);
      return write(schedule, id, schedule.to(id), left_.data());
    case StepKind::combine:
      return combine(schedule, id);
    case StepKind::join:  // the walk completes it
      return;
  }
}

void Dataflow::send(const Schedule& schedule, StepId id) {
  const PlanStep index = matching_.at(schedule.rank(), id);
  payload_at_[index] = payload_.size();
  if (!schedule[id].is_shm_signal()) gather(schedule, id, schedule.ranges(id), payload_);
  const Rank peer = schedule[id].peer;
  walks_[peer].release(matching_.step(peer, matching_.partner[index]), [this, peer](StepId receive) {
    ready_.push_back({peer, receive});
  });
}

void Dataflow::receive(const Schedule& schedule, StepId id) {
  if (schedule[id].is_shm_signal()) return;
  const PlanStep send = matching_.partner[matching_.at(schedule.rank(), id)];
  write(schedule, id, schedule.ranges(id), payload_.data() + payload_at_[send]);
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
  left_.clear();
  right_.clear();
  gather(schedule, id, schedule.from(id), left_);
  gather(schedule, id, schedule.to(id), right_);
  if (fault_.empty() && !expressions_)
    fault_ = describe(schedule, id) + ": combines, but the collective has no operator";
  std::string why;
  for (std::size_t i = 0; i < left_.size() && fault_.empty(); ++i) {
    right_[i] = expressions_->combine(left_[i], right_[i], why);
    if (!why.empty()) fault_ = fmt::format("{}: {}", describe(schedule, id), why);
  }
  write(schedule, id, schedule.to(id), right_.data());
}

StepId Dataflow::first_incomplete(Rank rank) const {
  StepId id = 0;
  while (id < plan_[rank].size() && walks_[rank].is_complete(id)) ++id;
  return id;
}

/// Follows the chain of waiting ranks from the first incomplete step, until a rank repeats. No fault if all
/// steps are complete.
void Dataflow::explain_deadlock() {
  Rank rank = 0;
  while (rank < plan_.size() && first_incomplete(rank) == plan_[rank].size()) ++rank;
  if (rank == plan_.size()) return;
  // Ids grow along dependencies, so the first incomplete step of a rank has no incomplete predecessor. It is
  // a receive, and its message was not sent because the sender is stuck in an earlier step of its own.
  std::vector<bool> visited(plan_.size(), false);
  fault_ = fmt::format("{}: never completes", describe(plan_[rank], first_incomplete(rank)));
  for (int hops = 0; hops < 4 && !visited[rank]; ++hops) {
    visited[rank] = true;
    const Rank peer = plan_[rank][first_incomplete(rank)].peer;
    fault_ += fmt::format("; it waits for rank {}, which never completes {}", peer,
                          describe(plan_[peer], first_incomplete(peer)));
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
std::string Dataflow::find_differing_expressions(const Contract& contract) const {
  std::vector<std::pair<Content, Rank>> first(contract.size() * segments_,
                                              {nothing, 0});  // by wanted content
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
            "rank {}: output place {} holds {}, but combined in another order or grouping than on rank {}; "
            "{}",
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
  const std::size_t payload = payload_at_[matching_.at(rank, send)];
  if (payload == not_sent) return {};
  return {payload_.data() + payload, static_cast<std::size_t>(places(plan_[rank].ranges(send)))};
}

}  // namespace convene::schedule
