// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/progress/background.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>

#include "base/poller.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime::background {
namespace {

struct State {
  std::mutex mutex;  // held while the thread is started or stopped; never by the thread itself
  std::unique_ptr<Poller> poller;
  std::uint64_t passes = 0;  // of the program's threads, as last seen: the thread's own
};

State& state() {
  static auto* only = new State;  // never freed: programs finalize in any order
  return *only;
}

std::atomic<Poller*> running{nullptr};
std::atomic<bool> is_settled{false};  // no thread is to be started any more

Poller::Found poll() {
  if (progress::outstanding.load(std::memory_order_acquire) == 0) return Poller::Found::nothing;
  const std::uint64_t passes = progress::passes.load(std::memory_order_relaxed);
  if (passes != state().passes) {
    state().passes = passes;
    return Poller::Found::taken;
  }
  return progress::advance_in_background() ? Poller::Found::moved : Poller::Found::waiting;
}

const char* unmet_requirement() {
  int provided = MPI_THREAD_SINGLE;
  pmpi.Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE
             ? nullptr
             : "no background progress: CONVENE_PROGRESS_THREAD needs MPI_THREAD_MULTIPLE; call "
               "MPI_Init_thread with it, or use `convene run`";
}

/// Ends the thread.
void stop() {
  State& here = state();
  const std::lock_guard lock(here.mutex);
  if (!here.poller) return;
  running = nullptr;
  ProfileRegistry::instance().note_progress_thread(
      {.ran = true, .cpu_seconds = here.poller->cpu_seconds(), .polls = here.poller->polls()});
  here.poller.reset();
}

void start() {
  State& here = state();
  const std::lock_guard lock(here.mutex);
  if (is_settled.exchange(true) || process::are_threads_stopped()) return;
  if (!settings().progress_thread) return;
  ProfileRegistry::instance().note_progress_thread({});
  if (const char* why = unmet_requirement()) return ProfileRegistry::instance().warn(why);
  try {
    here.poller = std::make_unique<Poller>(poll);
  } catch (const std::system_error& error) {
    return ProfileRegistry::instance().warn(std::string("no background progress: ") + error.what());
  }
  process::at_end(process::EndStage::stop_threads, stop);
  const int core = settings().progress_core;
  if (core >= 0 && !here.poller->pin(core))
    ProfileRegistry::instance().warn("CONVENE_PROGRESS_CORE=" + std::to_string(core) +
                                     " is not a core of this process; the progress thread is not bound");
  running.store(here.poller.get(), std::memory_order_release);
}

/// Called when an operation is already in the list: it must not throw. Without the thread there is foreground
/// progress.
void wake() noexcept {
  try {
    if (!is_settled.load(std::memory_order_acquire)) start();
    if (Poller* poller = running.load(std::memory_order_acquire)) poller->wake();
  } catch (...) {
    code_of_exception();
  }
}

}  // namespace

void install() { progress::wake_background.store(wake, std::memory_order_release); }

bool is_available() {
  if (!is_settled.load(std::memory_order_acquire)) start();
  return running.load(std::memory_order_acquire) != nullptr;
}

}  // namespace convene::runtime::background
