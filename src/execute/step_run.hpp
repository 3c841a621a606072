// SPDX-License-Identifier: BSD-3-Clause
// What running a program and running dynamically have in common: messages and local steps, and memory that ranks share.
#pragma once

#include <algorithm>

#include "execute/executor.hpp"
#include "execute/shared_memory.hpp"
#include "execute/stall_detector.hpp"

namespace convene::execute {

/// Starts messages and finishes those that are complete; does local steps.
class StepMessages {
 public:
  StepMessages(const Binding& binding, Arena& arena)
      : binding_(binding), schedule_(*binding.schedule), arena_(arena), tags_(binding.tags()) {}

  /// Starts a send or a receive. An empty message is left out, on the other side too: its request is null.
  int start(StepId id, MPI_Request* request) {
    std::byte* staging = nullptr;
    const int code = start_message(schedule_, id, binding_.buffers, binding_.comm,
                                   tags_.of(schedule_[id].match), arena_, request, &staging);
    if (staging) remember_staging(id, staging);
    return code;
  }

  /// To be called once for a message that is complete.
  void finish(StepId id) {
    if (!staging_ || !staging_[id]) return;
    unpack(schedule_, id, binding_.buffers, staging_[id]);
    staging_[id] = nullptr;
  }

  /// Likewise, for all that are left.
  void finish_all() {
    if (!staging_) return;
    for (StepId id = 0; id < schedule_.size(); ++id) finish(id);
  }

  /// Does a copy or a combine, or gives a signal.
  int do_local(StepId id) {
    if (schedule_[id].is_shm_signal()) {
      binding_.shared_memory->signal(schedule_[id].peer, schedule_[id].match);
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
  std::byte** staging_ =
      nullptr;  // by step: where a receive that has to be unpacked was put; null while there is none
};

/// Polls until something in shared memory has come. Says for whom it waits, where that takes long.
template <class HasCome>
int poll(const Binding& binding, int peer, HasCome&& is_signalled) {
  constexpr int looks_between = 64;
  PolledWait wait;
  for (int looks = 1; !is_signalled(); ++looks) {
    if (looks % looks_between == 0)
      if (const int code = let_mpi_progress(binding.comm); code != MPI_SUCCESS) return code;
    if (wait.has_become_long()) wait_warning.say(binding.comm, &peer, peer < 0 ? 0 : 1, false);
  }
  return MPI_SUCCESS;
}

/// The memory that a schedule shares, while it runs.
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

/// Waits for the memory that a run shares, where it does. Every few runs the MPI makes progress here: others may depend
/// on it, though no wait of this rank is long.
inline int await_memory(const Binding& binding) {
  constexpr std::uint64_t runs_between = 16;
  if (!binding.shared_memory) return MPI_SUCCESS;
  if (binding.shared_memory->run() % runs_between == 0)
    if (const int code = let_mpi_progress(binding.comm); code != MPI_SUCCESS) return code;
  return has_memory(binding) ? MPI_SUCCESS : poll(binding, -1, [&] { return has_memory(binding); });
}

}  // namespace convene::execute
