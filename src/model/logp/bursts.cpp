// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/bursts.hpp"

#include <algorithm>
#include <utility>

namespace convene::model {

namespace {

/// The longest chain of messages before each step, over all ranks.
class Generations {
 public:
  Generations(const Plan& plan, const MessageMatching& links) : plan_(plan), links_(links) {
    found_.resize(links.base.back(), 0);
    missing_.resize(links.base.back(), 0);
    for (Rank rank = 0; rank < plan.size(); ++rank)
      for (StepId step = 0; step < plan[rank].size(); ++step) {
        const Step& what = plan[rank][step];
        missing_[links.at(rank, step)] = what.predecessors + (what.kind == StepKind::recv ? 1 : 0);
      }
  }

  std::vector<std::uint32_t> run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank)
      for (StepId step = 0; step < plan_[rank].size(); ++step)
        if (missing_[links_.at(rank, step)] == 0) ready_.emplace_back(rank, step);
    while (!ready_.empty()) {
      const auto [rank, step] = ready_.back();
      ready_.pop_back();
      hand_on(rank, step);
    }
    return std::move(found_);
  }

 private:
  void hand_on(Rank rank, StepId step) {
    const Step& what = plan_[rank][step];
    const std::uint32_t own = found_[links_.at(rank, step)];
    if (what.kind == StepKind::send) {
      const PlanStep other = links_.partner[links_.at(rank, step)];
      reach(what.peer, links_.step(what.peer, other), own);
    }
    const std::uint32_t behind = own + (what.kind == StepKind::recv ? 1 : 0);
    for (StepId next : plan_[rank].successors(step)) reach(rank, next, behind);
  }

  void reach(Rank rank, StepId step, std::uint32_t generation) {
    const PlanStep index = links_.at(rank, step);
    found_[index] = std::max(found_[index], generation);
    if (--missing_[index] == 0) ready_.emplace_back(rank, step);
  }

  const Plan& plan_;
  const MessageMatching& links_;
  std::vector<std::uint32_t> found_, missing_;
  std::vector<std::pair<Rank, StepId>> ready_;
};

void count(std::vector<std::uint32_t>& counts, std::uint32_t generation) {
  if (counts.size() <= generation) counts.resize(generation + 1, 0);
  ++counts[generation];
}

}  // namespace

Bursts::Bursts(const Plan& plan, const MessageMatching& links)
    : base_(links.base),
      generations_(Generations(plan, links).run()),
      sent_(plan.size()),
      received_(plan.size()) {
  for (Rank rank = 0; rank < plan.size(); ++rank)
    for (StepId step = 0; step < plan[rank].size(); ++step) {
      if (plan[rank][step].kind == StepKind::send) count(sent_[rank], generation(rank, step));
      if (plan[rank][step].kind == StepKind::recv) count(received_[rank], generation(rank, step));
    }
}

}  // namespace convene::model
