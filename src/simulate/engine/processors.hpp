// SPDX-License-Identifier: BSD-3-Clause
// The ranks' processors: what each is at, and the messages that it has yet to look at. For player.cpp only.
//
// A processor looks at messages in the order in which they land, whenever it has nothing else to do. To find out when it comes
// to one it needs no event at the moment of landing where that is known before and
// - the processor will be busy then: the message waits in the line `landing` (await);
// - it will be idle: it is set aside for the message, and has an event only for when it is done with it (expect).
// Should other work come before a message for which it has been set aside, that one waits behind the work if it lasts until
// then; else it is announced: it gets an event for its landing. So are messages in the line `landing` if the processor turns
// out to be idle before. (A message that is expected goes before work that becomes ready in the very moment of its landing.)
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "simulate/engine/simulator_state.hpp"
#include "simulate/kernel/event_queue.hpp"
#include "simulate/kernel/pool.hpp"

namespace convene::simulate::engine {

class Processors {
 public:
  /// `of_rank`: by rank, its processor.
  Processors(const std::vector<std::uint32_t>& of_rank, Pool<Task>& tasks, EventQueue& events)
      : of_rank_(of_rank),
        is_own_(are_own(of_rank)),
        core_(*std::max_element(of_rank.begin(), of_rank.end()) + 1),
        tasks_(tasks),
        events_(events) {}

  std::uint32_t of(Rank rank) const { return is_own_ ? rank : of_rank_[rank]; }
  Core& operator[](std::uint32_t number) { return core_[number]; }
  const Core& operator[](std::uint32_t number) const { return core_[number]; }
  void fetch(std::uint32_t number) const { fetch_soon(core_.data() + number); }

  /// It is at a rank's step until then: a message, or `Core::job`.
  void engage(std::uint32_t number, double until, std::uint32_t at, Rank rank, StepId step) {
    Core& core = core_[number];
    core.at = at;
    core.rank = rank;
    core.step = step;
    events_.push(until, computed | number, core.stamp);
  }

  /// A message will land at `moment`, and its receive is ready: whether its event can be spared since the processor will
  /// be busy.
  bool await(Task& task, std::uint32_t id) {
    Core& core = core_[of(task.to)];
    if (!core.is_busy() || core.begins > task.moment || core.free + core.backlog < task.moment) return false;
    if (!core.landing.empty() && tasks_[core.landing.last].moment > task.moment) return false;
    task.state = Task::awaited;
    core.backlog += task.work;
    tasks_.append(core.landing, id);
    return true;
  }

  /// The same, since it will be idle.
  bool expect(Task& task, std::uint32_t id) {
    const std::uint32_t number = of(task.to);
    Core& core = core_[number];
    if (core.is_busy() || core.has_landed()) return false;
    task.state = Task::expected;
    core.free = on_grid(task.moment + task.work);
    core.begins = task.moment;
    engage(number, core.free, id, task.to, task.recv);
    return true;
  }

  /// The message gets an event for its landing.
  void announce(std::uint32_t id) {
    Task& task = tasks_[id];
    task.state = Task::announced;
    events_.push(task.moment, landed | id);
  }

  /// It has been set aside for a message, but is free now; returns that.
  std::uint32_t set_free(Core& core, double now) {
    const std::uint32_t id = std::exchange(core.at, Core::idle);
    ++core.stamp;
    core.free = core.begins = now;
    return id;
  }

  /// That message again, once it is known what came before it.
  void put_back(Core& core, std::uint32_t id) {
    Task& task = tasks_[id];
    task.state = Task::awaited;
    core.backlog += task.work;
    tasks_.put_first(core.landing, id);
    if (core.free < task.moment) announce_all(core);
  }

  /// A foreseen message may land later than was known. Returns the number by which it goes on: its event, and its place in
  /// a line, cannot be found and keep the old one.
  std::uint32_t call_off(std::uint32_t id, double now) {
    const Task task = tasks_[id];
    Core& core = core_[of(task.to)];
    if (task.state == Task::expected) {
      set_free(core, now);
      announce_all(core);
      return id;
    }
    if (task.state == Task::awaited) core.backlog -= task.work;
    tasks_[id].state = Task::gone;
    return tasks_.add(task);
  }

  /// A message has landed while the processor has other things to do.
  void line_up(Core& core, std::uint32_t id) {
    Task& task = tasks_[id];
    task.state = Task::arrived;
    core.backlog += task.work;
    tasks_.append(core.landed, id);
  }

  /// The processor is idle: messages that are gone leave its line, and those that land later are announced, since it will not be
  /// busy then. Whether there are others, which it is to look at.
  bool sort_out_landed(Core& core, double now) {
    while (!core.landing.empty() && tasks_[core.landing.first].state == Task::gone)
      tasks_.remove(tasks_.take_first(core.landing));
    if (!core.landing.empty() && tasks_[core.landing.first].moment > now) announce_all(core);
    return core.has_landed();
  }

  /// The first of them.
  std::uint32_t take_landed(Core& core) {
    const bool from_landing =
        core.landed.empty() ||
        (!core.landing.empty() && tasks_[core.landing.first].moment < tasks_[core.landed.first].moment);
    const std::uint32_t id = tasks_.take_first(from_landing ? core.landing : core.landed);
    core.backlog -= tasks_[id].work;
    return id;
  }

 private:
  static bool are_own(const std::vector<std::uint32_t>& of_rank) {
    for (Rank rank = 0; rank < of_rank.size(); ++rank)
      if (of_rank[rank] != rank) return false;
    return true;
  }

  void announce_all(Core& core) {
    while (!core.landing.empty()) {
      const std::uint32_t id = tasks_.take_first(core.landing);
      if (tasks_[id].state == Task::gone) {
        tasks_.remove(id);
        continue;
      }
      core.backlog -= tasks_[id].work;
      announce(id);
    }
  }

  const std::vector<std::uint32_t>& of_rank_;
  const bool is_own_;  // whether rank r's is number r, as often: no need to look it up
  LargeVector<Core> core_;
  Pool<Task>& tasks_;
  EventQueue& events_;
};

}  // namespace convene::simulate::engine
