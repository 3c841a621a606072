// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/order.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "schedule/core/ready_walk.hpp"
#include "schedule/core/step_set.hpp"

namespace convene::schedule {
namespace {

constexpr StepId never = 0xffffffffu;

/// A send in flight and the first step that depends on it; or a message and the round until which it is
/// delayed.
struct Awaited {
  std::uint32_t before;
  StepId id;
  // NOLINTNEXTLINE(modernize-use-nullptr): the comparison with a literal 0 is the language's rewriting of <=>
  friend auto operator<=>(const Awaited&, const Awaited&) = default;
};

class Compiler {
 public:
  Compiler(const Schedule& schedule, const Limits& limits)
      : schedule_(schedule), limits_(limits), walk_(schedule), issued_(schedule.size(), false) {
    order_.reserve(std::size_t{2} * schedule.size());
  }

  Order run() {
    walk_.start([this](StepId id) { ready(id); });
    while (issue_one() || wait_for_one() || open_round()) {
    }
    if (sends() > 0) order_.emplace_back(Action::wait_all, 0);
    return std::move(order_);
  }

 private:
  /// A step whose predecessors are all complete.
  void ready(StepId id) {
    if (schedule_[id].is_shm_signal()) {
      schedule_[id].kind == StepKind::send ? ready_local_.insert(id) : receives_.insert(id);
      return;
    }
    if (schedule_[id].is_message() && in_rounds_ && schedule_[id].round > round_) {
      of_later_rounds_.push({schedule_[id].round, id});
      return;
    }
    switch (schedule_[id].kind) {
      case StepKind::recv:
        ready_receives_.insert(id);
        break;
      case StepKind::send:
        ready_sends_.insert(id);
        break;
      case StepKind::copy:
      case StepKind::combine:
        ready_local_.insert(id);
        break;
      case StepKind::join:  // the walk completes it
        break;
    }
  }

  void complete(StepId id) {
    walk_.complete(id, [this](StepId next) { ready(next); });
  }

  /// Opens the next round that has messages. Call it when all rounds before are complete.
  bool open_round() {
    if (of_later_rounds_.empty()) return false;
    round_ = of_later_rounds_.top().before;
    while (!of_later_rounds_.empty() && of_later_rounds_.top().before == round_) {
      const StepId id = of_later_rounds_.top().id;
      of_later_rounds_.pop();
      ready(id);
    }
    return true;
  }

  StepId issue(StepSet& ready) {
    const StepId id = ready.first();
    ready.erase(id);
    issued_[id] = true;
    order_.emplace_back(Action::issue, id);
    return id;
  }

  /// True if the earliest ready message of a kind may be issued. The last place of a window is reserved for
  /// the first message that is not issued: else messages of later rounds could fill the window here, and
  /// those of earlier rounds the window of their receiver.
  bool may_issue(const StepSet& ready, StepKind kind, std::size_t in_flight, std::uint32_t limit) {
    if (ready.empty() || in_flight >= limit) return false;
    if (in_flight + 1 < limit) return true;
    if (in_rounds_ && in_flight == 0) return true;  // no message of a later round is issued before this one
    StepId& first = first_[kind == StepKind::send];
    while (schedule_[first].kind != kind || issued_[first] || schedule_[first].is_shm_signal()) ++first;
    return ready.first() == first;
  }
  bool may_send() { return may_issue(ready_sends_, StepKind::send, sends(), limits_.sends); }
  bool may_receive() {
    return may_issue(ready_receives_, StepKind::recv, receives_in_flight_, limits_.receives);
  }

  bool issue_one() {
    if (may_receive()) {
      receives_.insert(issue(ready_receives_));
      ++receives_in_flight_;
    } else if (may_send()) {
      const StepId id = issue(ready_sends_);
      if (const auto next = schedule_.successors(id); !next.empty())
        await(id, *std::min_element(next.begin(), next.end()));
      else
        free_sends_.insert(id);
    } else if (!ready_local_.empty()) {
      complete(issue(ready_local_));
    } else {
      return false;
    }
    return true;
  }

  /// Waits for the earliest message in flight: a receive, a send on which a step depends, or, if sends have
  /// reached their limit, any send. A rank that waited for sends alone would keep its receive window full,
  /// and a ring of such ranks would deadlock; so would ranks that wait for receives alone that depend on a
  /// send. A send counts as early as the first step that depends on it. That is often much later, when its
  /// places are reused; the receiver may need other messages first.
  bool wait_for_one() {
    const bool sends_block = !ready_sends_.empty() && !may_send();
    while (!by_dependent_.empty() && !awaited_sends_.contains(by_dependent_.top().id)) by_dependent_.pop();
    const StepId send = awaited_sends_.empty() ? never
                        : sends_block          ? awaited_sends_.first()
                                               : by_dependent_.top().id;
    const StepId before_send = send == never || sends_block ? send : by_dependent_.top().before;
    const StepId receive = receives_.empty() ? never : receives_.first();
    const StepId free_send =
        free_sends_.empty() || !(sends_block || in_rounds_) ? never : free_sends_.first();
    const StepId earliest = std::min({before_send, receive, free_send});
    if (earliest == never) return false;
    StepId id = earliest;
    if (earliest == receive) {
      receives_.erase(id);
      receives_in_flight_ -= !schedule_[id].is_shm_signal();
    } else if (earliest == free_send) {
      free_sends_.erase(id);
    } else {
      id = send;
      awaited_sends_.erase(id);
    }
    order_.emplace_back(Action::wait, id);
    complete(id);
    return true;
  }

  void await(StepId send, StepId before) {
    awaited_sends_.insert(send);
    by_dependent_.push({before, send});
  }

  std::size_t sends() const { return awaited_sends_.size() + free_sends_.size(); }

  const Schedule& schedule_;
  const Limits limits_;
  ReadyWalk walk_;
  std::vector<bool> issued_;  // by step
  StepId first_[2] = {0, 0};  // of receives, of sends: all before it are issued
  StepSet ready_receives_{schedule_.size()}, ready_sends_{schedule_.size()}, ready_local_{schedule_.size()};
  // In flight. Free: no step depends on it.
  StepSet receives_{schedule_.size()};  // and awaited signals
  StepSet free_sends_{schedule_.size()}, awaited_sends_{schedule_.size()};
  std::size_t receives_in_flight_ = 0;
  // The awaited sends by the first step that depends on them, and some that are complete.
  std::priority_queue<Awaited, std::vector<Awaited>, std::greater<>> by_dependent_;
  // (Shared-memory signals are not ordered by rounds, and steps between them must not wait for a round.)
  const bool in_rounds_ = schedule_.sends_empty_messages() && schedule_.places(Buffer::shared) == 0;
  std::uint32_t round_ = 0;  // the open round; messages of later rounds are delayed
  std::priority_queue<Awaited, std::vector<Awaited>, std::greater<>> of_later_rounds_;
  Order order_;
};

}  // namespace

Order compile_order(const Schedule& schedule, const Limits& limits) {
  return Compiler(schedule, limits).run();
}

namespace {

/// True if some step depends directly on the messages of some peers of a round but not of all.
bool parts_rounds(const Schedule& schedule) {
  std::vector<std::uint32_t> peers_in_round(schedule.rounds(), 0), last_peer(schedule.rounds(), 0);
  for (const Step& step : schedule.steps())
    if (step.kind == StepKind::recv &&
        (peers_in_round[step.round] == 0 || last_peer[step.round] != step.peer)) {
      ++peers_in_round[step.round];
      last_peer[step.round] = step.peer;
    }
  const auto predecessors = schedule.predecessors();
  std::vector<std::uint32_t> rounds;
  for (StepId step = 0; step < schedule.size(); ++step) {
    rounds.clear();
    for (const StepId id : predecessors[step])
      if (schedule[id].kind == StepKind::recv) rounds.push_back(schedule[id].round);
    std::sort(rounds.begin(), rounds.end());
    for (auto begin = rounds.begin(); begin != rounds.end();) {
      const auto end = std::upper_bound(begin, rounds.end(), *begin);
      if (end - begin < static_cast<std::ptrdiff_t>(peers_in_round[*begin])) return true;
      begin = end;
    }
  }
  return false;
}

/// True if some step depends on a message, directly or indirectly, but not on all messages received before it
/// in the order of the steps, which is the order of the waits.
bool skips_receives(const Schedule& schedule) {
  constexpr std::uint64_t most_words = 1u << 20;
  const auto steps = schedule.steps();
  const auto receives = static_cast<std::size_t>(std::count_if(
      steps.begin(), steps.end(), [](const Step& step) { return step.kind == StepKind::recv; }));
  const std::size_t words = receives / 64 + 1;
  if (words * schedule.size() > most_words) return true;         // too large to examine
  std::vector<std::uint64_t> needs(words * schedule.size(), 0);  // by step: a bit for each receive
  std::size_t next = 0;
  for (StepId id = 0; id < schedule.size(); ++id) {
    std::uint64_t* const mine = needs.data() + words * id;
    const bool is_receive = schedule[id].kind == StepKind::recv;
    if (is_receive) {
      mine[next / 64] |= std::uint64_t{1} << next % 64;
      ++next;
    } else if (schedule[id].kind != StepKind::join) {
      // A prefix of ones, then zeros only.
      bool has_ended = false;
      for (std::size_t word = 0; word < words; ++word) {
        if ((mine[word] & (mine[word] + 1)) != 0 || (has_ended && mine[word] != 0)) return true;
        has_ended = ~mine[word] != 0;
      }
    }
    for (const StepId successor : schedule.successors(id))
      for (std::size_t word = 0; word < words; ++word) needs[words * successor + word] |= mine[word];
  }
  return false;
}

}  // namespace

bool has_independent_arrivals(const Schedule& schedule) {
  return parts_rounds(schedule) && skips_receives(schedule);
}

}  // namespace convene::schedule
