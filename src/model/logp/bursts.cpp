// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/bursts.hpp"

#include <algorithm>
#include <utility>

#include "schedule/core/ready_walk.hpp"

namespace convene::model {

namespace {

/// The generation of each step, over all ranks.
class Generations {
 public:
  Generations(const Plan& plan, const MessageMatching& links)
      : plan_(plan), links_(links), found_(links.base.back(), 0), walks_(ready_walks(plan)) {
    for (Rank rank = 0; rank < plan.size(); ++rank)
      for (StepId step = 0; step < plan[rank].size(); ++step)
        if (plan[rank][step].kind == StepKind::recv) walks_[rank].hold(step);
  }

  std::vector<std::uint32_t> run() {
    for (Rank rank = 0; rank < plan_.size(); ++rank)
      walks_[rank].start([&](StepId step) { ready_.emplace_back(rank, step); });
    while (!ready_.empty()) {
      const auto [rank, step] = ready_.back();
      ready_.pop_back();
      complete(rank, step);
    }
    return std::move(found_);
  }

 private:
  void complete(Rank rank, StepId step) {
    const Step& what = plan_[rank][step];
    const std::uint32_t own = found_[links_.at(rank, step)];
    if (what.kind == StepKind::send) {
      const StepId recv = links_.step(what.peer, links_.partner[links_.at(rank, step)]);
      reach(what.peer, recv, own);
      walks_[what.peer].release(recv, [&](StepId ready) { ready_.emplace_back(what.peer, ready); });
    }
    const std::uint32_t behind = own + (what.kind == StepKind::recv ? 1 : 0);
    for (StepId next : plan_[rank].successors(step)) reach(rank, next, behind);
    walks_[rank].complete_one(step, [&](StepId ready) { ready_.emplace_back(rank, ready); });
  }

  void reach(Rank rank, StepId step, std::uint32_t generation) {
    std::uint32_t& found = found_[links_.at(rank, step)];
    found = std::max(found, generation);
  }

  const Plan& plan_;
  const MessageMatching& links_;
  std::vector<std::uint32_t> found_;
  std::vector<ReadyWalk> walks_;
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
