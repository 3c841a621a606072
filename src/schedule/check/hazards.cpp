// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/hazards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

constexpr std::uint32_t none = 0xffffffffu;

/// Ids grow along every dependency, so of two connected steps the one with the lower id comes first. Then it is enough
/// to ask, step by step, whether each access is connected with the write before it, and each write with the reads
/// since the write before: the other pairs follow, because being connected is transitive.
class Hazards {
 public:
  explicit Hazards(const Schedule& schedule) : schedule_(schedule) { lay_out(); }

  std::string find() {
    for (StepId id = 0; id < schedule_.size() && fault_.empty(); ++id) {
      asked_.clear();
      access(id);
      if (windowed_) require_window(id);
      require_signals_in_order(id);
      require_connected(id);
    }
    return std::move(fault_);
  }

 private:
  struct Question {
    StepId before;
    Buffer buffer;
    Place place;
  };
  struct Reader {
    StepId step;
    std::uint32_t next;
  };

  void lay_out() {
    std::uint32_t total = 0;
    for (unsigned b = 0; b < max_buffers; ++b) {
      base_[b] = total;
      total += schedule_.places(static_cast<Buffer>(b));
    }
    writer_.assign(total, none);
    readers_.assign(total, none);
    asked_by_.assign(schedule_.size(), none);
    reached_by_.assign(schedule_.size(), none);
    first_before_.assign(schedule_.size() + 1, 0);
    for (StepId id = 0; id < schedule_.size(); ++id) {
      windowed_ |= schedule_[id].is_message() && schedule_[id].match >= match_window;
      for (StepId next : schedule_.successors(id)) ++first_before_[next + 1];
    }
    for (StepId id = 0; id < schedule_.size(); ++id) first_before_[id + 1] += first_before_[id];
    before_.resize(first_before_.back());
    std::vector<std::uint32_t> at(first_before_.begin(), first_before_.end() - 1);
    for (StepId id = 0; id < schedule_.size(); ++id)
      for (StepId next : schedule_.successors(id)) before_[at[next]++] = id;
  }

  std::span<const StepId> predecessors(StepId id) const {
    return {before_.data() + first_before_[id], first_before_[id + 1] - first_before_[id]};
  }

  void ask(StepId before, StepId id, Buffer buffer, Place place) {
    if (before == none || before == id || asked_by_[before] == id) return;
    asked_by_[before] = id;
    asked_.push_back({before, buffer, place});
  }

  void access(StepId id) {
    switch (schedule_[id].kind) {
      case StepKind::send:
        if (!schedule_[id].is_shm_signal()) return read(id, schedule_.ranges(id));
        return write(id, schedule_.ranges(id));  // hands them over
      case StepKind::recv:
        return write(id, schedule_.ranges(id));
      case StepKind::copy:
      case StepKind::combine:  // its right side is read and written at once, which orders what writing orders
        read(id, schedule_.from(id));
        return write(id, schedule_.to(id));
      case StepKind::join:
        return;
    }
  }

  void read(StepId id, std::span<const Range> ranges) {
    for (const Range& range : ranges)
      for_each_place(range, schedule_.places(range.buffer()), [&](Place place) {
        const std::uint32_t at = base_[index(range.buffer())] + place;
        ask(writer_[at], id, range.buffer(), place);
        readers_list_.push_back({id, readers_[at]});
        readers_[at] = static_cast<std::uint32_t>(readers_list_.size() - 1);
      });
  }

  void write(StepId id, std::span<const Range> ranges) {
    for (const Range& range : ranges)
      for_each_place(range, schedule_.places(range.buffer()), [&](Place place) {
        const std::uint32_t at = base_[index(range.buffer())] + place;
        bool twice = writer_[at] == id;
        ask(writer_[at], id, range.buffer(), place);
        for (std::uint32_t r = readers_[at]; r != none; r = readers_list_[r].next) {
          twice |= readers_list_[r].step == id;
          ask(readers_list_[r].step, id, range.buffer(), place);
        }
        if (twice && fault_.empty())
          fault_ = fmt::format("{}: touches {} place {} twice, once to write it", describe(schedule_, id),
                               name(range.buffer()), place);
        writer_[at] = id;
        readers_[at] = none;
      });
  }

  /// Messages that may carry the same tag must be complete one before the other.
  void require_window(StepId id) {
    const Step& step = schedule_[id];
    if (!step.is_message()) return;
    const auto find = [&](std::uint64_t match) {
      const auto found = message_.find(key(step, match));
      return found == message_.end() ? none : found->second;
    };
    message_[key(step, step.match)] = id;
    const StepId later = find(std::uint64_t{step.match} + match_window);
    const StepId earlier = step.match < match_window ? none : find(step.match - match_window);
    if (later != none)
      fault_ = fmt::format("{}: comes after {}, which may carry the same tag", describe(schedule_, id),
                           describe(schedule_, later));
    if (earlier != none && !is_reached(earlier, id))
      fault_ = fmt::format("{} and {}: may carry the same tag, and nothing orders them",
                           describe(schedule_, earlier), describe(schedule_, id));
  }

  /// A signal stands for all that went to the same rank before it.
  void require_signals_in_order(StepId id) {
    const Step& step = schedule_[id];
    if (!step.is_shm_signal() || step.kind != StepKind::send || !fault_.empty()) return;
    const auto [last, is_first] = last_signal_.try_emplace(step.peer, id);
    if (is_first) return;
    const StepId before = std::exchange(last->second, id);
    if (schedule_[before].match > step.match || !is_reached(before, id))
      fault_ = fmt::format("{} and {}: signals to one rank, and nothing keeps them in order",
                           describe(schedule_, before), describe(schedule_, id));
  }

  static std::uint64_t key(const Step& step, std::uint64_t match) {
    return (match << 32 | step.peer) * 2 + (step.kind == StepKind::send);
  }

  /// Answers the questions about a step: from its direct predecessors (and through a join) where that is enough, else
  /// by a search.
  void require_connected(StepId id) {
    if (asked_.empty() || !fault_.empty()) return;
    for (StepId before : predecessors(id)) {
      reached_by_[before] = id;
      if (schedule_[before].kind == StepKind::join)
        for (StepId further : predecessors(before)) reached_by_[further] = id;
    }
    for (const Question& question : asked_) {
      if (reached_by_[question.before] == id || is_reached(question.before, id)) continue;
      fault_ =
          fmt::format("{} and {}: both touch {} place {}, one of them writes it, and nothing orders them",
                      describe(schedule_, question.before), describe(schedule_, id), name(question.buffer),
                      question.place);
      return;
    }
  }

  /// Whether a path leads from one step to a later one.
  bool is_reached(StepId from, StepId to) {
    std::vector<bool> passed(to - from + 1, false);
    std::vector<StepId> todo{to};
    while (!todo.empty()) {
      const StepId at = todo.back();
      todo.pop_back();
      for (StepId before : predecessors(at)) {
        if (before == from) return true;
        if (before < from || passed[before - from]) continue;
        passed[before - from] = true;
        todo.push_back(before);
      }
    }
    return false;
  }

  const Schedule& schedule_;
  std::uint32_t base_[max_buffers] = {};
  std::vector<StepId> writer_;          // by place: the step that wrote it last
  std::vector<std::uint32_t> readers_;  // by place: head of the list of readers since
  std::vector<Reader> readers_list_;
  std::vector<StepId> before_;  // predecessors, step by step
  std::vector<std::uint32_t> first_before_;
  std::vector<StepId> asked_by_, reached_by_;  // by step: the last step that asked about it, that reaches it
  std::vector<Question> asked_;
  std::unordered_map<std::uint64_t, StepId> message_;
  std::unordered_map<Rank, StepId> last_signal_;  // by the rank that it goes to
  bool windowed_ = false;
  std::string fault_;
};

}  // namespace

std::string find_hazard(const Schedule& schedule) { return Hazards(schedule).find(); }

}  // namespace convene::schedule
