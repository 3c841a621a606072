// SPDX-License-Identifier: BSD-3-Clause
// Steps of a simulation run: dependencies, in-order ranks, and the work of processors. Internal to the
// engine.
#pragma once

#include <algorithm>
#include <utility>

#include "simulate/engine/simulation_run.hpp"

namespace convene::simulate::engine {

/// The rank starts.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::start(Rank rank) {
  if (ordered_ranks_.has_order(rank)) return advance(rank);
  const std::uint64_t first = workload_.first(rank);
  const std::span<const std::uint32_t> predecessors = workload_.predecessors(rank);
  for (StepId step = 0; step < predecessors.size(); ++step)
    if (predecessors[step] == 0) begin(rank, step, first);
}

/// The rank's input is available: starts the steps that wait for nothing else.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::on_input_available(Rank rank) {
  deferred_[rank].has_input = true;
  const std::uint64_t first = workload_.first(rank);
  for (const StepId step : std::exchange(deferred_[rank].steps, {})) begin(rank, step, first);
}

/// A step is ready.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::begin(Rank rank, StepId step, std::uint64_t first) {
  const SimStep& sim_step = workload_.sim_step(rank, step);
  if (sim_step.own_input && waits_for_input(rank)) return deferred_[rank].steps.push_back(step);
  history_.ready(first + step, now_);
  if (sim_step.omitted) return finish(rank, step, sim_step);
  switch (sim_step.kind) {
    case StepKind::send:
      return work(rank, step, sim_step,
                  platform_.cpu.send + (sim_step.scattered ? sim_step.bytes * platform_.cpu.copy : 0));
    case StepKind::recv:
      return begin_recv(first + step);
    case StepKind::copy:
      return work(rank, step, sim_step, sim_step.bytes * platform_.cpu.copy);
    case StepKind::combine:
      return work(rank, step, sim_step, sim_step.bytes * platform_.cpu.combine);
    case StepKind::join:
      return finish(rank, step, sim_step);
  }
}

template <class ContentionModel>
inline void SimulationRun<ContentionModel>::finish(Rank rank, StepId step, const SimStep& sim_step) {
  const std::uint64_t first = workload_.first(rank);
  if (looks_ahead_) look_ahead().along(sim_step, first + step);
  --left_;
  history_.finished(first + step, now_);
  ranks_[rank].exit = now_;
  done_.emplace_back(first, &sim_step, rank, step);
}

/// Orders contain no joins: those of in-order ranks need not finish.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::omit_joins_of_ordered_ranks() {
  for (Rank rank = 0; rank < workload_.procs(); ++rank)
    for (StepId step = 0; ordered_ranks_.has_order(rank) && step < workload_.schedule(rank).size(); ++step)
      if (workload_.sim_step(rank, step).kind == StepKind::join) --left_;
}

template <class ContentionModel>
inline void SimulationRun<ContentionModel>::advance(Rank rank) {
  ordered_ranks_.advance(
      rank, [&](StepId step) { return issue(rank, step); }, [&](StepId step) { return is_over(rank, step); });
}

/// Starts a step of an in-order rank. Returns true if the rank's processor is busy with it: on_worked()
/// resumes the rank.
template <class ContentionModel>
inline bool SimulationRun<ContentionModel>::issue(Rank rank, StepId step) {
  const std::uint64_t first = workload_.first(rank);
  if (const StepId last = ordered_ranks_.begun(rank); last != InOrderRanks::nothing)
    history_.released(first + step, last);
  begin(rank, step, first);
  const SimStep& sim_step = workload_.sim_step(rank, step);
  return !sim_step.omitted && sim_step.kind != StepKind::recv;
}

/// An in-order rank need not wait for the step. (Empty messages are not issued before they are waited for.)
template <class ContentionModel>
inline bool SimulationRun<ContentionModel>::is_over(Rank rank, StepId step) {
  const StepState& state = state_[workload_.first(rank) + step];
  const SimStep& sim_step = workload_.sim_step(rank, step);
  if (state.open_predecessors == 0 || sim_step.omitted) return true;
  if (sim_step.kind == StepKind::recv && state.receive != posted) issue(rank, step);
  return false;
}

/// A step of an in-order rank, or its processor's part in it, is done.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::update_ordered_rank(const FinishedStep& done) {
  if (done.sim_step) {
    state_[done.first + done.step].open_predecessors = 0;
    if (!ordered_ranks_.finished(done.rank, done.step)) return;
  }
  advance(done.rank);
}

/// Starts the steps whose last predecessor is finished; some of them may finish at once. (A list instead of a
/// recursion: a chain of steps that finish at one time may be long.)
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::release_successors() {
  for (std::size_t i = 0; i < done_.size(); ++i) {
    const FinishedStep done = done_[i];
    if (ordered_ranks_.has_order(done.rank)) {
      update_ordered_rank(done);
      continue;
    }
    for (const StepId next : workload_.successors(*done.sim_step)) {
      if (--state_[done.first + next].open_predecessors > 0) continue;
      history_.released(done.first + next, done.step);
      begin(done.rank, next, done.first);
    }
  }
  done_.clear();
}

/// Queues a send, a copy or a combine at the rank's processor.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::work(Rank rank, StepId step, const SimStep& sim_step,
                                                 double seconds) {
  const std::uint32_t processor = processors_.of(rank);
  Core& core = processors_[processor];
  std::uint32_t displaced = none;
  if (core.is_reserved(now_)) {
    if (seconds == 0) return on_worked(rank, step, sim_step);  // reservations exclude noise
    displaced = processors_.cancel_reservation(core, now_);
  }
  const double done = occupy(rank, seconds);
  if (done > now_) {
    if (core.is_busy())
      jobs_.push_back(core.jobs, jobs_.add({.done = done, .rank = rank, .step = step}));
    else
      processors_.start(processor, done, Core::job, rank, step);
  }
  if (displaced != none) processors_.requeue(core, displaced);
  if (done == now_) on_worked(rank, step, sim_step);
}

/// The processor has done its part of a send, a copy or a combine.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::on_worked(Rank rank, StepId step, const SimStep& sim_step) {
  if (sim_step.kind == StepKind::send)
    send(rank, step, sim_step);
  else
    finish(rank, step, sim_step);
  if (ordered_ranks_.has_order(rank)) done_.emplace_back(workload_.first(rank), nullptr, rank, step);
}

/// A processor has finished a job and starts the next.
template <class ContentionModel>
inline void SimulationRun<ContentionModel>::on_work_done(std::uint32_t id) {
  Core& core = processors_[id];
  const std::uint32_t what = std::exchange(core.at, Core::idle);
  const Rank rank = core.rank;
  const StepId step = core.step;
  if (!core.jobs.empty()) {
    const std::uint32_t next = jobs_.pop_front(core.jobs);
    const Job& job = jobs_[next];
    processors_.start(id, job.done, Core::job, job.rank, job.step);
    jobs_.remove(next);
  } else if (processors_.update_delivered(core, now_)) {
    idle_ = id;
  }
  const SimStep& sim_step = workload_.sim_step(rank, step);
  if (what == Core::job) return on_worked(rank, step, sim_step);
  if (may_reserve_) ranks_[rank].computing += messages_[what].work;
  messages_.remove(what);
  finish(rank, step, sim_step);
}

/// Appends a job to the work of the rank's processor, with the noise that delays it. Returns when it will be
/// done.
template <class ContentionModel>
inline double SimulationRun<ContentionModel>::occupy(Rank rank, double seconds, bool counts) {
  seconds += noise_.draw(rank);
  double& free = processors_[processors_.of(rank)].free;
  if (slices_.are_on()) {
    free = on_grid(slices_.end(rank, std::max(free, now_), seconds));
  } else {
    if (seconds == 0 && free <= now_) return now_;
    free = on_grid(std::max(free, now_) + seconds);
  }
  if (counts && !waits_for_input(rank)) ranks_[rank].computing += seconds;
  return free;
}

}  // namespace convene::simulate::engine
