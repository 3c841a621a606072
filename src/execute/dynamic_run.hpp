// SPDX-License-Identifier: BSD-3-Clause
// Dynamic runs: issue all ready steps and complete messages in the order of arrival.
#pragma once

#include <algorithm>
#include <functional>

#include "execute/step_run.hpp"
#include "schedule/core/order.hpp"

namespace convene::execute {

/// Queue of ready steps: taken from the front, or from anywhere when shuffling.
class ReadyQueue {
 public:
  ReadyQueue(StepId* memory, std::uint64_t* random) : steps_(memory), random_(random) {}

  bool empty() const { return head_ == tail_; }
  void push(StepId id) { steps_[tail_++] = id; }
  StepId pop() {
    if (*random_ != 0) std::swap(steps_[head_], steps_[head_ + next_random() % (tail_ - head_)]);
    return steps_[head_++];
  }

 private:
  std::uint32_t next_random() {  // xorshift64*
    *random_ ^= *random_ >> 12;
    *random_ ^= *random_ << 25;
    *random_ ^= *random_ >> 27;
    return static_cast<std::uint32_t>(*random_ * 0x2545f4914f6cdd1dull >> 32);
  }

  StepId* steps_;  // every step is pushed once: the queue does not wrap around
  std::uint32_t head_ = 0, tail_ = 0;
  std::uint64_t* random_;
};

template <MessageTransport T>
class DynamicRun {
 public:
  DynamicRun(const Binding& binding, const Limits& limits, Arena& arena, std::uint64_t shuffle)
      : schedule_(*binding.schedule),
        comm_(binding.comm()),
        transport_(transport_of<T>(binding)),
        shared_memory_(binding.shared_memory),
        limits_(limits),
        messages_(binding, arena),
        random_(shuffle),
        receiving_{StepKind::recv, ReadyQueue(arena.take_array<StepId>(schedule_.size()), &random_)},
        sending_{StepKind::send, ReadyQueue(arena.take_array<StepId>(schedule_.size()), &random_)},
        local_(arena.take_array<StepId>(schedule_.size()), &random_) {
    const std::size_t window =
        std::min<std::size_t>(schedule_.size(), std::size_t{limits.receives} + limits.sends) + 1;
    handles_ = arena.take_array<Handle>(window);
    step_of_ = arena.take_array<StepId>(window);
    completed_ = arena.take_array<int>(window);
    statuses_ = arena.take_array<typename T::Status>(window);
    T::prepare(statuses_, window);
    if (binding.shared_memory) awaited_signals_ = arena.take_array<StepId>(schedule_.size());
    waiting_for_ = arena.take_array<std::uint32_t>(schedule_.size());
    for (StepId id = 0; id < schedule_.size(); ++id) waiting_for_[id] = schedule_[id].predecessors;
  }

  int run() {
    start();
    int code = messages_.code();
    while (code == MPI_SUCCESS) {
      if ((code = issue_all()) != MPI_SUCCESS) break;
      if (in_flight_ + signals_ == 0) return MPI_SUCCESS;
      code = wait_warning.is_on() || signals_ > 0 ? complete_or_warn() : complete_some(true);
    }
    transport_.abandon(handles_, in_flight_);
    return code;
  }

  /// Starts: reports the steps without predecessors as ready.
  void start() {
    for (StepId id = 0; id < schedule_.size(); ++id)
      if (waiting_for_[id] == 0 && schedule_[id].predecessors == 0) ready(id);
  }

  /// Holds back the steps that touch a buffer until release(). Call it before start().
  void hold_back(Buffer buffer) {
    held_back_ = static_cast<std::uint8_t>(1u << index(buffer));
    for (StepId id = 0; id < schedule_.size(); ++id)
      if (schedule_[id].touches & held_back_) ++waiting_for_[id];
  }

  void release() {
    const std::uint8_t released = held_back_;
    held_back_ = 0;
    early_messages_ = messages_done_;
    for (StepId id = 0; id < schedule_.size(); ++id)
      if ((schedule_[id].touches & released) && --waiting_for_[id] == 0) ready(id);
  }

  void cancel() {
    for (std::uint32_t i = 0; i < in_flight_; ++i)
      if (transport_.cancel(&handles_[i]) != MPI_SUCCESS) transport_.abandon(&handles_[i], 1);
    in_flight_ = 0;
  }

  std::uint64_t messages_done() const { return messages_done_; }
  std::uint64_t early_messages() const { return early_messages_; }

  /// Issues ready steps and completes arrived messages, without waiting, until neither is possible.
  int advance(bool& done) {
    for (;;) {
      int code = messages_.code();
      if (code == MPI_SUCCESS) code = issue_all();
      const bool is_idle = in_flight_ + signals_ == 0;
      done = code == MPI_SUCCESS && is_idle && held_back_ == 0;
      if (done || (code == MPI_SUCCESS && is_idle)) return MPI_SUCCESS;
      if (code == MPI_SUCCESS) code = complete_arrived();
      if (code != MPI_SUCCESS) {
        transport_.abandon(handles_, in_flight_);
        in_flight_ = 0;
        return code;
      }
      if (completed_last_ == 0) break;
    }
    // A run that waits for the program's own buffer does not wait for other ranks.
    if (wait_warning.is_on() && held_back_ == 0 && stall_detector_.has_become_long(messages_done_))
      warn(true);
    return MPI_SUCCESS;
  }

 private:
  using Handle = typename T::Handle;
  static constexpr StepId none = 0xffffffffu;
  static constexpr std::uint32_t issued_step = 0xfffffffeu, complete_step = 0xffffffffu;  // in `waiting_for_`

  struct Window {
    StepKind kind;
    ReadyQueue ready;
    std::uint32_t in_flight = 0;
    StepId first = 0;  // no message of the kind below this one is incomplete
  };

  void ready(StepId id) {
    if (schedule_[id].is_shm_signal() && schedule_[id].kind == StepKind::recv) {
      awaited_signals_[signals_++] = id;
      return;
    }
    if (schedule_[id].is_shm_signal()) return local_.push(id);
    switch (schedule_[id].kind) {
      case StepKind::recv:
        return receiving_.ready.push(id);
      case StepKind::send:
        return sending_.ready.push(id);
      case StepKind::copy:
      case StepKind::combine:
        return local_.push(id);
      case StepKind::join:
        return complete(id);
    }
  }

  void complete(StepId id) {
    waiting_for_[id] = complete_step;
    for (StepId next : schedule_.successors(id))
      if (--waiting_for_[next] == 0) ready(next);
  }

  int issue_all() {
    for (;;) {
      int code = MPI_SUCCESS;
      if (const StepId receive = next(receiving_, limits_.receives); receive != none) {
        code = start(receive, receiving_);
      } else if (const StepId send = next(sending_, limits_.sends); send != none) {
        code = start(send, sending_);
      } else if (!local_.empty()) {
        const StepId id = local_.pop();
        code = messages_.do_local(id);
        complete(id);
      } else {
        return MPI_SUCCESS;
      }
      if (code != MPI_SUCCESS) return code;
    }
  }

  /// The next message of a kind to issue, or `none`. The last place of a window is reserved for the first
  /// incomplete message: if later ones could fill it, ranks could wait forever for places in each other's
  /// windows.
  StepId next(Window& window, std::uint32_t limit) {
    while (window.in_flight + 1 < limit && !window.ready.empty())
      if (const StepId id = window.ready.pop(); waiting_for_[id] == 0)
        return id;  // else it was issued out of order
    if (window.in_flight >= limit || window.ready.empty()) return none;
    const auto passed = [&](StepId id) {
      return schedule_[id].kind != window.kind || schedule_[id].is_shm_signal() ||
             waiting_for_[id] == complete_step;
    };
    while (window.first < schedule_.size() && passed(window.first)) ++window.first;
    return window.first < schedule_.size() && waiting_for_[window.first] == 0 ? window.first : none;
  }

  int start(StepId id, Window& window) {
    waiting_for_[id] = issued_step;
    const int code = messages_.post(id, &handles_[in_flight_]);
    if (code != MPI_SUCCESS) return code;
    if (handles_[in_flight_] == transport_.none()) {
      complete(id);
      return MPI_SUCCESS;
    }
    step_of_[in_flight_++] = id;
    ++window.in_flight;
    return MPI_SUCCESS;
  }

  /// Completes the signals that were given. Progresses the transport if there are none.
  int complete_signals() {
    int completed = 0;
    for (std::uint32_t i = signals_; i-- > 0;) {
      const StepId id = awaited_signals_[i];
      if (!messages_.is_signalled(id)) continue;
      awaited_signals_[i] = awaited_signals_[--signals_];
      complete(id);  // which may add further awaited signals
      ++completed;
    }
    completed_last_ += completed;
    messages_done_ += static_cast<std::uint64_t>(completed);
    return completed == 0 && in_flight_ == 0 ? transport_.progress() : MPI_SUCCESS;
  }

  /// Completes all arrived messages, without waiting.
  int complete_arrived() {
    completed_last_ = 0;
    if (in_flight_ > 0)
      if (const int code = complete_some(false); code != MPI_SUCCESS) return code;
    return signals_ > 0 ? complete_signals() : MPI_SUCCESS;
  }

  /// Waits until a message is complete; warns if that takes long.
  int complete_or_warn() {
    if (in_flight_ == 0 && shared_memory_ && shared_memory_->has_bells()) return complete_asleep();
    PolledWait wait;
    for (;;) {
      if (const int code = complete_arrived(); code != MPI_SUCCESS || completed_last_ > 0) return code;
      if (wait.has_become_long()) warn(false);
    }
  }

  /// The same for signals, where ranks share cores.
  int complete_asleep() {
    int code = MPI_SUCCESS;
    const auto has_completed = [&] {
      code = complete_arrived();
      return code != MPI_SUCCESS || completed_last_ > 0;
    };
    const std::optional<Rank> from =
        signals_ == 1 ? std::optional(schedule_[awaited_signals_[0]].peer) : std::nullopt;
    wait_asleep(
        has_completed,
        [&](std::uint64_t timeout_ns) { return shared_memory_->sleep(from, timeout_ns, has_completed); },
        [&] { return code; }, [&] { warn(false); });
    return code;
  }

  void warn(bool is_started) const {
    constexpr std::uint32_t most = 16;
    int peers[most];
    const std::uint32_t count = std::min(in_flight_ + signals_, most);
    for (std::uint32_t i = 0; i < count; ++i)
      peers[i] =
          static_cast<int>(schedule_[i < in_flight_ ? step_of_[i] : awaited_signals_[i - in_flight_]].peer);
    wait_warning.report(comm_, peers, count, is_started);
  }

  /// Completes messages: with `waits` at least one, else those that have arrived.
  int complete_some(bool waits) {
    int count = 0;
    const auto in_flight = static_cast<int>(in_flight_);
    const int code = waits ? transport_.wait_some(handles_, in_flight, &count, completed_, statuses_)
                           : transport_.test_some(handles_, in_flight, &count, completed_, statuses_);
    if (code != MPI_SUCCESS) return code;
    completed_last_ = count;
    // From the back, so that moving the last entry into a gap never moves an entry that is still to be
    // completed.
    std::sort(completed_, completed_ + count, std::greater<>());
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint32_t>(completed_[i]);
      const StepId id = step_of_[at];
      --in_flight_;
      handles_[at] = handles_[in_flight_];
      step_of_[at] = step_of_[in_flight_];
      --(schedule_[id].kind == StepKind::send ? sending_ : receiving_).in_flight;
      messages_.finish(id);
      complete(id);
    }
    messages_done_ += static_cast<std::uint64_t>(count);
    return MPI_SUCCESS;
  }

  const Schedule& schedule_;
  const MPI_Comm comm_;
  T& transport_;
  SharedMemory* const shared_memory_;
  const Limits limits_;
  StepMessages<T> messages_;
  std::uint64_t random_;
  Window receiving_, sending_;
  ReadyQueue local_;
  std::uint32_t in_flight_ = 0, signals_ = 0;
  int completed_last_ = 0;
  std::uint8_t held_back_ = 0;  // the buffer whose steps are held back, as a bit of Step::touches; 0: none
  std::uint64_t messages_done_ = 0, early_messages_ = 0;
  StallDetector stall_detector_;
  Handle* handles_;  // of the messages in flight
  StepId* step_of_;  // the step of each
  StepId* awaited_signals_ = nullptr;
  int* completed_;                // indices from wait_some()
  typename T::Status* statuses_;  // and their errors
  std::uint32_t* waiting_for_;    // by step: number of incomplete predecessors, or a state
};

}  // namespace convene::execute
