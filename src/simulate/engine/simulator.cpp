// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/engine/simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "simulate/contention/max_min_fair.hpp"
#include "simulate/engine/history.hpp"
#include "simulate/engine/in_order_ranks.hpp"
#include "simulate/engine/look_ahead.hpp"
#include "simulate/engine/processors.hpp"
#include "simulate/engine/simulator_state.hpp"

// A message is five events in general: its sender's processor is done with it, the channels at either end have carried it, it
// lands, and its receiver's processor is done with it. (Rendezvous, ports and further channels add some.) Most messages are
// fewer, two at best:
// - Channels that it finds empty are foreseen to be done with it at a certain moment; should another message come before,
//   it is reconsidered (sharing.hpp). Otherwise channels that will be done with it in the same moment have one event.
// - Where it is known when it lands, and its receive is ready, nobody needs to look then (processors.hpp).
// What was foreseen and did not come true leaves an event that is out of date, or a message that is gone in a line.

namespace convene::simulate {
namespace {

using namespace engine;

template <class Sharers>
class Player {
 public:
  Player(const Source& source, const Platform& platform, const Seating& seating,
         std::span<const double> arrivals, const PlayOptions& options)
      : source_(source),
        platform_(platform),
        arrivals_(arrivals),
        begins_(options.begins.empty() ? arrivals : std::span<const double>(options.begins)),
        network_(platform, seating),
        contention_(network_, events_, carried),
        history_(options.critical_path ? source.steps() : 0),
        processors_(seating.cpu, tasks_, events_),
        noise_(options.noise, source.procs()),
        stop_(options.stop),
        may_foresee_(!has_ports()),
        may_expect_(options.noise.kind == NoiseKind::none && options.begins.empty()) {
    const Rank procs = source.procs();
    ranks_.resize(procs);
    for (Rank rank = 0; rank < procs; ++rank) ranks_[rank].exit = arrivals[rank];
    if (has_ports()) port_.resize(procs);
    if (!options.begins.empty()) held_.resize(procs);
    threads_.set(options.orders, procs);
    state_.reserve(source.steps());
    for (Rank rank = 0; rank < procs; ++rank)
      for (const std::uint32_t predecessors : source.predecessors(rank))
        state_.push_back({threads_.has_order(rank) ? 1 : predecessors, nothing_yet});
    left_ = source.steps();
    looks_ahead_ = left_ > most_at_hand;
    if (looks_ahead_) events_.look_ahead(LookAhead<Sharers>::events);
    leave_joins_out();
  }

  Outcome run() {
    for (Rank rank = 0; rank < source_.procs(); ++rank) {
      if (!held_.empty()) events_.push(arrivals_[rank], called | rank);
      events_.push(begins_[rank], arrive | rank);
    }
    while (true) {
      if (!contention_.is_settled() && events_.moment_is_over()) contention_.settle(now_);
      if (events_.empty()) break;
      if (++events_played_ % events_between_looks == 0 && stop_.stop_requested()) throw Interrupted();
      const Event event = events_.pop();
      if (looks_ahead_) look_ahead().at_events();
      now_ = event.seconds();
      dispatch(event);
      if (!done_.empty()) release_successors();
      if (idle_ != none) look_at_landed();
    }
    if (left_ > 0) explain_stuck();
    return finish_outcome();
  }

 private:
  /// How often it looks whether it should stop.
  static constexpr std::uint64_t events_between_looks = 4096;
  /// So many steps are in the cache anyway.
  static constexpr std::uint64_t most_at_hand = 16384;

  bool has_ports() const { return platform_.ports > 0 || platform_.gap > 0; }

  void dispatch(const Event& event) {
    const std::uint32_t number = event.what & ~kind_bits;
    switch (event.what & kind_bits) {
      case arrive:
        return start(number);
      case computed:
        if (event.stamp == processors_[number].stamp) on_computed(number);
        return;
      case answered:
        return submit(number);
      case admitted:
        return transfer(number);
      case carried:
        return contention_.fire(number, event.stamp, now_, [this](FlowId flow) { part_done(flow); });
      case passed_alone:
        return part_done(number);
      case landed:
        return on_landed(number);
      case called:
        return release_input(number);
    }
  }

  LookAhead<Sharers> look_ahead() {
    return {source_, network_, events_, contention_, processors_, tasks_, state_, ranks_, path_};
  }

  // ---- Steps

  void start(Rank rank) {
    if (threads_.has_order(rank)) return go_on(rank);
    const std::uint64_t first = source_.first(rank);
    const std::span<const std::uint32_t> predecessors = source_.predecessors(rank);
    for (StepId step = 0; step < predecessors.size(); ++step)
      if (predecessors[step] == 0) begin(rank, step, first);
  }

  /// The rank has its input now: begins what was ready but for that.
  void release_input(Rank rank) {
    held_[rank].called = true;
    const std::uint64_t first = source_.first(rank);
    for (const StepId step : std::exchange(held_[rank].steps, {})) begin(rank, step, first);
  }

  bool lacks_input(Rank rank) const { return !held_.empty() && !held_[rank].called; }

  void begin(Rank rank, StepId step, std::uint64_t first) {
    const Move& move = source_.move(rank, step);
    if (move.own_input && lacks_input(rank)) return held_[rank].steps.push_back(step);
    history_.ready(first + step, now_);
    if (move.left_out) return finish(rank, step, move);
    switch (move.kind) {
      case StepKind::send:
        return work(rank, step, move,
                    platform_.cpu.send + (move.scattered ? move.bytes * platform_.cpu.copy : 0));
      case StepKind::recv:
        return begin_recv(first + step);
      case StepKind::copy:
        return work(rank, step, move, move.bytes * platform_.cpu.copy);
      case StepKind::combine:
        return work(rank, step, move, move.bytes * platform_.cpu.combine);
      case StepKind::join:
        return finish(rank, step, move);
    }
  }

  void finish(Rank rank, StepId step, const Move& move) {
    const std::uint64_t first = source_.first(rank);
    if (looks_ahead_) look_ahead().along(move, first + step);
    --left_;
    history_.finished(first + step, now_);
    ranks_[rank].exit = now_;
    done_.emplace_back(first, &move, rank, step);
  }

  // ---- Orders

  /// Steps that only join others stand in no order.
  void leave_joins_out() {
    for (Rank rank = 0; rank < source_.procs(); ++rank)
      for (StepId step = 0; threads_.has_order(rank) && step < source_.schedule(rank).size(); ++step)
        if (source_.move(rank, step).kind == StepKind::join) --left_;
  }

  void go_on(Rank rank) {
    threads_.go_on(
        rank, [&](StepId step) { return issue(rank, step); },
        [&](StepId step) { return is_over(rank, step); });
  }

  /// Whether the rank's processor works for it: on_worked() has the rank go on.
  bool issue(Rank rank, StepId step) {
    const std::uint64_t first = source_.first(rank);
    if (const StepId last = threads_.opened(rank); last != Threads::nothing)
      history_.released(first + step, last);
    begin(rank, step, first);
    const Move& move = source_.move(rank, step);
    return !move.left_out && move.kind != StepKind::recv;
  }

  /// Whether the rank need not wait for a step. (Signals are not issued before they are waited for.)
  bool is_over(Rank rank, StepId step) {
    const StepState& state = state_[source_.first(rank) + step];
    const Move& move = source_.move(rank, step);
    if (state.missing == 0 || move.left_out) return true;
    if (move.kind == StepKind::recv && state.receive != posted) issue(rank, step);
    return false;
  }

  /// A step of a rank that has an order is finished, or its processor's part in it is (`done.move` is none).
  void tell_thread(const Finished& done) {
    if (done.move) {
      state_[done.first + done.step].missing = 0;
      if (!threads_.closed(done.rank, done.step)) return;
    }
    go_on(done.rank);
  }

  /// Begins what waited for steps that are finished; some of that may be finished at once. (A list, not a recursion:
  /// there is no limit to how many steps may follow each other in one moment.)
  void release_successors() {
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const Finished done = done_[i];
      if (threads_.has_order(done.rank)) {
        tell_thread(done);
        continue;
      }
      for (const StepId next : source_.successors(*done.move)) {
        if (--state_[done.first + next].missing > 0) continue;
        history_.released(done.first + next, done.step);
        begin(done.rank, next, done.first);
      }
    }
    done_.clear();
  }

  // ---- Processors

  /// The rank's processor begins with a send, a copy or a combination once it has done what came before.
  void work(Rank rank, StepId step, const Move& move, double seconds) {
    const std::uint32_t processor = processors_.of(rank);
    Core& core = processors_[processor];
    std::uint32_t put_off = none;
    if (core.is_set_aside(now_)) {
      if (seconds == 0)
        return on_worked(rank, step, move);  // there may be noise only where nothing is set aside
      put_off = processors_.set_free(core, now_);
    }
    const double done = occupy(rank, seconds);
    if (done > now_) {
      if (core.is_busy())
        jobs_.append(core.jobs, jobs_.add({.done = done, .rank = rank, .step = step}));
      else
        processors_.engage(processor, done, Core::job, rank, step);
    }
    if (put_off != none) processors_.put_back(core, put_off);
    if (done == now_) on_worked(rank, step, move);
  }

  void on_worked(Rank rank, StepId step, const Move& move) {
    if (move.kind == StepKind::send)
      send(rank, step, move);
    else
      finish(rank, step, move);
    if (threads_.has_order(rank)) done_.emplace_back(source_.first(rank), nullptr, rank, step);
  }

  /// A processor has done a piece of work, and comes to the next.
  void on_computed(std::uint32_t id) {
    Core& core = processors_[id];
    const std::uint32_t what = std::exchange(core.at, Core::idle);
    const Rank rank = core.rank;
    const StepId step = core.step;
    if (!core.jobs.empty()) {
      const std::uint32_t next = jobs_.take_first(core.jobs);
      const Job& job = jobs_[next];
      processors_.engage(id, job.done, Core::job, job.rank, job.step);
      jobs_.remove(next);
    } else if (processors_.sort_out_landed(core, now_)) {
      idle_ = id;
    }
    const Move& move = source_.move(rank, step);
    if (what == Core::job) return on_worked(rank, step, move);
    if (may_expect_) ranks_[rank].computing += tasks_[what].work;
    tasks_.remove(what);
    finish(rank, step, move);
  }

  // ---- Messages, at the sender

  /// The processor is done with it.
  void send(Rank rank, StepId step, const Move& move) {
    const bool rendezvous = move.bytes > platform_.eager;
    const std::uint32_t id = tasks_.add({.from = rank,
                                         .to = source_.peer(rank, move),
                                         .send = step,
                                         .recv = move.partner,
                                         .bytes = move.bytes,
                                         .rendezvous = rendezvous});
    if (rendezvous) return ask(id);
    submit(id);
    finish(rank, step, move);
  }

  /// A request to send takes the way's latency, and so does the answer; where nobody asks, neither takes any time.
  void ask(std::uint32_t id) {
    Task& task = tasks_[id];
    network_.find(task.from, task.to, path_);
    task.latency = platform_.asks ? path_.latency : 0;
    task.moment = on_grid(now_ + task.latency);
    task.state = Task::asking;
    std::uint32_t& receive = state_[source_.first(task.to) + task.recv].receive;
    if (receive == posted)
      answer(id);
    else
      receive = id;
  }

  void answer(std::uint32_t id) {
    Task& task = tasks_[id];
    task.late = now_ > task.moment;
    if (task.late) history_.decided_by_other_end(source_.first(task.from) + task.send);
    task.state = Task::sending;
    const double at = on_grid(std::max(now_, task.moment) + task.latency);
    if (at > now_)
      events_.push(at, answered | id);
    else
      submit(id);
  }

  /// Puts a message into the network as soon as the sender's ports allow it.
  void submit(std::uint32_t id) {
    if (!has_ports()) return transfer(id);
    Port& port = port_[tasks_[id].from];
    if (platform_.ports > 0 && port.busy == platform_.ports) {
      return tasks_.append(port.line, id);
    }
    ++port.busy;
    const double at = std::max(now_, port.next);
    port.next = on_grid(at + platform_.gap);
    if (at > now_)
      events_.push(at, admitted | id);
    else
      transfer(id);
  }

  void leave_port(Rank rank) {
    Port& port = port_[rank];
    --port.busy;
    if (!port.line.empty()) submit(tasks_.take_first(port.line));
  }

  // ---- Messages, in the network

  void transfer(std::uint32_t id) {
    Task& task = tasks_[id];
    network_.find(task.from, task.to, path_);
    task.latency = path_.latency;
    ++outcome_.messages;
    outcome_.bytes += task.bytes;
    const double alone = task.bytes * path_.seconds_a_byte;
    const bool is_shared = task.bytes > 0 && path_.count > 0;
    if (may_foresee_ && !task.rendezvous) {
      if (!is_shared) return deliver(id, on_grid(on_grid(now_ + alone) + task.latency));
      if constexpr (Sharers::foresees)
        if (alone == 0)
          if (const std::optional<double> passed = contention_.foresee(id, task.bytes, path_, now_))
            return deliver(id, on_grid(*passed + task.latency));
    }
    enter(id, is_shared, alone);
  }

  void enter(std::uint32_t id, bool is_shared, double alone) {
    if constexpr (Sharers::foresees)
      if (is_shared) contention_.for_foreseen(path_, now_, [this](FlowId flow) { reconsider(flow); });
    Task& task = tasks_[id];
    task.parts = 0;
    if (is_shared) task.parts = static_cast<std::uint8_t>(contention_.enter(id, task.bytes, path_, now_));
    if (alone > 0) {
      ++task.parts;
      events_.push(now_ + alone, passed_alone | id);
    }
    if (task.parts == 0) on_transferred(id);
  }

  /// A message that was foreseen to be alone will not be: it is in the network again.
  void reconsider(std::uint32_t id) {
    const std::uint32_t number = processors_.call_off(id, now_);
    Task& task = tasks_[number];
    task.state = Task::sending;
    network_.find(task.from, task.to, other_path_);
    task.parts = static_cast<std::uint8_t>(contention_.reconsider(id, number, other_path_, now_));
  }

  void part_done(std::uint32_t id) {
    if (--tasks_[id].parts == 0) on_transferred(id);
  }

  void on_transferred(std::uint32_t id) {
    const Task task = tasks_[id];
    deliver(id, on_grid(now_ + task.latency));
    if (has_ports()) leave_port(task.from);
    if (task.rendezvous) finish(task.from, task.send, source_.move(task.from, task.send));
  }

  // ---- Messages, at the receiver

  /// It is known when the message lands.
  void deliver(std::uint32_t id, double landing) {
    if (landing == now_) return land(id);
    Task& task = tasks_[id];
    task.moment = landing;
    const std::uint64_t at = source_.first(task.to) + task.recv;
    if (state_[at].receive == posted) {
      set_work(task, 0);
      if (processors_.await(task, id) || (may_expect_ && processors_.expect(task, id))) {
        if (!task.late) history_.decided_by_other_end(at);
        return;
      }
    }
    processors_.announce(id);
  }

  void on_landed(std::uint32_t id) {
    if (tasks_[id].state == Task::gone) return tasks_.remove(id);
    land(id);
  }

  void land(std::uint32_t id) {
    Task& task = tasks_[id];
    const std::uint64_t at = source_.first(task.to) + task.recv;
    if (state_[at].receive == posted) {
      if (!task.late) history_.decided_by_other_end(at);
      return receive(id, 0);
    }
    task.state = Task::arrived;
    state_[at].receive = id;
  }

  void begin_recv(std::uint64_t at) {
    const std::uint32_t waiting = std::exchange(state_[at].receive, posted);
    if (waiting == nothing_yet) return;
    if (tasks_[waiting].state == Task::asking)
      answer(waiting);
    else
      receive(waiting, tasks_[waiting].bytes);  // it lies in a buffer of the MPI's
  }

  /// What the processor has to do for a message, of which so many bytes lie in a buffer of the MPI's.
  void set_work(Task& task, double buffered) {
    const Move& move = source_.move(task.to, task.recv);
    const double copied = buffered + (move.scattered ? task.bytes : 0);
    task.work = on_grid(platform_.cpu.recv + copied * platform_.cpu.copy);
  }

  void receive(std::uint32_t id, double buffered) {
    Task& task = tasks_[id];
    set_work(task, buffered);
    task.moment = now_;
    Core& core = processors_[processors_.of(task.to)];
    if (core.is_set_aside(now_)) {
      const std::uint32_t put_off = processors_.set_free(core, now_);
      look_at(id);
      return processors_.put_back(core, put_off);
    }
    // Not whether it is free now: what ends at this moment may lead to more, which comes first.
    if (!core.is_busy() && !core.has_landed()) return look_at(id);
    processors_.line_up(core, id);
  }

  void look_at(std::uint32_t id) {
    const Task& task = tasks_[id];
    const Rank rank = task.to;
    const StepId step = task.recv;
    const double done = occupy(rank, task.work, !may_expect_);
    if (done > now_) return processors_.engage(processors_.of(rank), done, id, rank, step);
    tasks_.remove(id);
    finish(rank, step, source_.move(rank, step));
  }

  /// A processor has done a piece of work: unless that has led to more, it turns to what has landed meanwhile.
  void look_at_landed() {
    Core& core = processors_[std::exchange(idle_, none)];
    while (!core.is_busy() && processors_.sort_out_landed(core, now_)) {
      look_at(processors_.take_landed(core));
      release_successors();
    }
  }

  // ---- Resources

  /// Lets the rank's processor work so long, and as much longer as noise holds it up, after all that it has to do
  /// already; returns when it is done.
  double occupy(Rank rank, double seconds, bool counts = true) {
    seconds += noise_.draw(rank);
    double& free = processors_[processors_.of(rank)].free;
    if (seconds == 0 && free <= now_) return now_;
    free = on_grid(std::max(free, now_) + seconds);
    if (counts && !lacks_input(rank)) ranks_[rank].computing += seconds;
    return free;
  }

  // ---- The end

  Outcome finish_outcome() {
    outcome_.exits.resize(source_.procs());
    outcome_.waiting.resize(source_.procs());
    for (Rank rank = 0; rank < source_.procs(); ++rank) {
      outcome_.exits[rank] = std::max(ranks_[rank].exit, arrivals_[rank]);
      outcome_.waiting[rank] = std::max(0.0, outcome_.exits[rank] - arrivals_[rank] - ranks_[rank].computing);
      outcome_.end = std::max(outcome_.end, outcome_.exits[rank]);
    }
    for (ChannelId channel = 0; channel < network_.channels(); ++channel)
      if (const ChannelUse use = contention_.use(channel); use.bytes > 0) outcome_.channels.push_back(use);
    outcome_.critical_path = history_.critical_path(source_, outcome_.exits);
    return std::move(outcome_);
  }

  [[noreturn]] void explain_stuck() const {
    std::string where;
    for (Rank rank = 0; rank < source_.procs() && where.empty(); ++rank)
      for (StepId step = 0; step < source_.schedule(rank).size() && where.empty(); ++step)
        if (state_[source_.first(rank) + step].missing > 0)
          where = fmt::format("; of rank {} the first that does not begin is step {}", rank, step);
    throw Error(fmt::format("the plan does not play to its end: {} of {} steps wait for each other{}", left_,
                            source_.steps(), where));
  }

  const Source& source_;
  const Platform& platform_;
  const std::span<const double> arrivals_, begins_;
  const Network network_;
  EventQueue events_;
  Sharers contention_;
  History history_;
  Pool<Task> tasks_{~kind_bits};
  Pool<Job> jobs_{~kind_bits};
  Processors processors_;
  NoiseSource noise_;
  const std::stop_token stop_;
  const bool may_foresee_;  // nothing happens when a message has passed its channels but that it lands
  const bool may_expect_;   // a processor's work takes as long whatever it does before
  double now_ = 0;
  std::uint64_t left_ = 0;  // steps that are not finished
  std::uint64_t events_played_ = 0;
  bool looks_ahead_ = false;
  LargeVector<StepState> state_;  // by step
  std::vector<Finished> done_;    // steps whose successors have not been told
  std::uint32_t idle_ = none;     // a core that has just done all its work, and has messages to look at
  LargeVector<RankState> ranks_;
  std::vector<Port> port_;  // by rank, where ports matter
  Threads threads_;
  std::vector<Held> held_;  // by rank, where ranks begin at another moment than they arrive
  Path path_, other_path_;
  Outcome outcome_;
};

void require_times(std::span<const double> times, const char* what) {
  for (Rank rank = 0; rank < times.size(); ++rank)
    if (!std::isfinite(times[rank]) || times[rank] < 0)
      throw Error(fmt::format("rank {} {} at {} s; times must be from 0 on", rank, what, times[rank]));
}

void require_orders(const Source& source, const PlayOptions& options) {
  const std::size_t orders = options.orders.size();
  if (orders > 1 && orders != source.procs())
    throw Error(fmt::format("the plan has {} ranks, but there are {} orders", source.procs(), orders));
  if (orders > 0 && !options.begins.empty())
    throw Error("a rank that begins before it arrives has no order of its steps");
}

void require_arrivals(const Source& source, std::span<const double> arrivals, const Seating& seating,
                      std::span<const double> begins) {
  if (arrivals.size() != source.procs() || seating.cpu.size() != source.procs())
    throw Error(fmt::format("the plan has {} ranks, but there are {} arrivals and {} seats", source.procs(),
                            arrivals.size(), seating.cpu.size()));
  if (!begins.empty() && begins.size() != source.procs())
    throw Error(fmt::format("the plan has {} ranks, but there are {} moments at which they begin",
                            source.procs(), begins.size()));
  require_times(arrivals, "arrives");
  require_times(begins, "begins");
  if (source.procs() > ~kind_bits)
    throw Error(
        fmt::format("{} processes are more than the player can number, {}", source.procs(), ~kind_bits));
}

}  // namespace

Outcome play(const Source& source, const Platform& platform, const Seating& seating,
             std::span<const double> arrivals, const PlayOptions& options) {
  require_arrivals(source, arrivals, seating, options.begins);
  require_orders(source, options);
  if (options.contention == Contention::maxmin)
    return Player<Fairness>(source, platform, seating, arrivals, options).run();
  return Player<Sharing>(source, platform, seating, arrivals, options).run();
}

}  // namespace convene::simulate
