// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/core/describe.hpp"

#include <fmt/format.h>

namespace convene::schedule {

std::string_view name(const Step& step) {
  if (step.is_shm_signal()) return step.kind == StepKind::send ? "signal" : "await";
  return name(step.kind);
}

std::string_view name(StepKind kind) {
  switch (kind) {
    case StepKind::send:
      return "send";
    case StepKind::recv:
      return "recv";
    case StepKind::copy:
      return "copy";
    case StepKind::combine:
      return "combine";
    case StepKind::join:
      return "join";
  }
  return "?";
}

std::string name(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return "input";
    case Buffer::output:
      return "output";
    case Buffer::shared:
      return "shared";
    default:
      return fmt::format("scratch{}", index(buffer) - index(Buffer::scratch));
  }
}

std::string list(std::span<const std::uint32_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;  // a run of two is no shorter as a run
    if (!text.empty()) text += ',';
    text += end - i == 1 ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end - 1]);
    i = end;
  }
  return text;
}

std::string describe(const Schedule& schedule, std::span<const Range> ranges) {
  if (ranges.empty()) return "nothing";
  std::string text;
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Buffer buffer = ranges[i].buffer();
    for_each_place(ranges[i], schedule.places(buffer), [&](Place place) { numbers.push_back(place); });
    if (i + 1 < ranges.size() && ranges[i + 1].buffer() == buffer) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ", name(buffer), list(numbers));
    numbers.clear();
  }
  return text;
}

std::string describe(const Schedule& schedule, StepId id) {
  const Step& step = schedule[id];
  const std::string where = fmt::format("rank {}, step {} (round {}, ", schedule.rank(), id, step.round);
  if (step.is_shm_signal())
    return fmt::format("{}{} {} rank {} about {})", where, name(step),
                       step.kind == StepKind::send ? "to" : "from", step.peer,
                       describe(schedule, schedule.ranges(id)));
  switch (step.kind) {
    case StepKind::send:
      return fmt::format("{}send message {} to rank {} from {})", where, step.match, step.peer,
                         describe(schedule, schedule.ranges(id)));
    case StepKind::recv:
      return fmt::format("{}recv message {} from rank {} into {})", where, step.match, step.peer,
                         describe(schedule, schedule.ranges(id)));
    case StepKind::copy:
      return fmt::format("{}copy {} to {})", where, describe(schedule, schedule.from(id)),
                         describe(schedule, schedule.to(id)));
    case StepKind::combine:
      return fmt::format("{}combine {} with {})", where, describe(schedule, schedule.from(id)),
                         describe(schedule, schedule.to(id)));
    case StepKind::join:
      return where + "join)";
  }
  return where + "?)";
}

std::uint64_t places(std::span<const Range> ranges) {
  std::uint64_t total = 0;
  for (const Range& range : ranges) total += range.count();
  return total;
}

}  // namespace convene::schedule
