// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "schedule/core/describe.hpp"
#include "schedule/core/schedule_statistics.hpp"
#include "schedule/print/print.hpp"

namespace convene::schedule {
namespace {

// A plan of a thousand ranks has millions of steps: they are formatted directly, without a tree of JSON
// values. Only strings from outside go through the JSON library.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

/// A parameter's value: whole numbers as numbers, words as strings.
std::string parameter_value(const std::string& text) {
  const bool is_number =
      !text.empty() && text.size() < 16 && text.find_first_not_of("0123456789") == std::string::npos;
  return is_number && (text.size() == 1 || text[0] != '0') ? text : quoted(text);
}

class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan), as_ranges_(plan.size() > most_procs_in_slots) {}

  std::string write(const PlanInfo& info) {
    const Statistics counts = statistics(plan_);
    put("{{\"collective\": {}, \"algorithm\": {}, \"procs\": {}, \"root\": {}, \"parameters\": {{",
        quoted(info.collective), quoted(info.algorithm), info.procs, info.root);
    const char* separator = "";
    for (const auto& [name, value] : info.parameters)
      put("{}{}: {}", std::exchange(separator, ", "), quoted(name), parameter_value(value));
    out_ += "}, ";
    if (!info.arrivals.empty()) put("\"arrivals\": [{}], ", fmt::join(info.arrivals, ", "));
    if (info.segments > 1) put("\"segments\": {}, ", info.segments);
    if (info.in_place) out_ += "\"in_place\": true, ";
    if (!info.graph.empty()) put("\"graph\": {}, ", quoted(info.graph));
    put("\"rounds\": {}, \"messages\": {}, \"blocks\": {}, \"ranks\": [", counts.rounds, counts.messages,
        counts.blocks);
    separator = "\n";
    for (const Schedule& schedule : plan_) {
      out_ += std::exchange(separator, ",\n");
      write(schedule);
    }
    out_ += "\n]}\n";
    return std::move(out_);
  }

 private:
  template <class... Values>
  void put(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }

  void write(const Schedule& schedule) {
    put(" {{\"rank\": {}, ", schedule.rank());
    const bool has_scratch = schedule.buffers() > index(Buffer::scratch);
    if (as_ranges_ || has_scratch || schedule.places(Buffer::shared) > 0) write_places(schedule);
    if (schedule.places(Buffer::shared) > 0) put("\"first_sharer\": {}, ", schedule.first_sharer());
    if (has_scratch) write_sized_like(schedule);
    out_ += "\"steps\": [";
    const auto predecessors = schedule.predecessors();
    const char* separator = "\n";
    for (StepId id = 0; id < schedule.size(); ++id) {
      out_ += std::exchange(separator, ",\n");
      write(schedule, id, predecessors[id]);
    }
    out_ += "]}";
  }

  void write_places(const Schedule& schedule) {
    out_ += "\"places\": {";
    const char* separator = "";
    for (unsigned b = 0; b < schedule.buffers(); ++b)
      if (const auto buffer = static_cast<Buffer>(b); schedule.places(buffer) > 0)
        put("{}\"{}\": {}", std::exchange(separator, ", "), name(buffer), schedule.places(buffer));
    out_ += "}, ";
  }

  void write_sized_like(const Schedule& schedule) {
    out_ += "\"sized_like\": {";
    const char* separator = "";
    for (unsigned b = index(Buffer::scratch); b < schedule.buffers(); ++b)
      if (const auto buffer = static_cast<Buffer>(b); schedule.places(buffer) > 0)
        put("{}\"{}\": [{}]", std::exchange(separator, ", "), name(buffer),
            fmt::join(schedule.sized_like(buffer), ", "));
    out_ += "}, ";
  }

  void write(const Schedule& schedule, StepId id, std::span<const StepId> after) {
    const Step& step = schedule[id];
    put("  {{\"id\": {}, \"kind\": \"{}\", ", id, name(step));
    if (step.is_message()) put("\"peer\": {}, \"match\": {}, ", step.peer, step.match);
    put("\"round\": {}, ", step.round);
    if (step.is_message()) write("slots", schedule, schedule.ranges(id));
    if (step.kind == StepKind::copy || step.kind == StepKind::combine) {
      write("from", schedule, schedule.from(id));
      write("to", schedule, schedule.to(id));
    }
    put("\"after\": [{}]}}", fmt::join(after, ", "));
  }

  void write(const char* key, const Schedule& schedule, std::span<const Range> ranges) {
    put("\"{}\": [", key);
    const char* separator = "";
    for (const Range& range : ranges) {
      const std::string buffer = name(range.buffer());
      if (as_ranges_) {
        put("{}[\"{}\", {}, {}, {}]", std::exchange(separator, ", "), buffer, range.first, range.stride,
            range.count());
        continue;
      }
      for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
        put("{}[\"{}\", {}]", std::exchange(separator, ", "), buffer, place);
      });
    }
    out_ += "], ";
  }

  const Plan& plan_;
  const bool as_ranges_;
  std::string out_;
};

}  // namespace

std::string to_json(const Plan& plan, const PlanInfo& info) { return Writer(plan).write(info); }

}  // namespace convene::schedule
