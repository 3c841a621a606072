// SPDX-License-Identifier: BSD-3-Clause
// For tests: mutants of schedules, and a slow and simple reference for the hazard check. Not part of the
// library.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "schedule/core/schedule.hpp"

namespace convene::schedule {

/// An editable schedule. Positions in `steps` are step ids.
class Mutation {
 public:
  struct MutableStep {
    Step step;
    std::vector<Range> ranges;
    std::vector<std::size_t> after;  ///< its predecessors
  };
  std::vector<MutableStep> steps;

  explicit Mutation(const Schedule& schedule) : original_(schedule) {
    const auto predecessors = schedule.predecessors();
    for (StepId id = 0; id < schedule.size(); ++id) {
      const auto ranges = schedule.ranges(id);
      steps.push_back(
          {schedule[id], {ranges.begin(), ranges.end()}, {predecessors[id].begin(), predecessors[id].end()}});
    }
  }

  /// The edited schedule, with consistent counts and indices.
  Schedule schedule() const {
    Schedule result = original_;
    result.steps_.clear();
    result.ranges_.clear();
    result.edges_.clear();
    for (std::size_t id = 0; id < steps.size(); ++id) {
      Step step = steps[id].step;
      step.ranges = static_cast<std::uint32_t>(result.ranges_.size());
      step.edges = static_cast<std::uint32_t>(result.edges_.size());
      step.predecessors = static_cast<std::uint32_t>(steps[id].after.size());
      step.touches = 0;
      for (const Range& range : steps[id].ranges) {
        step.touches |= static_cast<std::uint8_t>(1u << std::min(7u, index(range.buffer())));
        result.ranges_.push_back(range);
      }
      for (std::size_t next = 0; next < steps.size(); ++next)
        if (std::count(steps[next].after.begin(), steps[next].after.end(), id) > 0)
          result.edges_.push_back(static_cast<StepId>(next));
      result.steps_.push_back(step);
    }
    Step& end = result.steps_.emplace_back();
    end.ranges = static_cast<std::uint32_t>(result.ranges_.size());
    end.edges = static_cast<std::uint32_t>(result.edges_.size());
    return result;
  }

  std::uint32_t places(Buffer buffer) const { return original_.places(buffer); }

  void drop(std::size_t id) {
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(id));
    for (MutableStep& entry : steps) {
      std::erase(entry.after, id);
      for (std::size_t& before : entry.after) before -= before > id;
    }
  }

  void drop_dependency(std::size_t from, std::size_t to) { std::erase(steps[to].after, from); }

  void reverse_dependency(std::size_t from, std::size_t to) {
    drop_dependency(from, to);
    steps[from].after.push_back(to);
  }

  /// Renumbers the steps so that ids grow along dependencies; false if the dependencies form a cycle.
  bool sort() {
    std::vector<MutableStep> sorted;
    std::vector<std::size_t> new_id(steps.size(), steps.size());
    while (sorted.size() < steps.size()) {
      std::size_t next = 0;
      const auto can_be_next = [&](std::size_t id) {
        return new_id[id] == steps.size() &&
               std::all_of(steps[id].after.begin(), steps[id].after.end(),
                           [&](std::size_t b) { return new_id[b] < steps.size(); });
      };
      while (next < steps.size() && !can_be_next(next)) ++next;
      if (next == steps.size()) return false;
      new_id[next] = sorted.size();
      sorted.push_back(steps[next]);
      for (std::size_t& before : sorted.back().after) before = new_id[before];
    }
    steps = std::move(sorted);
    return true;
  }

 private:
  Schedule original_;
};

/// An access of a step to a slot.
struct Access {
  StepId step;
  bool writes;
  friend auto operator<=>(const Access&, const Access&) = default;
};

/// All accesses, by buffer and place. Computes places from the definition of a range.
inline std::vector<std::vector<Access>> all_accesses(const Schedule& schedule) {
  std::vector<std::vector<Access>> result;
  std::vector<std::size_t> base;
  for (unsigned b = 0; b < max_buffers; ++b) {
    base.push_back(result.size());
    result.resize(result.size() + schedule.places(static_cast<Buffer>(b)));
  }
  for (StepId id = 0; id < schedule.size(); ++id) {
    const auto ranges = schedule.ranges(id);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const bool writes = schedule[id].kind == StepKind::recv || schedule[id].is_shm_signal() ||
                          ((schedule[id].kind == StepKind::copy || schedule[id].kind == StepKind::combine) &&
                           r >= schedule[id].from_ranges);
      for (std::uint64_t i = 0; i < ranges[r].count(); ++i)
        result[base[index(ranges[r].buffer())] +
               (ranges[r].first + i * ranges[r].stride) % schedule.places(ranges[r].buffer())]
            .push_back({id, writes});
    }
  }
  return result;
}

/// All pairs of steps that must be ordered, the lower id first.
inline std::set<std::pair<StepId, StepId>> all_hazards(const Schedule& schedule) {
  std::set<std::pair<StepId, StepId>> result;
  for (const auto& accesses : all_accesses(schedule))
    for (const Access& a : accesses)
      for (const Access& b : accesses)
        if (a.step < b.step && (a.writes || b.writes)) result.emplace(a.step, b.step);
  for (StepId a = 0; a < schedule.size(); ++a)
    for (StepId b = a + 1; b < schedule.size() && schedule[a].is_message(); ++b)
      if (schedule[b].kind == schedule[a].kind && schedule[b].peer == schedule[a].peer &&
          (schedule[b].match == schedule[a].match + match_window ||
           (schedule[a].kind == StepKind::send && schedule[a].is_shm_signal() &&
            schedule[b].is_shm_signal())))
        result.emplace(a, b);
  return result;
}

/// By step: the set of all its direct and indirect predecessors.
inline std::vector<std::vector<bool>> closure(const Schedule& schedule) {
  std::vector<std::vector<bool>> before(schedule.size(), std::vector<bool>(schedule.size(), false));
  for (StepId id = 0; id < schedule.size(); ++id)
    for (StepId next : schedule.successors(id)) {
      before[next][id] = true;
      for (StepId earlier = 0; earlier < id; ++earlier)
        if (before[id][earlier]) before[next][earlier] = true;
    }
  return before;
}

/// The reference: true if every pair that must be ordered is.
inline bool orders_everything(const Schedule& schedule) {
  const auto before = closure(schedule);
  const auto hazards = all_hazards(schedule);
  return std::all_of(hazards.begin(), hazards.end(),
                     [&](const auto& pair) { return before[pair.second][pair.first]; });
}

/// The contents of a rank's messages and of its final output, if its steps run in the order of their ids.
/// Contents are named by their source.
inline std::vector<std::string> effect(const Schedule& schedule) {
  const auto slots = [&](std::span<const Range> ranges) {
    std::vector<std::pair<Buffer, Place>> result;
    for (const Range& range : ranges)
      for (std::uint64_t i = 0; i < range.count(); ++i)
        result.emplace_back(range.buffer(), static_cast<Place>((range.first + i * range.stride) %
                                                               schedule.places(range.buffer())));
    return result;
  };
  std::map<std::pair<Buffer, Place>, std::string> contents;
  const auto content = [&](const std::pair<Buffer, Place>& slot) {
    const auto [at, is_new] = contents.try_emplace(slot);
    if (is_new) at->second = std::to_string(index(slot.first)) + ":" + std::to_string(slot.second);
    return at->second;
  };
  std::vector<std::string> result;
  for (StepId id = 0; id < schedule.size(); ++id) {
    const Step& step = schedule[id];
    const auto ranges = schedule.ranges(id);
    const std::string message = std::to_string(step.peer) + "/" + std::to_string(step.match);
    if (step.kind == StepKind::send) {
      result.push_back("to " + message);
      for (const auto& slot : slots(ranges)) result.push_back(content(slot));
    } else if (step.kind == StepKind::recv) {
      std::size_t next = 0;
      for (const auto& slot : slots(ranges)) contents[slot] = message + "/" + std::to_string(next++);
    } else if (step.kind == StepKind::copy || step.kind == StepKind::combine) {
      const auto from = slots(ranges.first(step.from_ranges)), to = slots(ranges.subspan(step.from_ranges));
      std::vector<std::string> moved;
      for (const auto& slot : from) moved.push_back(content(slot));
      for (std::size_t i = 0; i < std::min(to.size(), moved.size()); ++i)
        contents[to[i]] = step.kind == StepKind::copy ? moved[i] : "(" + moved[i] + content(to[i]) + ")";
    }
  }
  for (Place place = 0; place < schedule.places(Buffer::output); ++place)
    result.push_back(content({Buffer::output, place}));
  return result;
}

/// A plan with one fault.
struct Mutant {
  std::string what;  ///< the kind of mutation
  Rank rank;
  std::size_t step;
  Plan plan;
  /// Still correct: the dropped dependency is implied by others, the wrong block is a copy of the right one,
  /// or the message is for synchronisation only and no step reads its content.
  bool equivalent = false;
};

/// Generates the mutants of one rank of a plan.
class Mutants {
 public:
  using Visit = std::function<void(const Mutant&)>;

  /// `commutes`: combines may be exchanged, so that is no mutant.
  Mutants(const Plan& plan, Rank rank, bool commutes = false)
      : plan_(plan),
        rank_(rank),
        commutes_(commutes),
        hazards_(all_hazards(plan[rank])),
        effect_(effect(plan[rank])) {}

  void each(const Visit& visit) {
    const Schedule& schedule = plan_[rank_];
    for (StepId id = 0; id < schedule.size(); ++id) {
      const Step& step = schedule[id];
      // A join is only a set of dependencies, and may be implied by others like a dependency.
      edit(visit, "step dropped", id, step.kind == StepKind::join, [&](Mutation& m) { m.drop(id); });
      if (step.is_message()) mutate_message(visit, id);
      if (step.kind == StepKind::send) drop_message(visit, id);
      if (step.kind == StepKind::combine) mutate_combine(visit, id);
      for (std::size_t r = 0; r < schedule.ranges(id).size(); ++r) mutate_range(visit, id, r);
      for (StepId next : schedule.successors(id)) mutate_dependency(visit, id, next);
    }
  }

 private:
  template <class Edit>
  void edit(const Visit& visit, const char* what, StepId id, bool may_be_equivalent, Edit&& change,
            bool has_no_effect = false) {
    Mutation mutation(plan_[rank_]);
    change(mutation);
    Mutant mutant{what, rank_, id, plan_};
    mutant.plan[rank_] = mutation.schedule();
    mutant.equivalent = may_be_equivalent && (has_no_effect || effect(mutant.plan[rank_]) == effect_) &&
                        orders_everything(mutant.plan[rank_]);
    visit(mutant);
  }

  using PlaceOf = std::pair<Buffer, Place>;
  static std::set<PlaceOf> places_of(const Schedule& schedule, std::span<const Range> ranges) {
    std::set<PlaceOf> result;
    for (const Range& range : ranges)
      for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
        result.insert({range.buffer(), place});
      });
    return result;
  }

  /// True if these places are scratch that no step of the rank reads, except for messages that are not read,
  /// either.
  static bool are_unread(const Plan& plan, Rank rank, const std::set<PlaceOf>& places) {
    const Schedule& schedule = plan[rank];
    for (const auto& [buffer, place] : places)
      if (index(buffer) < index(Buffer::scratch)) return false;
    for (StepId id = 0; id < schedule.size(); ++id) {
      const StepKind kind = schedule[id].kind;
      if (kind == StepKind::recv || kind == StepKind::join) continue;
      // A combine reads its target, too.
      const bool reads_all = kind == StepKind::send || kind == StepKind::combine;
      const auto read = places_of(schedule, reads_all ? schedule.ranges(id) : schedule.from(id));
      const bool reads =
          std::any_of(read.begin(), read.end(), [&](const PlaceOf& at) { return places.contains(at); });
      if (reads && (kind != StepKind::send || !is_unread(plan, rank, id))) return false;
    }
    return true;
  }

  static bool is_unread(const Plan& plan, Rank rank, StepId id) {
    const Step& step = plan[rank][id];
    if (step.is_shm_signal()) return false;
    if (step.kind == StepKind::copy) return are_unread(plan, rank, places_of(plan[rank], plan[rank].to(id)));
    const Schedule& other = plan[step.peer];
    for (StepId end = 0; end < other.size(); ++end)
      if (other[end].kind == StepKind::recv && other[end].peer == rank && other[end].match == step.match)
        return are_unread(plan, step.peer, places_of(other, other.ranges(end)));
    return false;
  }
  bool is_unread(StepId id) const { return is_unread(plan_, rank_, id); }

  void mutate_message(const Visit& visit, StepId id) {
    const Rank peer = plan_[rank_][id].peer;
    Rank other = (peer + 1) % plan_[rank_].procs();
    if (other == rank_) other = (other + 1) % plan_[rank_].procs();
    if (other != peer)
      edit(visit, "wrong peer", id, false, [&](Mutation& m) { m.steps[id].step.peer = other; });
    edit(visit, "peer is itself", id, false, [&](Mutation& m) { m.steps[id].step.peer = rank_; });
    edit(visit, "wrong number", id, false, [&](Mutation& m) { ++m.steps[id].step.match; });
  }

  void mutate_combine(const Visit& visit, StepId id) {
    edit(visit, "combine is a copy", id, false, [&](Mutation& m) { m.steps[id].step.kind = StepKind::copy; });
    edit(visit, "operands exchanged", id, false, [&](Mutation& m) {
      Mutation::MutableStep& entry = m.steps[id];
      const std::uint8_t left = entry.step.from_ranges;
      std::rotate(entry.ranges.begin(), entry.ranges.begin() + left, entry.ranges.end());
      entry.step.from_ranges = static_cast<std::uint8_t>(entry.ranges.size() - left);
    });
  }

  /// Drops both ends of a message and renumbers the later ones: no message is left over.
  void drop_message(const Visit& visit, StepId id) {
    const Step sent = plan_[rank_][id];
    Mutant mutant{"message dropped", rank_, id, plan_};
    mutant.equivalent = is_unread(id);
    const auto drop = [&](Rank rank, StepKind kind, Rank peer) {
      Mutation mutation(mutant.plan[rank]);
      for (std::size_t i = mutation.steps.size(); i-- > 0;) {
        Step& step = mutation.steps[i].step;
        if (step.kind != kind || step.peer != peer || step.match < sent.match) continue;
        if (step.match-- == sent.match) mutation.drop(i);
      }
      mutant.plan[rank] = mutation.schedule();
    };
    drop(rank_, StepKind::send, sent.peer);
    drop(sent.peer, StepKind::recv, rank_);
    visit(mutant);
  }

  void mutate_range(const Visit& visit, StepId id, std::size_t r) {
    const Range range = plan_[rank_].ranges(id)[r];
    const std::uint32_t places = plan_[rank_].places(range.buffer());
    const auto replace = [&](const char* what, const Range& by) {
      edit(visit, what, id, false, [&](Mutation& m) { m.steps[id].ranges[r] = by; });
    };
    if (places > 1 && range.count() < places) {  // all places from another start are the same set
      const Step& step = plan_[rank_][id];
      const Range by(range.buffer(), (range.first + 1) % places, range.count(), range.stride);
      const bool is_unread_source =
          (step.kind == StepKind::send || (step.kind == StepKind::copy && r < step.from_ranges)) &&
          is_unread(id);
      edit(
          visit, "wrong block", id, step.kind == StepKind::send || is_unread_source,
          [&](Mutation& m) { m.steps[id].ranges[r] = by; }, is_unread_source);
    }
    replace("one block more", Range(range.buffer(), range.first, range.count() + 1, range.stride));
    if (range.count() > 1)
      replace("one block less", Range(range.buffer(), range.first, range.count() - 1, range.stride));
    if (range.count() > 2 && range.stride + 1 < places)
      replace("wrong stride", Range(range.buffer(), range.first, range.count(), range.stride + 1));
  }

  void mutate_dependency(const Visit& visit, StepId from, StepId to) {
    edit(visit, "dependency dropped", to, true, [&](Mutation& m) { m.drop_dependency(from, to); });
    edit(visit, "dependency reversed", to, false, [&](Mutation& m) { m.reverse_dependency(from, to); });
    // The same mutant as a well-formed schedule: the fault is the order of accesses, not the order of ids.
    Mutation sorted(plan_[rank_]);
    sorted.reverse_dependency(from, to);
    const bool both_combine =
        plan_[rank_][from].kind == StepKind::combine && plan_[rank_][to].kind == StepKind::combine;
    if ((both_combine && commutes_) || only_delays_signal(from, to) || !hazards_.contains({from, to}) ||
        !sorted.sort())
      return;
    edit(visit, "dependency reversed and renumbered", to, false, [&](Mutation& m) { m = sorted; });
  }

  /// True if the first step signals data that the second one reads, too: in the other order, the signal is
  /// given later, which may change nothing.
  bool only_delays_signal(StepId from, StepId to) const {
    const Schedule& steps = plan_[rank_];
    const auto is_shared = [](const Range& range) { return range.buffer() == Buffer::shared; };
    return steps[from].kind == StepKind::send && steps[from].is_shm_signal() &&
           (steps[to].kind == StepKind::copy || steps[to].kind == StepKind::combine) &&
           std::ranges::none_of(steps.to(to), is_shared);
  }

  const Plan& plan_;
  const Rank rank_;
  const bool commutes_;
  const std::set<std::pair<StepId, StepId>> hazards_;
  const std::vector<std::string> effect_;
};

}  // namespace convene::schedule
