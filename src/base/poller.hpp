// SPDX-License-Identifier: BSD-3-Clause
// Polling thread: calls a function until it reports progress, and sleeps while there is nothing to poll.
//
// Design notes
// - The thread owns nothing. It calls poll() with no lock held, so poll() may take any, and may call the MPI.
// - One mutex and one condition variable: `awake_` means that there may be work. wake() sets it. The thread
//   clears it before the poll() that finds no work; a wake() after that poll() sets it again.
// - While there is work, the interval between polls grows from `shortest` to `longest`, and is reset by
//   progress. If another thread is driving, the interval starts at `aside`: each poll takes a core from
//   another thread.
// - The thread sleeps only after several polls without work; until then a wake() needs no system call. A
//   woken thread rests before its first poll: the caller of wake() may be about to wait for the work itself,
//   and would compete with the thread. (A thread that was not asleep may poll at that moment; poll() must
//   detect that another thread is driving.)
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "base/layers.hpp"

namespace convene::base {

class Poller {
 public:
  /// Result of poll(): no work until wake(); pending work without progress; progress; or another thread is
  /// driving.
  enum class Found : std::uint8_t { nothing, waiting, moved, taken };

  /// Starts the thread. Throws std::system_error if no thread can be created.
  explicit Poller(std::function<Found()> poll);
  /// Stops the thread, after the current poll() has returned.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Announces possible work. Any thread may call it.
  void wake();

  /// Pins the thread to one core. Returns false if the system does not allow it.
  bool pin(int core);

  /// CPU time of the thread in seconds, and the number of its calls of poll().
  double cpu_seconds() const;
  std::uint64_t polls() const { return polls_.load(std::memory_order_relaxed); }

  static constexpr std::chrono::microseconds shortest{20}, aside{100}, longest{500};
  static constexpr int looks_before_sleep = 4;

 private:
  void run();
  void sleep(std::unique_lock<std::mutex>& lock);
  void rest(std::unique_lock<std::mutex>& lock, std::chrono::microseconds time);

  const std::function<Found()> poll_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool awake_ = true, asleep_ = false, stopping_ = false;  // guarded by the mutex
  std::atomic<std::uint64_t> polls_{0};
  std::thread thread_;  // the last member: the thread uses all of the above
};

}  // namespace convene::base
