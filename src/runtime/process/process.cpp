// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/process/process.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "mpi/functions.hpp"
#include "runtime/call/failure.hpp"

namespace convene::runtime::process {
namespace {

struct Ends {
  std::mutex mutex;
  std::vector<std::pair<EndStage, void (*)()>> actions;
  bool is_watched = false;  // the attribute is set
  std::atomic<bool> is_finalizing{false}, are_threads_stopped{false}, collects{false};

  static Ends& instance() {
    static Ends* only = new Ends;  // never freed: MPI_Finalize may be called after static destructors
    return *only;
  }
};

void run_stage(EndStage stage) try {
  Ends& ends = Ends::instance();
  std::vector<void (*)()> due;
  {
    const std::lock_guard lock(ends.mutex);
    std::erase_if(ends.actions, [&](const auto& action) {
      if (action.first != stage) return false;
      due.push_back(action.second);
      return true;
    });
  }
  for (void (*const action)() : due) {
    try {
      action();
    } catch (...) {
      code_of_exception();  // the actions that follow still run
    }
  }
} catch (...) {
  code_of_exception();
}

int on_copy(MPI_Comm, int, void*, void*, void*, int* copied) {
  *copied = 0;
  return MPI_SUCCESS;
}

void end_all() {
  Ends::instance().are_threads_stopped = true;
  run_stage(EndStage::stop_threads);
  run_stage(EndStage::drain);
  Ends::instance().is_finalizing = true;
  run_stage(EndStage::close);
  run_stage(EndStage::write_recordings);
  run_stage(EndStage::collect);
}

}  // namespace

void before_finalize() {
  Ends& ends = Ends::instance();
  if (ends.collects) return end_all();
  ends.are_threads_stopped = true;
  run_stage(EndStage::stop_threads);
}

namespace {

int on_finalize(MPI_Comm, int, void*, void*) try {
  end_all();
  return MPI_SUCCESS;
} catch (...) {
  return code_of_exception();
}

void watch_end() {
  int keyval = MPI_KEYVAL_INVALID;
  pmpi.Comm_create_keyval(on_copy, on_finalize, &keyval, nullptr);
  pmpi.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

}  // namespace

void at_end(EndStage stage, void (*action)()) {
  Ends& ends = Ends::instance();
  if (stage == EndStage::collect) ends.collects = true;
  bool is_first = false;
  {
    const std::lock_guard lock(ends.mutex);
    ends.actions.emplace_back(stage, action);
    is_first = !std::exchange(ends.is_watched, true);
  }
  if (is_first) watch_end();
}

bool are_threads_stopped() { return Ends::instance().are_threads_stopped.load(); }

bool is_finalizing() { return Ends::instance().is_finalizing.load(); }

}  // namespace convene::runtime::process
