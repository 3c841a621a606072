// SPDX-License-Identifier: BSD-3-Clause
#include "transport/doorbells.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace convene::transport {
namespace {

/// Not FUTEX_PRIVATE_FLAG: other processes ring.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void Doorbells::wake(Bell& bell, Event wanted) {
  if (!bell.word.compare_exchange_strong(wanted, awake, std::memory_order_relaxed)) return;
  futex(bell.word, FUTEX_WAKE, 1, nullptr);
}

Doorbells::Outcome Doorbells::wait(Bell& bell, Event event, std::uint64_t timeout_ns) {
  constexpr std::uint64_t second = 1'000'000'000;
  const timespec timeout{static_cast<std::time_t>(timeout_ns / second),
                         static_cast<long>(timeout_ns % second)};
  if (futex(bell.word, FUTEX_WAIT, event, &timeout) == 0 || errno == EAGAIN || errno == EINTR)
    return Outcome::rung;
  if (errno == ETIMEDOUT) return Outcome::timed_out;
  sched_yield();
  return Outcome::refused;
}

}  // namespace convene::transport
