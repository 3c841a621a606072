// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/progress/progress_engine.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "execute/stall_detector.hpp"
#include "mpi/stack.hpp"
#include "runtime/call/failure.hpp"

namespace convene::runtime {

bool Progressing::advance_guarded() noexcept {
  try {
    return advance();
  } catch (...) {
    fail(code_of_exception());
    return false;
  }
}

namespace progress {
namespace {

std::mutex mutex;
/// Never destroyed: programs finalize in any order. Created without an allocation: the list is read inside
/// the MPI.
using List = std::vector<Progressing*>;
List& operations() {
  alignas(List) static std::byte memory[sizeof(List)];
  static List* const only = new (memory) List;
  return *only;
}
std::atomic<Progressing*> first_deferred{nullptr};
std::atomic_flag driver = ATOMIC_FLAG_INIT;
std::atomic<std::uint64_t> movements{0};

/// Callback of the MPI's progress engine.
int on_progress() {
  if (outstanding.load(std::memory_order_relaxed) > 0) advance_all();
  return 0;
}

std::atomic<bool> is_refused{false};  // the MPI has a hook, but rejected the callback

/// Registers with the MPI's progress engine. Not before an operation is pending: each poll for messages is
/// more expensive then.
void register_hook() { is_refused = !stack::add_progress_callback(on_progress); }

Progressing* at(std::size_t i) {
  const std::lock_guard lock(mutex);
  return i < operations().size() ? operations()[i] : nullptr;
}

void remove(const Progressing* operation) {
  const std::lock_guard lock(mutex);
  std::erase(operations(), operation);
}

}  // namespace

bool has_hook() {
  if constexpr (!stack::has_progress_hook) return false;
  static const bool exists = stack::can_add_progress_callback();
  return exists && !is_refused.load(std::memory_order_relaxed);
}

bool can_progress() {
  static const bool has_extended_requests = stack::can_extend_requests();
  return has_hook() || has_extended_requests || intercepts_waits.load(std::memory_order_relaxed);
}

void add(Progressing* operation) {
  static const bool once = (register_hook(), true);
  static_cast<void>(once);
  {
    const std::lock_guard lock(mutex);
    operations().push_back(operation);
    ++outstanding;
  }
  if (void (*const wake)() = wake_background.load(std::memory_order_acquire)) wake();
}

void defer_delete(Progressing* operation) {
  const std::lock_guard lock(mutex);
  operation->next_deferred_ = first_deferred.load(std::memory_order_relaxed);
  first_deferred.store(operation, std::memory_order_relaxed);
}

void delete_deferred() {
  Progressing* next;
  {
    const std::lock_guard lock(mutex);
    next = first_deferred.exchange(nullptr, std::memory_order_relaxed);
  }
  while (next) delete std::exchange(next, next->next_deferred_);
}

void note_movement() {
  movements.store(movements.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool advance_in_background() {
  is_in_background = true;
  if (driver.test_and_set(std::memory_order_acquire)) return false;
  const std::uint64_t before = movements.load(std::memory_order_relaxed);
  for (std::size_t i = 0; Progressing* operation = at(i); ++i)
    if (operation->may_progress_in_background()) operation->advance_guarded();
  const bool moved = movements.load(std::memory_order_relaxed) != before;
  driver.clear(std::memory_order_release);
  return moved;
}

void drain() {
  bool waits = false;
  for (std::size_t i = 0; Progressing* operation = at(i); ++i) waits = operation->close() || waits;
  constexpr auto patience = std::chrono::seconds(1);
  const auto end = std::chrono::steady_clock::now() + patience;
  if (waits) wait_until([&] { return outstanding == 0 || std::chrono::steady_clock::now() > end; });
  const std::lock_guard lock(mutex);
  operations().clear();
  outstanding = 0;
}

void advance_all() {
  if (is_in_background) return;  // the MPI's hook is also called from the background thread's own calls
  if (first_deferred.load(std::memory_order_relaxed)) delete_deferred();
  passes.store(passes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (driver.test_and_set(std::memory_order_acquire)) return;
  for (std::size_t i = 0;;) {
    Progressing* operation = at(i);
    if (!operation) break;
    if (!operation->advance_guarded()) {
      ++i;
      continue;
    }
    remove(operation);
    --outstanding;
    operation->complete();
  }
  driver.clear(std::memory_order_release);
}

int await(MPI_Request* request) {
  if (may_block()) return pmpi.Wait(request, MPI_STATUS_IGNORE);
  int done = 0, code = MPI_SUCCESS;
  wait_until([&] {
    code = pmpi.Test(request, &done, MPI_STATUS_IGNORE);
    return done != 0 || code != MPI_SUCCESS;
  });
  return code;
}

void Patience::lose() {
  constexpr int most = 100;
  if (++polls_ % most == 0) sched_yield();
}

}  // namespace progress
}  // namespace convene::runtime
