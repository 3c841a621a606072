// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "simulate/fairness.hpp"
#include "simulate/history.hpp"

namespace convene {
namespace {

/// What an event is about: the upper 4 bits of its number. The rest is a rank, a message or a channel.
enum Kind : std::uint32_t {
  arrive = 0u << 28,        // rank: begins, in general by entering the collective
  computed = 1u << 28,      // task: its processor is done with it
  answered = 2u << 28,      // message: the receiver has agreed
  admitted = 3u << 28,      // message: its turn at the port has come
  carried = 4u << 28,       // channel or flow, as the contention says
  passed_alone = 5u << 28,  // message: the links that nobody shares have carried it
  landed = 6u << 28,        // message: is at the receiver
  called = 7u << 28,        // rank: its input is there
};
constexpr std::uint32_t kind_bits = 0xfu << 28;

/// A message on its way, or a copy that is being made.
struct Task {
  enum State : std::uint8_t { sending, asking, arrived, receiving, copying };

  Rank from = 0, to = 0;
  StepId send = 0, recv = 0;  // copy: `send`
  double bytes = 0;
  double latency = 0;      // of its way; once it is there: how long the receiver's processor needs for it
  double asked = 0;        // rendezvous: when the request reached the receiver
  std::uint32_t next = 0;  // behind this one: at the sender's port, or at the receiver's processor
  std::uint8_t parts = 0;  // of its way that have not carried it yet
  State state = sending;
  bool rendezvous = false, late = false;  // late: came before its receive was ready
};

constexpr std::uint32_t no_task = 0xffffffffu, no_core = 0xffffffffu;

/// What is known of a receive.
constexpr std::uint32_t nothing_yet = 0xffffffffu,
                        posted = 0xfffffffeu;  // else the message that is waiting for it

struct Finished {
  Rank rank;
  StepId step;
};

struct StepState {
  std::uint32_t missing;  // predecessors to come
  std::uint32_t receive;  // what is known of a receive
};

/// Steps that are ready but for the rank's input, where that comes later than the rank begins.
struct Held {
  bool called = false;
  std::vector<StepId> steps;
};

/// Tasks that wait for something, in order.
struct Line {
  std::uint32_t first = no_task, last = no_task;

  bool empty() const { return first == no_task; }
};

struct Port {
  std::uint32_t busy = 0;
  Line line;
  double next = 0;  // with a gap: when the next message may go
};

struct Core {
  double free = 0;         // when it will have done all that it has to do
  std::uint32_t jobs = 0;  // pieces of work that are not done yet
  Line landed;             // messages that it has yet to look at
};

template <class Sharers>
class Player {
 public:
  Player(const Source& source, const Platform& platform, const Seating& seating,
         std::span<const double> arrivals, const PlayOptions& options)
      : source_(source),
        platform_(platform),
        cpu_(seating.cpu),
        arrivals_(arrivals),
        begins_(options.begins.empty() ? arrivals : std::span<const double>(options.begins)),
        network_(platform, seating),
        contention_(network_, events_, carried),
        history_(options.critical_path ? source.steps() : 0),
        noise_(options.noise, source.procs()) {
    const Rank procs = source.procs();
    core_.resize(*std::max_element(cpu_.begin(), cpu_.end()) + 1);
    computing_.assign(procs, 0);
    if (has_ports()) port_.resize(procs);
    if (!options.begins.empty()) held_.resize(procs);
    outcome_.exits.assign(arrivals.begin(), arrivals.end());
    state_.reserve(source.steps());
    for (Rank rank = 0; rank < procs; ++rank)
      for (const Step& step : source.schedule(rank).steps())
        state_.push_back({step.predecessors, nothing_yet});
    left_ = source.steps();
  }

  Outcome run() {
    for (Rank rank = 0; rank < source_.procs(); ++rank) {
      if (!held_.empty()) events_.push(arrivals_[rank], called | rank);
      events_.push(begins_[rank], arrive | rank);
    }
    while (true) {
      if (!contention_.is_settled() && events_.moment_is_over()) contention_.settle(now_);
      if (events_.empty()) break;
      const Event event = events_.pop();
      look_ahead();
      now_ = event.seconds();
      dispatch(event);
      release_successors();
      if (idle_ != no_core) look_at_landed();
    }
    if (left_ > 0) explain_stuck();
    return finish_outcome();
  }

 private:
  bool has_ports() const { return platform_.ports > 0 || platform_.gap > 0; }

  void dispatch(const Event& event) {
    const std::uint32_t number = event.what & ~kind_bits;
    switch (event.what & kind_bits) {
      case arrive:
        return start(number);
      case computed:
        return on_job_done(number);
      case answered:
        return submit(number);
      case admitted:
        return transfer(number);
      case carried:
        return contention_.fire(number, event.stamp, now_, [this](FlowId flow) { part_done(flow); });
      case passed_alone:
        return part_done(number);
      case landed:
        return land(number);
      case called:
        return release_input(number);
    }
  }

  /// A rank's steps follow each other, but all ranks' steps lie between them: what it needs next is asked for now, or the
  /// player would wait for memory half of its time.
  void fetch_ahead(const Move& move, std::uint64_t step) const {
    __builtin_prefetch(&move + 5);
    __builtin_prefetch(state_.data() + step + 12);  // an address need not exist for this
  }

  /// What the next events need is asked for now, in two stages: where a step lies stands in its task.
  void look_ahead() const {
    if (const Event* event = events_.ahead(6); event && is_of_task(*event))
      __builtin_prefetch(tasks_.data() + (event->what & ~kind_bits));
    const Event* event = events_.ahead(2);
    if (!event || !is_of_task(*event)) return;
    const Task& task = tasks_[event->what & ~kind_bits];
    const bool is_landing = (event->what & kind_bits) == landed;
    const bool is_at_receiver = is_landing || task.state == Task::receiving;
    const Rank rank = is_at_receiver ? task.to : task.from;
    const StepId step = is_at_receiver ? task.recv : task.send;
    if (is_landing) __builtin_prefetch(state_.data() + source_.first(rank) + step);
    __builtin_prefetch(&source_.move(rank, step));
    __builtin_prefetch(core_.data() + cpu_[rank]);
  }

  static bool is_of_task(const Event& event) {
    const std::uint32_t kind = event.what & kind_bits;
    return kind != arrive && kind != called && kind != carried;
  }

  // ---- Steps

  void start(Rank rank) {
    const Schedule& schedule = source_.schedule(rank);
    const std::uint64_t first = source_.first(rank);
    for (StepId step = 0; step < schedule.size(); ++step)
      if (schedule[step].predecessors == 0) begin(rank, step, first);
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
    fetch_ahead(move, first + step);
    if (move.own_input && lacks_input(rank)) return held_[rank].steps.push_back(step);
    history_.ready(first + step, now_);
    if (move.left_out) return finish(rank, step);
    switch (move.kind) {
      case StepKind::send:
        return begin_send(rank, step, move);
      case StepKind::recv:
        return begin_recv(first + step);
      case StepKind::copy:
        return compute(rank, step, move.bytes * platform_.cpu.copy);
      case StepKind::combine:
        return compute(rank, step, move.bytes * platform_.cpu.combine);
      case StepKind::join:
        return finish(rank, step);
    }
  }

  void finish(Rank rank, StepId step) {
    const std::uint64_t at = source_.first(rank) + step;
    fetch_ahead(source_.move(rank, step), at);
    --left_;
    history_.finished(at, now_);
    outcome_.exits[rank] = now_;
    done_.push_back({rank, step});
  }

  /// Begins what waited for steps that are finished; some of that may be finished at once. (A list, not a recursion:
  /// there is no limit to how many steps may follow each other in one moment.)
  void release_successors() {
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const Finished done = done_[i];
      const std::uint64_t first = source_.first(done.rank);
      for (const StepId next : source_.successors(source_.move(done.rank, done.step))) {
        if (--state_[first + next].missing > 0) continue;
        history_.released(first + next, done.step);
        begin(done.rank, next, first);
      }
    }
    done_.clear();
  }

  void compute(Rank rank, StepId step, double seconds) {
    const double done = occupy(rank, seconds);
    if (done == now_) return finish(rank, step);
    const std::uint32_t id = new_task();
    tasks_[id].from = rank;
    tasks_[id].send = step;
    tasks_[id].state = Task::copying;
    begin_job(id, done);
  }

  // ---- Messages, at the sender

  void begin_send(Rank rank, StepId step, const Move& move) {
    const std::uint32_t id = new_task();
    Task& task = tasks_[id];
    task.from = rank;
    task.to = source_.peer(rank, move);
    task.send = step;
    task.recv = move.partner;
    task.bytes = move.bytes;
    task.rendezvous = move.bytes > platform_.eager;
    const double done =
        occupy(rank, platform_.cpu.send + (move.scattered ? move.bytes * platform_.cpu.copy : 0));
    if (done > now_)
      begin_job(id, done);
    else
      on_issued(id);
  }

  std::uint32_t core_of(std::uint32_t id) const {
    const Task& task = tasks_[id];
    return cpu_[task.state == Task::receiving ? task.to : task.from];
  }

  void begin_job(std::uint32_t id, double done) {
    ++core_[core_of(id)].jobs;
    events_.push(done, computed | id);
  }

  void on_job_done(std::uint32_t id) {
    const std::uint32_t core = core_of(id);
    if (--core_[core].jobs == 0 && !core_[core].landed.empty()) idle_ = core;
    on_computed(id);
  }

  /// The processor has done what it had to do for a copy, a send or a receive.
  void on_computed(std::uint32_t id) {
    const Task& task = tasks_[id];
    if (task.state == Task::sending) return on_issued(id);
    const bool is_copy = task.state == Task::copying;
    const Rank rank = is_copy ? task.from : task.to;
    const StepId step = is_copy ? task.send : task.recv;
    free_.push_back(id);
    finish(rank, step);
  }

  void on_issued(std::uint32_t id) {
    if (tasks_[id].rendezvous) return ask(id);
    const Rank rank = tasks_[id].from;
    const StepId step = tasks_[id].send;
    submit(id);
    finish(rank, step);
  }

  /// A request to send takes the way's latency, and so does the answer.
  void ask(std::uint32_t id) {
    Task& task = tasks_[id];
    network_.find(task.from, task.to, path_);
    task.asked = on_grid(now_ + path_.latency);
    task.latency = path_.latency;
    task.state = Task::asking;
    std::uint32_t& receive = state_[source_.first(task.to) + task.recv].receive;
    if (receive == posted)
      answer(id);
    else
      receive = id;
  }

  void answer(std::uint32_t id) {
    Task& task = tasks_[id];
    task.late = now_ > task.asked;
    if (task.late) history_.decided_by_other_end(source_.first(task.from) + task.send);
    task.state = Task::sending;
    const double at = on_grid(std::max(now_, task.asked) + task.latency);
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
      return queue(port.line, id);
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
    if (!port.line.empty()) submit(take_first(port.line));
  }

  // ---- Messages, in the network

  void transfer(std::uint32_t id) {
    Task& task = tasks_[id];
    network_.find(task.from, task.to, path_);
    task.latency = path_.latency;
    ++outcome_.messages;
    outcome_.bytes += task.bytes;
    task.parts = 0;
    if (task.bytes > 0 && path_.count > 0)
      task.parts = static_cast<std::uint8_t>(contention_.enter(id, task.bytes, path_, now_));
    const double alone = task.bytes * path_.seconds_a_byte;
    if (alone > 0) {
      ++task.parts;
      events_.push(now_ + alone, passed_alone | id);
    }
    if (task.parts == 0) on_transferred(id);
  }

  void part_done(std::uint32_t id) {
    if (--tasks_[id].parts == 0) on_transferred(id);
  }

  void on_transferred(std::uint32_t id) {
    const Task task = tasks_[id];
    if (task.latency > 0)
      events_.push(now_ + task.latency, landed | id);
    else
      land(id);
    if (has_ports()) leave_port(task.from);
    if (task.rendezvous) finish(task.from, task.send);
  }

  // ---- Messages, at the receiver

  void land(std::uint32_t id) {
    const std::uint64_t at = source_.first(tasks_[id].to) + tasks_[id].recv;
    if (state_[at].receive == posted) {
      if (!tasks_[id].late) history_.decided_by_other_end(at);
      return receive(id, 0);
    }
    tasks_[id].state = Task::arrived;
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

  void receive(std::uint32_t id, double buffered) {
    Task& task = tasks_[id];
    task.state = Task::receiving;
    const Move& move = source_.move(task.to, task.recv);
    for (const StepId next : source_.successors(move)) {  // asked for while the processor works
      __builtin_prefetch(state_.data() + source_.first(task.to) + next);
      __builtin_prefetch(&source_.move(task.to, next));
    }
    const double copied = buffered + (move.scattered ? task.bytes : 0);
    task.latency = platform_.cpu.recv + copied * platform_.cpu.copy;
    // Not whether it is free now: what ends at this moment may lead to more, which comes first.
    if (Core& core = core_[cpu_[task.to]]; core.jobs > 0 || !core.landed.empty())
      return queue(core.landed, id);
    look_at(id);
  }

  void look_at(std::uint32_t id) {
    const double done = occupy(tasks_[id].to, tasks_[id].latency);
    if (done > now_)
      begin_job(id, done);
    else
      on_computed(id);
  }

  /// A processor has done a piece of work: unless that has led to more, it turns to what has landed meanwhile.
  void look_at_landed() {
    Core& core = core_[std::exchange(idle_, no_core)];
    while (core.jobs == 0 && !core.landed.empty()) {
      look_at(take_first(core.landed));
      release_successors();
    }
  }

  void queue(Line& line, std::uint32_t id) {
    tasks_[id].next = no_task;
    (line.empty() ? line.first : tasks_[line.last].next) = id;
    line.last = id;
  }

  std::uint32_t take_first(Line& line) { return std::exchange(line.first, tasks_[line.first].next); }

  // ---- Resources

  /// Lets the rank's processor work so long, and as much longer as noise holds it up, after all that it has to do
  /// already; returns when it is done.
  double occupy(Rank rank, double seconds) {
    seconds += noise_.draw(rank);
    double& free = core_[cpu_[rank]].free;
    if (seconds == 0 && free <= now_) return now_;
    free = on_grid(std::max(free, now_) + seconds);
    if (!lacks_input(rank)) computing_[rank] += seconds;
    return free;
  }

  std::uint32_t new_task() {
    if (free_.empty()) {
      if (tasks_.size() >= ~kind_bits)
        throw Error("more than 268435455 messages are on their way at once; take fewer processes");
      tasks_.emplace_back();
      return static_cast<std::uint32_t>(tasks_.size() - 1);
    }
    const std::uint32_t id = free_.back();
    free_.pop_back();
    tasks_[id] = {};
    return id;
  }

  // ---- The end

  Outcome finish_outcome() {
    outcome_.waiting.resize(source_.procs());
    for (Rank rank = 0; rank < source_.procs(); ++rank) {
      outcome_.exits[rank] = std::max(outcome_.exits[rank], arrivals_[rank]);
      outcome_.waiting[rank] = std::max(0.0, outcome_.exits[rank] - arrivals_[rank] - computing_[rank]);
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
  const std::vector<std::uint32_t>& cpu_;
  const std::span<const double> arrivals_, begins_;
  const Network network_;
  EventQueue events_;
  Sharers contention_;
  History history_;
  NoiseSource noise_;
  double now_ = 0;
  std::uint64_t left_ = 0;        // steps that are not finished
  std::vector<StepState> state_;  // by step
  std::vector<Finished> done_;    // steps whose successors have not been told
  std::vector<Task> tasks_;
  std::vector<std::uint32_t> free_;  // tasks that may be used again
  std::vector<Core> core_;           // by core
  std::uint32_t idle_ = no_core;     // a core that has just done all its work, and has messages to look at
  std::vector<double> computing_;    // by rank
  std::vector<Port> port_;           // by rank, where ports matter
  std::vector<Held> held_;           // by rank, where ranks begin at another moment than they arrive
  Path path_;
  Outcome outcome_;
};

void require_times(std::span<const double> times, const char* what) {
  for (Rank rank = 0; rank < times.size(); ++rank)
    if (!std::isfinite(times[rank]) || times[rank] < 0)
      throw Error(fmt::format("rank {} {} at {} s; times must be from 0 on", rank, what, times[rank]));
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
  if (options.contention == Contention::maxmin)
    return Player<Fairness>(source, platform, seating, arrivals, options).run();
  return Player<Sharing>(source, platform, seating, arrivals, options).run();
}

}  // namespace convene
