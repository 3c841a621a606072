// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "schedule/check/dataflow.hpp"
#include "schedule/check/matching.hpp"
#include "schedule/core/describe.hpp"
#include "schedule/core/schedule_statistics.hpp"
#include "schedule/print/print.hpp"

namespace convene::schedule {
namespace {

// Longer lists of blocks are abbreviated, to keep the table readable.
constexpr std::size_t longest_list = 32;

/// The number of columns of a text on a screen; all non-ASCII letters here are one column wide.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t columns) {
  return text + std::string(columns > width(text) ? columns - width(text) : 0, ' ');
}

std::string plural(std::uint64_t number, const char* word) {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

/// "allgather by sparbit (send=joined), 5 processes: 3 rounds, …"
std::string headline(const Plan& plan, const PlanInfo& info) {
  const Statistics counts = statistics(plan);
  std::string parameters;
  for (const auto& [name, value] : info.parameters)
    parameters += fmt::format("{}{}={}", parameters.empty() ? " (" : ", ", name, value);
  if (!parameters.empty()) parameters += ")";
  const char* unit = info.unit();
  return fmt::format(
      "{} by {}{}, {}: {}, {}, {}{}; the busiest rank sends {} in {}\n", info.collective, info.algorithm,
      parameters, info.procs == 1 ? "1 process" : fmt::format("{} processes", info.procs),
      plural(counts.rounds, "round"), plural(counts.messages, "message"), plural(counts.blocks, unit),
      counts.signals > 0 ? ", " + plural(counts.signals, "signal") : "",
      plural(counts.most_blocks_sent, unit), plural(counts.most_messages_sent, "message"));
}

class Rounds {
 public:
  Rounds(const Plan& plan, const PlanInfo& info, const Contract& contract)
      : plan_(plan), info_(info), matching_(link(plan)) {
    if (matching_.fault.empty()) dataflow_.emplace(plan_, matching_, contract);
    for (const Schedule& schedule : plan) {
      std::vector<StepId>& messages = messages_.emplace_back();
      for (StepId id = 0; id < schedule.size(); ++id)
        if (schedule[id].is_message()) messages.push_back(id);
      std::ranges::stable_sort(messages, {}, [&](StepId id) { return schedule[id].round; });
    }
  }

  std::string text(std::optional<Rank> only) {
    std::uint32_t rounds = 0;
    for (const Schedule& schedule : plan_) rounds = std::max(rounds, schedule.rounds());
    std::string text;
    for (std::uint32_t round = 0; round < rounds; ++round) text += this->round(round, only);
    if (!matching_.fault.empty()) text += "\nnot a whole plan: " + matching_.fault + "\n";
    return text;
  }

 private:
  struct Line {
    Rank rank;
    std::string sends, receives;
  };

  std::string round(std::uint32_t round, std::optional<Rank> only) {
    std::vector<Line> lines;
    std::size_t columns = width("sends");
    for (const Schedule& schedule : plan_) {
      if (only && schedule.rank() != *only) continue;
      const auto ids = std::ranges::equal_range(messages_[schedule.rank()], round, {},
                                                [&](StepId id) { return schedule[id].round; });
      Line line{schedule.rank(), messages(schedule, ids, StepKind::send),
                messages(schedule, ids, StepKind::recv)};
      if (line.sends.empty() && line.receives.empty()) continue;
      columns = std::max(columns, width(line.sends));
      lines.push_back(std::move(line));
    }
    std::string text = fmt::format("\nround {}\n  rank  {}  receives\n", round, padded("sends", columns));
    for (const Line& line : lines) {
      text += fmt::format("  {:4}  {}  {}", line.rank, padded(line.sends, columns), line.receives);
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
    return lines.empty() ? "" : text;
  }

  /// The contents and peers of a rank's messages: "0 to 4, 2 to 4".
  std::string messages(const Schedule& schedule, std::span<const StepId> ids, StepKind kind) {
    std::string text;
    for (const StepId id : ids) {
      const Step& step = schedule[id];
      if (step.kind != kind) continue;
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ",
                          step.is_shm_signal() ? "a signal" : blocks(schedule, id),
                          kind == StepKind::send ? "to" : "from", step.peer);
    }
    return text;
  }

  /// The contents of a message; its slots if the simulation did not reach it.
  std::string blocks(const Schedule& schedule, StepId id) const {
    const std::span<const Content> contents = carried(schedule, id);
    if (schedule.ranges(id).empty()) return "a notice";
    if (contents.empty()) return describe(schedule, schedule.ranges(id));
    std::string text = in_words(contents);
    if (text.size() <= longest_list) return text;
    const std::string number = plural(contents.size(), info_.unit());
    return fmt::format("{} ({},…)", number, text.substr(0, text.find_last_of(',', longest_list / 2)));
  }

  std::span<const Content> carried(const Schedule& schedule, StepId id) const {
    if (!dataflow_) return {};
    if (schedule[id].kind == StepKind::send) return dataflow_->carried(schedule.rank(), id);
    const Rank peer = schedule[id].peer;
    return dataflow_->carried(peer,
                              matching_.step(peer, matching_.partner[matching_.at(schedule.rank(), id)]));
  }

  std::string in_words(std::span<const Content> contents) const {
    if (const Expressions* sums = dataflow_->expressions()) {
      std::string text;
      for (const Content content : contents) text += (text.empty() ? "" : ",") + sums->label(content);
      return text;
    }
    const bool is_numbered =
        info_.naming == Naming::segment || (info_.segments == 1 && info_.naming != Naming::pair);
    if (is_numbered) return list(std::vector<std::uint32_t>(contents.begin(), contents.end()));
    std::string text;
    for (const Content content : contents)
      text += (text.empty() ? "" : ",") + in_words(static_cast<std::uint32_t>(content));
    return text;
  }

  /// A pair's block, or a segment of a block.
  std::string in_words(std::uint32_t content) const {
    const std::uint32_t block = content / info_.segments;
    const std::string text =
        info_.naming == Naming::pair
            ? fmt::format("{}.{}", block / info_.blocks_per_rank(), block % info_.blocks_per_rank())
            : fmt::format("{}", block);
    return info_.segments == 1 ? text : fmt::format("{}.{}", text, content % info_.segments);
  }

  const Plan& plan_;
  const PlanInfo& info_;
  const MessageMatching matching_;
  std::optional<Dataflow> dataflow_;
  std::vector<std::vector<StepId>> messages_;  // by rank, in the order of their rounds
};

std::string text_action(const Schedule& schedule, StepId id) {
  const Step& step = schedule[id];
  if (step.is_shm_signal())
    return fmt::format("{}  {} {} rank {}, message {}", name(step), describe(schedule, schedule.ranges(id)),
                       step.kind == StepKind::send ? "to" : "from", step.peer, step.match);
  switch (step.kind) {
    case StepKind::send:
      return fmt::format("send  {} to rank {}, message {}", describe(schedule, schedule.ranges(id)),
                         step.peer, step.match);
    case StepKind::recv:
      return fmt::format("recv  {} from rank {}, message {}", describe(schedule, schedule.ranges(id)),
                         step.peer, step.match);
    case StepKind::copy:
      return fmt::format("copy  {} to {}", describe(schedule, schedule.from(id)),
                         describe(schedule, schedule.to(id)));
    case StepKind::combine:
      return fmt::format("combine  {} with {}", describe(schedule, schedule.from(id)),
                         describe(schedule, schedule.to(id)));
    case StepKind::join:
      return "join";
  }
  return "?";
}

/// Every step of a rank, with its predecessors.
std::string steps(const Schedule& schedule) {
  const auto predecessors = schedule.predecessors();
  std::vector<std::string> actions;
  std::size_t columns = width("does");
  for (StepId id = 0; id < schedule.size(); ++id) {
    actions.push_back(text_action(schedule, id));
    columns = std::max(columns, width(actions.back()));
  }
  std::string text =
      fmt::format("\nrank {}\n  step  round  {}  after\n", schedule.rank(), padded("does", columns));
  for (StepId id = 0; id < schedule.size(); ++id) {
    text += fmt::format("  {:4}  {:5}  {}  {}", id, schedule[id].round, padded(actions[id], columns),
                        list(predecessors[id]));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string to_text(const Plan& plan, const PlanInfo& info, const Contract& contract,
                    const TextOptions& options) {
  std::string text = headline(plan, info);
  if (!options.steps) return text + Rounds(plan, info, contract).text(options.rank);
  for (const Schedule& schedule : plan)
    if (!options.rank || schedule.rank() == *options.rank) text += steps(schedule);
  return text;
}

}  // namespace convene::schedule
