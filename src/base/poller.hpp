// SPDX-License-Identifier: BSD-3-Clause
// A thread that looks again and again whether something has moved, and sleeps while there is nothing to look
// for.
//
// Design notes
// - The thread owns nothing. It calls poll() with no lock held, so poll() may take any, and may call the MPI.
// - One mutex and one condition: `awake_` says that there may be something to do. wake() sets it, and the
//   thread clears it before the poll() that finds nothing to do: what comes after that poll() sets it again.
// - While there is something to do, the time between two looks grows from `shortest` to `longest`, and starts
//   again when something has moved. Where another thread is at it, that time is `aside` at first: a look
//   takes a core from somebody.
// - It falls asleep after some looks that found nothing: until then a wake() costs no call of the system.
//   When it is woken it rests before it looks: who gives it work may be about to wait for it, and would find
//   the thread in the way. (A thread that was not asleep may look just then; poll() has to see that another
//   one is at it.)
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
  /// What poll() found: nothing to do until wake(); something that has not moved; something that has; or that
  /// another thread is at it.
  enum class Found : std::uint8_t { nothing, waiting, moved, taken };

  /// Starts the thread. Throws std::system_error where there can be none.
  explicit Poller(std::function<Found()> poll);
  /// Stops it. The poll() that is running comes to its end before.
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// There may be something to do now. Any thread may call it.
  void wake();

  /// Keeps the thread on one core. Returns false where the system does not allow that.
  bool pin(int core);

  /// Seconds of a processor's time that the thread has used, and how often it has called poll().
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
  bool awake_ = true, asleep_ = false, stopping_ = false;  // under the mutex
  std::atomic<std::uint64_t> polls_{0};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace convene::base
