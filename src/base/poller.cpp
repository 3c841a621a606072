// SPDX-License-Identifier: BSD-3-Clause
#include "base/poller.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

namespace convene::base {

Poller::Poller(std::function<Found()> poll) : poll_(std::move(poll)), thread_([this] { run(); }) {}

Poller::~Poller() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  condition_.notify_one();
  thread_.join();
}

void Poller::wake() {
  {
    const std::lock_guard lock(mutex_);
    awake_ = true;
    if (!asleep_) return;  // the thread polls anyway
  }
  condition_.notify_one();
}

bool Poller::pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (core < 0 || core >= CPU_SETSIZE) return false;
  CPU_SET(static_cast<unsigned>(core), &set);
  return pthread_setaffinity_np(thread_.native_handle(), sizeof set, &set) == 0;
}

double Poller::cpu_seconds() const {
  clockid_t clock;
  timespec used{};
  // pthread_getcpuclockid() takes no const handle.
  if (pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0 ||
      clock_gettime(clock, &used) != 0)
    return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void Poller::run() {
  prctl(PR_SET_TIMERSLACK, 1000ul);  // nanoseconds; the default would more than double the shortest rest
  auto pause = shortest;
  int found_nothing = 0;
  Found before = Found::nothing;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    awake_ = false;
    lock.unlock();
    const Found found = poll_();
    polls_.fetch_add(1, std::memory_order_relaxed);
    lock.lock();
    found_nothing = found == Found::nothing ? found_nothing + 1 : 0;
    if (found_nothing > looks_before_sleep) {
      sleep(lock);
      found_nothing = 0;
      pause = aside;
    } else if (found == Found::nothing) {
      pause = longest;
    } else if (found == Found::moved) {
      pause = shortest;
    } else if (found == Found::taken && before != Found::taken) {
      pause = aside;
    }
    rest(lock, pause);
    pause = std::min(2 * pause, longest);
    before = found;
  }
}

/// Sleeps until wake().
void Poller::sleep(std::unique_lock<std::mutex>& lock) {
  asleep_ = true;
  condition_.wait(lock, [this] { return awake_ || stopping_; });
  asleep_ = false;
}

/// Rests for a fixed time. A wake() in between takes effect when the time is over.
void Poller::rest(std::unique_lock<std::mutex>& lock, std::chrono::microseconds time) {
  condition_.wait_for(lock, time, [this] { return stopping_; });
}

}  // namespace convene::base
