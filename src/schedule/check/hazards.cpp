// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/check/hazards.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "schedule/core/describe.hpp"

namespace convene::schedule {
namespace {

constexpr std::uint32_t none = 0xffffffffu;

/// Ids grow along every dependency, so of two ordered steps the one with the lower id is first. Order is
/// transitive, so two kinds of pairs suffice: each access and the write before it, each write and the reads
/// since the write before.
class HazardDetector {
 public:
  explicit HazardDetector(const Schedule& schedule) : schedule_(schedule), predecessors_(schedule) {
    lay_out();
  }

  std::string find() {
    for (StepId id = 0; id < schedule_.size() && fault_.empty(); ++id) {
      pairs_.clear();
      access(id);
      if (windowed_) require_window(id);
      require_signals_in_order(id);
      require_order(id);
    }
    return std::move(fault_);
  }

 private:
  /// An earlier access on which the current step must depend.
  struct Pair {
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
    paired_with_.assign(schedule_.size(), none);
    reached_by_.assign(schedule_.size(), none);
    for (const Step& step : schedule_.steps()) windowed_ |= step.is_message() && step.match >= match_window;
  }

  void add_pair(StepId before, StepId id, Buffer buffer, Place place) {
    if (before == none || before == id || paired_with_[before] == id) return;
    paired_with_[before] = id;
    pairs_.push_back({before, buffer, place});
  }

  void access(StepId id) {
    switch (schedule_[id].kind) {
      case StepKind::send:
        if (!schedule_[id].is_shm_signal()) return read(id, schedule_.ranges(id));
        return write(id, schedule_.ranges(id));  // passes them on
      case StepKind::recv:
        return write(id, schedule_.ranges(id));
      case StepKind::copy:
      case StepKind::combine:  // its target is read and written: the write covers both
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
        add_pair(writer_[at], id, range.buffer(), place);
        readers_list_.push_back({id, readers_[at]});
        readers_[at] = static_cast<std::uint32_t>(readers_list_.size() - 1);
      });
  }

  void write(StepId id, std::span<const Range> ranges) {
    for (const Range& range : ranges)
      for_each_place(range, schedule_.places(range.buffer()), [&](Place place) {
        const std::uint32_t at = base_[index(range.buffer())] + place;
        bool twice = writer_[at] == id;
        add_pair(writer_[at], id, range.buffer(), place);
        for (std::uint32_t r = readers_[at]; r != none; r = readers_list_[r].next) {
          twice |= readers_list_[r].step == id;
          add_pair(readers_list_[r].step, id, range.buffer(), place);
        }
        if (twice && fault_.empty())
          fault_ = fmt::format("{}: accesses {} place {} twice, once as a write", describe(schedule_, id),
                               name(range.buffer()), place);
        writer_[at] = id;
        readers_[at] = none;
      });
  }

  /// Of two messages with the same tag, the first must be complete before the second starts.
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
      fault_ = fmt::format("{}: follows {}, which may have the same tag", describe(schedule_, id),
                           describe(schedule_, later));
    if (earlier != none && !is_reached(earlier, id))
      fault_ = fmt::format("{} and {}: may have the same tag, but are not ordered",
                           describe(schedule_, earlier), describe(schedule_, id));
  }

  /// A signal implies all earlier ones to the same rank.
  void require_signals_in_order(StepId id) {
    const Step& step = schedule_[id];
    if (!step.is_shm_signal() || step.kind != StepKind::send || !fault_.empty()) return;
    const auto [last, is_first] = last_signal_.try_emplace(step.peer, id);
    if (is_first) return;
    const StepId before = std::exchange(last->second, id);
    if (schedule_[before].match > step.match || !is_reached(before, id))
      fault_ = fmt::format("{} and {}: signals to one rank, but not ordered", describe(schedule_, before),
                           describe(schedule_, id));
  }

  static std::uint64_t key(const Step& step, std::uint64_t match) {
    return (match << 32 | step.peer) * 2 + (step.kind == StepKind::send);
  }

  /// Requires that the step depends on all its pairs. Direct predecessors, and those of a join, need no
  /// search.
  void require_order(StepId id) {
    if (pairs_.empty() || !fault_.empty()) return;
    for (const StepId before : predecessors_[id]) {
      reached_by_[before] = id;
      if (schedule_[before].kind == StepKind::join)
        for (const StepId further : predecessors_[before]) reached_by_[further] = id;
    }
    for (const Pair& pair : pairs_) {
      if (reached_by_[pair.before] == id || is_reached(pair.before, id)) continue;
      fault_ = fmt::format("{} and {}: both access {} place {}, one as a write, but are not ordered",
                           describe(schedule_, pair.before), describe(schedule_, id), name(pair.buffer),
                           pair.place);
      return;
    }
  }

  /// True if a path leads from one step to a later one.
  bool is_reached(StepId from, StepId to) {
    std::vector<bool> visited(to - from + 1, false);
    std::vector<StepId> todo{to};
    while (!todo.empty()) {
      const StepId at = todo.back();
      todo.pop_back();
      for (StepId before : predecessors_[at]) {
        if (before == from) return true;
        if (before < from || visited[before - from]) continue;
        visited[before - from] = true;
        todo.push_back(before);
      }
    }
    return false;
  }

  const Schedule& schedule_;
  const Predecessors predecessors_;
  std::uint32_t base_[max_buffers] = {};
  std::vector<StepId> writer_;          // by place: the step that wrote it last
  std::vector<std::uint32_t> readers_;  // by place: head of the list of readers since
  std::vector<Reader> readers_list_;
  std::vector<StepId> paired_with_,
      reached_by_;  // by step: the last step that it is a pair with, that reaches it
  std::vector<Pair> pairs_;
  std::unordered_map<std::uint64_t, StepId> message_;
  std::unordered_map<Rank, StepId> last_signal_;  // by target rank
  bool windowed_ = false;
  std::string fault_;
};

}  // namespace

std::string find_hazard(const Schedule& schedule) { return HazardDetector(schedule).find(); }

}  // namespace convene::schedule
