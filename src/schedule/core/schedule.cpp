// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/schedule.hpp"

#include <stdexcept>

namespace convene::schedule {

Predecessors::Predecessors(const Schedule& schedule) : first_(schedule.size() + 1, 0) {
  // A counting sort of the edges by their second step. The first steps of each are in ascending order.
  for (StepId id = 0; id < schedule.size(); ++id)
    for (const StepId next : schedule.successors(id)) ++first_[next + 1];
  for (StepId id = 0; id < schedule.size(); ++id) first_[id + 1] += first_[id];
  steps_.resize(first_.back());
  std::vector<std::uint32_t> at(first_.begin(), first_.end() - 1);
  for (StepId id = 0; id < schedule.size(); ++id)
    for (const StepId next : schedule.successors(id)) steps_[at[next]++] = id;
}

std::span<const Place> Schedule::sized_like(Buffer scratch_buffer) const {
  std::size_t first = 0;
  for (unsigned b = index(Buffer::scratch); b < index(scratch_buffer); ++b) first += places_[b];
  return std::span(like_).subspan(first, places(scratch_buffer));
}

std::size_t Schedule::memory() const {
  return sizeof *this + steps_.capacity() * sizeof(Step) + ranges_.capacity() * sizeof(Range) +
         edges_.capacity() * sizeof(StepId) + like_.capacity() * sizeof(Place);
}

void Schedule::validate() const {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  };
  require(!steps_.empty(), "a schedule without its sentinel");
  require(steps_[size()].ranges == ranges_.size(), "ranges without a step");
  require(steps_[size()].edges == edges_.size(), "edges without a step");
  std::vector<std::uint32_t> predecessors(size(), 0);
  for (StepId id = 0; id < size(); ++id) {
    const Step& step = steps_[id];
    require(step.ranges <= steps_[id + 1].ranges && step.edges <= steps_[id + 1].edges,
            "a step's indices run backwards");
    require(!step.is_message() || (step.peer < procs_ && step.peer != rank_),
            "a message to a rank outside the plan");
    require(step.from_ranges <= ranges(id).size(), "a step with more ranges to read than it has");
    for (const Range& range : ranges(id)) {
      require(places(range.buffer()) > 0, "uses an undeclared buffer");
      require(range.first < places(range.buffer()) &&
                  (range.stride < places(range.buffer()) || places(range.buffer()) == 1),
              "uses a place beyond its buffer");
    }
    for (StepId next : successors(id)) {
      require(next < size() && next > id, "a dependency that does not point forwards");
      ++predecessors[next];
    }
  }
  for (StepId id = 0; id < size(); ++id)
    require(predecessors[id] == steps_[id].predecessors, "a step whose number of predecessors is wrong");
}

}  // namespace convene::schedule
