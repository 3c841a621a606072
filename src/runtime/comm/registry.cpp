// SPDX-License-Identifier: BSD-3-Clause
// Registry of communicator handles: the attribute under which a handle is found, and the list of all of them.
#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "execute/stall_detector.hpp"
#include "mpi/stack.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/background.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/wait_warning.hpp"

namespace convene::runtime {

struct Registry {
  std::mutex mutex;
  std::vector<Communicator*> live;

  static Registry& instance() {
    static Registry* registry = new Registry;  // never freed: MPI_Finalize may be called after static
                                               // destructors
    return *registry;
  }

  /// The keyval is created with the first handle.
  int key() {
    static const int once = make_key();
    return once;
  }

  Communicator* find(MPI_Comm comm, bool may_make);
  Communicator* make(MPI_Comm comm);
  /// Removes a handle from the list. False if it is not there: it was deleted at the end of the process's
  /// runtime.
  bool remove(Communicator* handle);

 private:
  static int make_key();
  static int on_copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* copied);
  static int on_delete(MPI_Comm comm, int keyval, void* value, void* extra);
  static void close();
};

int Registry::make_key() {
  int keyval = MPI_KEYVAL_INVALID;
  pmpi.Comm_create_keyval(on_copy, on_delete, &keyval, nullptr);
  ProfileRegistry::instance();
  background::install();
  if (settings().wait_warning > 0)
    wait_warning = {static_cast<std::uint64_t>(settings().wait_warning), warn_of_missing_peers};
  process::at_end(process::EndStage::drain, progress::drain);
  process::at_end(process::EndStage::close, close);
  return keyval;
}

/// A handle belongs to one communicator: a duplicate starts without one.
int Registry::on_copy(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

int Registry::on_delete(MPI_Comm, int, void* value, void*) try {
  auto* handle = static_cast<Communicator*>(value);
  ++handle_generation;
  if (instance().remove(handle)) delete handle;
  return MPI_SUCCESS;
} catch (...) {
  return code_of_exception();
}

bool Registry::remove(Communicator* handle) {
  const std::lock_guard lock(mutex);
  const auto at = std::find(live.begin(), live.end(), handle);
  if (at == live.end()) return false;
  *at = live.back();
  live.pop_back();
  return true;
}

/// Stage `close` of the end: no further handle is returned.
void Registry::close() {
  progress::delete_deferred();
  ++handle_generation;
  std::vector<Communicator*> handles;
  {
    Registry& registry = instance();
    const std::lock_guard lock(registry.mutex);
    handles.swap(registry.live);
  }
  std::deque<const CommProfile*> profiles;
  for (Communicator* handle : handles) profiles.push_back(handle->stats().profile().get());
  ProfileRegistry::instance().write(profiles);
  for (const Communicator* handle : handles) delete handle;
}

Communicator* Registry::find(MPI_Comm comm, bool may_make) {
  // At the end attributes still refer to deleted handles: callbacks of the program may call collectives until
  // then.
  if (comm == MPI_COMM_NULL || process::is_finalizing()) return nullptr;
  void* value = nullptr;
  int found = 0;
  if (pmpi.Comm_get_attr(comm, key(), static_cast<void*>(&value), &found) != MPI_SUCCESS) return nullptr;
  if (found) return static_cast<Communicator*>(value);
  return may_make ? make(comm) : nullptr;
}

Communicator* Registry::make(MPI_Comm comm) {
  std::unique_ptr<Communicator> handle(new Communicator(comm));
  const int keyval = key();
  {
    const std::lock_guard lock(mutex);
    live.push_back(handle.get());  // first: nothing may fail once the attribute is set
  }
  if (pmpi.Comm_set_attr(comm, keyval, handle.get()) == MPI_SUCCESS) return handle.release();
  remove(handle.get());
  return nullptr;
}

thread_local constinit Communicator::LastLookup Communicator::last_lookup_{};

Communicator* Communicator::find_or_make(MPI_Comm comm) noexcept {
  try {
    return look_up(comm);
  } catch (...) {
    return nullptr;
  }
}

Communicator* Communicator::look_up(MPI_Comm comm) {
  const std::uint64_t now = handle_generation.load(std::memory_order_acquire);
  Communicator* handle = Registry::instance().find(comm, true);
  if (handle && handle->failure() != MPI_SUCCESS) handle->fast_path().forget();
  last_lookup_ = {comm, handle, now};
  return handle;
}

void Communicator::note_failure(MPI_Comm comm, int code) noexcept {
  try {
    Communicator* communicator = known(comm);
    if (!communicator) return;
    if (communicator->failure() == MPI_SUCCESS) communicator->failure_ = code;
    communicator->tags_.note_error();
    communicator->fast_path().forget();
  } catch (...) {
    // The registry itself could not be created: there is no handle.
  }
}

Communicator* Communicator::known(MPI_Comm comm) { return Registry::instance().find(comm, false); }

}  // namespace convene::runtime
