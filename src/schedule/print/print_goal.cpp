// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "schedule/core/describe.hpp"
#include "schedule/print/print.hpp"

namespace convene::schedule {
namespace {

/// Both ends of a message must compute the same number, so it depends on the number of places alone.
std::uint64_t bytes(std::span<const Range> ranges, const PlanInfo& info, const GoalOptions& options) {
  if (info.naming == Naming::empty) return 0;
  return (places(ranges) * options.bytes_per_block + info.segments - 1) / info.segments;
}

std::string goal_action(const Schedule& schedule, StepId id, const PlanInfo& info,
                        const GoalOptions& options) {
  const Step& step = schedule[id];
  if (step.is_shm_signal())
    return fmt::format("{} 0b {} {} tag {}", step.kind == StepKind::send ? "send" : "recv",
                       step.kind == StepKind::send ? "to" : "from", step.peer, step.match);
  switch (step.kind) {
    case StepKind::send:
      return fmt::format("send {}b to {} tag {}", bytes(schedule.ranges(id), info, options), step.peer,
                         step.match);
    case StepKind::recv:
      return fmt::format("recv {}b from {} tag {}", bytes(schedule.ranges(id), info, options), step.peer,
                         step.match);
    case StepKind::copy: {
      const auto copied = static_cast<double>(bytes(schedule.from(id), info, options));
      return fmt::format("calc {}", std::llround(copied * options.copy_nanoseconds_per_byte));
    }
    case StepKind::combine: {
      const auto combined = static_cast<double>(bytes(schedule.to(id), info, options));
      return fmt::format("calc {}", std::llround(combined * options.combine_nanoseconds_per_byte));
    }
    case StepKind::join:
      return "calc 0";
  }
  return "calc 0";
}

}  // namespace

std::string to_goal(const Plan& plan, const PlanInfo& info, const GoalOptions& options) {
  std::string text = fmt::format("num_ranks {}\n", plan.size());
  const auto out = std::back_inserter(text);
  for (const Schedule& schedule : plan) {
    fmt::format_to(out, "\nrank {} {{\n", schedule.rank());
    for (StepId id = 0; id < schedule.size(); ++id)
      fmt::format_to(out, "l{}: {}\n", id + 1, goal_action(schedule, id, info, options));
    for (StepId id = 0; id < schedule.size(); ++id)
      for (StepId next : schedule.successors(id)) fmt::format_to(out, "l{} requires l{}\n", next + 1, id + 1);
    text += "}\n";
  }
  return text;
}

}  // namespace convene::schedule
