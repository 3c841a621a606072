// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/stall/native_call_watch.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/clock.hpp"
#include "mpi/functions.hpp"
#include "runtime/call/caller.hpp"
#include "runtime/process/process.hpp"
#include "runtime/stall/wait_warning.hpp"

namespace convene::runtime {
namespace {

constexpr std::size_t most_at_once = 16;
constinit std::array<NativeCallWatch::Slot, most_at_once> slots;

/// The watching thread.
class Watch {
 public:
  explicit Watch(int rank) : rank_(rank), thread_([this] { run(); }) {}

  void stop() {
    if (getpid() != process_) return;  // in a forked child: the thread exists in the parent only
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    condition_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    const std::chrono::nanoseconds after(wait_warning.after_ns);
    // Detection is late by at most a tenth of the time.
    const auto between = std::clamp<std::chrono::nanoseconds>(after / 10, std::chrono::milliseconds(1),
                                                              std::chrono::seconds(1));
    std::unique_lock lock(mutex_);
    while (!condition_.wait_for(lock, between, [this] { return is_stopping_; })) {
      lock.unlock();  // output to standard error may block
      look();
      lock.lock();
    }
  }

  void look() {
    const std::uint64_t now = monotonic_ns();
    for (std::size_t which = 0; which < slots.size(); ++which) {
      NativeCallWatch::Slot& slot = slots[which];
      const std::uint64_t since = slot.since_ns.load();
      if (since == 0 || since == said_[which] || now < since + wait_warning.after_ns) continue;
      const void* const caller = slot.caller.load();
      const int procs = slot.procs.load();
      const bool makes_communicator = slot.purpose.load() == NativeCallWatch::Purpose::internal_communicator;
      if (slot.since_ns.load() != since) continue;  // that one is over
      said_[which] = since;
      try {
        warn_of_native_wait(rank_, caller, procs, makes_communicator);
      } catch (const std::exception&) {
        // No memory for the sentence: nothing is printed, and the call continues.
      }
    }
  }

  const int rank_;
  const pid_t process_ = getpid();
  std::array<std::uint64_t, most_at_once> said_{};  // starts of calls that have been reported
  std::mutex mutex_;
  std::condition_variable condition_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

/// Never freed: the program may end without MPI_Finalize. Null before the first call, and if no thread can be
/// created.
constinit std::atomic<Watch*> watch = nullptr;

void stop_watch() {
  if (Watch* const running = watch.exchange(nullptr)) running->stop();
}

void start_watch() {
  if (process::are_threads_stopped()) return;
  int rank = 0;
  pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
  sigset_t all, before;  // signals are for the program's threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    watch = new Watch(rank);
    process::at_end(process::EndStage::stop_threads, stop_watch);
  } catch (const std::exception&) {
    // No thread or no memory: nothing is printed.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

[[gnu::tls_model("initial-exec")]] thread_local constinit bool is_inside = false;

}  // namespace

NativeCallWatch::Slot* NativeCallWatch::take(int procs, Purpose purpose) {
  if (is_inside) return nullptr;
  static std::once_flag started;
  std::call_once(started, start_watch);
  if (!watch.load()) return nullptr;
  for (Slot& slot : slots) {
    if (slot.is_taken.exchange(true)) continue;
    slot.caller = recorder::caller;
    slot.procs = procs;
    slot.purpose = purpose;
    slot.since_ns = monotonic_ns();
    is_inside = true;
    return &slot;
  }
  return nullptr;
}

void NativeCallWatch::give_back(Slot& slot) {
  slot.since_ns = 0;
  slot.is_taken = false;
  is_inside = false;
}

}  // namespace convene::runtime
