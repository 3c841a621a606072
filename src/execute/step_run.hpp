// SPDX-License-Identifier: BSD-3-Clause
// Common parts of programs and dynamic runs: messages and local steps, shared memory, registered memory.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "execute/binding.hpp"
#include "execute/sleeping_wait.hpp"
#include "execute/stall_detector.hpp"

namespace convene::execute {

/// Registers a binding's buffers for one run, on a transport that needs that, and connects its peers.
template <MessageTransport T>
class RunMemory {
 public:
  explicit RunMemory(const Binding& binding) : transport_(transport_of<T>(binding)) {
    code_ = transport_.connect(*binding.schedule);
    if (!transport_.capabilities().needs_registration) return;
    const Schedule& schedule = *binding.schedule;
    for (unsigned b = 0; b < schedule.buffers(); ++b)
      if (const auto buffer = static_cast<Buffer>(b); schedule.places(buffer) > 0 && buffer != Buffer::shared)
        add(extent_of(binding.buffers[buffer], schedule.places(buffer)));
  }
  ~RunMemory() {
    for (const Registration each : registrations_) transport_.deregister_memory(each);
  }
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;

  /// Registers staging.
  void add(const Piece& memory) {
    if (!transport_.capabilities().needs_registration || memory.bytes == 0 || code_ != MPI_SUCCESS) return;
    Registration made = 0;
    code_ = transport_.register_memory(memory, Lifetime::run, &made);
    if (code_ == MPI_SUCCESS) registrations_.push_back(made);
  }
  /// The first error, or MPI_SUCCESS.
  int code() const { return code_; }

 private:
  T& transport_;
  int code_;
  std::vector<Registration> registrations_;
};

/// MPI registers memory by itself and has connected all ranks.
template <>
class RunMemory<const PointToPoint> {
 public:
  explicit RunMemory(const Binding&) {}
  static void add(const Piece&) {}
  static constexpr int code() { return MPI_SUCCESS; }
};

/// Posts a step's message. An empty one is omitted, on the other side too, unless it synchronises: its handle
/// is none(). `staging`: memory from which a receive must be unpacked, else null.
template <MessageTransport T>
int post_message(T& transport, RunMemory<T>& memory, const Schedule& schedule, StepId id,
                 const Buffers& buffers, int tag, Arena& arena, typename T::Handle* handle,
                 std::byte** staging) {
  const Step& step = schedule[id];
  const Message message = make_message(schedule, id, buffers, transport.capabilities().pack_below, arena);
  *handle = transport.none();
  *staging = nullptr;
  if (message.is_empty() && !schedule.sends_empty_messages()) return MPI_SUCCESS;
  if (message.staging) {
    memory.add(message.pieces.empty() ? message.run : message.pieces[0]);
    if (memory.code() != MPI_SUCCESS) return memory.code();
  }
  const int peer = static_cast<int>(step.peer);
  const Piece& run = message.run;
  if (step.kind == StepKind::send)
    return message.pieces.empty() ? transport.post_send(run.at, run.bytes, peer, tag, handle)
                                  : transport.post_send_pieces(message.pieces, peer, tag, arena, handle);
  *staging = message.staging;
  return message.pieces.empty() ? transport.post_receive(run.at, run.bytes, peer, tag, handle)
                                : transport.post_receive_pieces(message.pieces, peer, tag, arena, handle);
}

/// Posts messages and finishes complete ones; executes local steps.
template <MessageTransport T>
class StepMessages {
 public:
  StepMessages(const Binding& binding, Arena& arena)
      : binding_(binding),
        schedule_(*binding.schedule),
        arena_(arena),
        tags_(binding.tags()),
        memory_(binding) {}

  /// MPI_SUCCESS, or the error of registering memory or connecting peers.
  int code() const { return memory_.code(); }

  /// Posts a send or a receive. The handle of an omitted one is none().
  int post(StepId id, typename T::Handle* handle) {
    std::byte* staging = nullptr;
    const int code = post_message<T>(transport_of<T>(binding_), memory_, schedule_, id, binding_.buffers,
                                     tags_.of(schedule_[id].match), arena_, handle, &staging);
    if (staging) remember_staging(id, staging);
    return code;
  }

  /// Call it once for each complete message.
  void finish(StepId id) {
    if (!staging_ || !staging_[id]) return;
    unpack(schedule_, id, binding_.buffers, staging_[id]);
    staging_[id] = nullptr;
  }

  /// Finishes all remaining messages.
  void finish_all() {
    if (!staging_) return;
    for (StepId id = 0; id < schedule_.size(); ++id) finish(id);
  }

  /// True if the signal that a step awaits was given.
  bool is_signalled(StepId id) const { return binding_.is_signalled(id); }

  /// Executes a copy or a combine, or gives a signal.
  int do_local(StepId id) {
    if (schedule_[id].is_shm_signal()) {
      binding_.signal(id);
      return MPI_SUCCESS;
    }
    if (schedule_[id].kind == StepKind::combine)
      return combine_slots(schedule_, id, binding_.buffers, binding_.op);
    copy_slots(schedule_, id, binding_.buffers);
    return MPI_SUCCESS;
  }

 private:
  void remember_staging(StepId id, std::byte* staging) {
    if (!staging_) {
      staging_ = arena_.take_array<std::byte*>(schedule_.size());
      std::fill_n(staging_, schedule_.size(), nullptr);
    }
    staging_[id] = staging;
  }

  const Binding& binding_;
  const Schedule& schedule_;
  Arena& arena_;
  const Tags tags_;
  [[no_unique_address]] RunMemory<T> memory_;
  std::byte** staging_ = nullptr;  // by step: memory from which a receive must be unpacked, or null
};

/// Polls shared memory until `is_signalled()`. Warns if that takes long.
template <MessageTransport T, class IsSignalled>
int poll(const Binding& binding, int peer, IsSignalled&& is_signalled) {
  constexpr int looks_between = 64;
  PolledWait wait;
  for (int looks = 1; !is_signalled(); ++looks) {
    if (looks % looks_between == 0)
      if (const int code = transport_of<T>(binding).progress(); code != MPI_SUCCESS) return code;
    if (wait.has_become_long()) wait_warning.report(binding.comm(), &peer, peer < 0 ? 0 : 1, false);
  }
  return MPI_SUCCESS;
}

/// The same where ranks share cores.
template <MessageTransport T, class IsSignalled>
[[gnu::noinline]] int await_asleep(const Binding& binding, int peer, IsSignalled&& is_signalled) {
  SharedMemory& memory = *binding.shared_memory;
  return wait_asleep(
      is_signalled,
      [&](std::uint64_t timeout_ns) {
        return peer < 0 ? memory.sleep_until_ended(timeout_ns)
                        : memory.sleep(static_cast<Rank>(peer), timeout_ns, is_signalled);
      },
      [&] { return transport_of<T>(binding).progress(); },
      [&] { wait_warning.report(binding.comm(), &peer, peer < 0 ? 0 : 1, false); });
}

/// The same for a signal of another rank: time that a run does not need itself.
template <MessageTransport T, class IsSignalled>
int poll_shared(const Binding& binding, int peer, IsSignalled&& is_signalled) {
  return binding.shared_memory->wait_by([&] {
    return binding.shared_memory->has_bells() ? await_asleep<T>(binding, peer, is_signalled)
                                              : poll<T>(binding, peer, is_signalled);
  });
}

/// Scope of a run's shared memory: its end releases it.
class SharedRun {
 public:
  explicit SharedRun(const Binding& binding) : memory_(binding.shared_memory) {}
  ~SharedRun() {
    if (memory_) memory_->end();
  }
  SharedRun(const SharedRun&) = delete;
  SharedRun& operator=(const SharedRun&) = delete;

 private:
  SharedMemory* memory_;
};

/// Waits for the shared memory of a run, if it has any. Every few runs the transport progresses here: other
/// ranks may depend on that, even if no wait of this rank is long. A run whose signals carry the data takes
/// about as long as progressing does, so that is rarer there.
template <MessageTransport T>
int await_memory(const Binding& binding) {
  if (!binding.shared_memory) return MPI_SUCCESS;
  const std::uint64_t runs_between = binding.signals_carry ? 64 : 16;
  if (binding.shared_memory->run() % runs_between == 0)
    if (const int code = transport_of<T>(binding).progress(); code != MPI_SUCCESS) return code;
  if (has_memory(binding)) return MPI_SUCCESS;
  return poll_shared<T>(binding, -1, [&] { return has_memory(binding); });
}

}  // namespace convene::execute
