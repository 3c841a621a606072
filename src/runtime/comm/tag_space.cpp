// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/tag_space.hpp"

#include <algorithm>
#include <new>
#include <string>

#include "base/device_runtime.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/fabric_channel.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"
#include "transport/fabric.hpp"
#include "transport/tags.hpp"

namespace convene::runtime {
namespace {

std::atomic<int> internal_communicators{0};  // of this process

constexpr const char* device_memory_sentence =
    "a GPU runtime is loaded, so that buffers may be device memory (CONVENE_DEVICE_MEMORY=never: none is)";

/// Whether buffers on this node may be device memory, now or after the program loads a runtime.
bool may_load_device_runtime() {
  static const bool has_gpu = settings().assumes_gpu || node_has_gpu();
  return has_gpu && settings().device_memory == DeviceMemory::detect;
}

bool may_have_device_memory_here() {
  return settings().device_memory == DeviceMemory::always ||
         (may_load_device_runtime() && !loaded_device_runtime().empty());
}

}  // namespace

InternalCommunicator::InternalCommunicator() { ++internal_communicators; }

InternalCommunicator::~InternalCommunicator() {
  --internal_communicators;
  transport.reset();
  if (comm != MPI_COMM_NULL && !has_failed && failure == MPI_SUCCESS && !process::is_finalizing())
    pmpi.Comm_free(&comm);
}

void InternalCommunicator::note_failure(int code) {
  failure = code;
  ++handle_generation;
}

bool TagSpace::ensure() {
  const char* why_not = nullptr;
  if (internal_ && !has_checked_devices_) {
    if (check_devices()) return true;
    why_not = device_memory_sentence;
  } else if (is_settled()) {
    return exists();
  } else if (make(internal_communicators < settings().communicators, why_not)) {
    return has_checked_devices_ = true;
  }
  refuse(why_not);
  return false;
}

void TagSpace::refuse(const char* why) {
  is_refused_ = true;
  ProfileRegistry::instance().declare(std::string("a communicator of ") + std::to_string(info_.procs) +
                                      " processes uses native algorithms only: " + why);
}

void TagSpace::make_ahead(bool may_make) {
  constexpr int share = 4;  // of the limit: not every communicator will have a collective
  const char* why_not = nullptr;
  if (internal_ || is_settled()) return;
  const bool is_made = make(may_make && internal_communicators < settings().communicators / share, why_not);
  if (!is_made && may_have_device_memory_) refuse(why_not);
}

/// One that was made ahead, when the program might not have loaded its GPU runtime. Collective, may wait.
bool TagSpace::check_devices() {
  const ErrorsReturned scope(info_.comm);
  const NativeCallWatch inside(static_cast<int>(info_.procs),
                               NativeCallWatch::Purpose::internal_communicator);
  progressing_barrier(info_.comm);
  may_have_device_memory_ = !on_all_ranks(!may_have_device_memory_here(), info_.comm);
  has_checked_devices_ = true;
  return !may_have_device_memory_;
}

void TagSpace::note_wanted() {
  is_wanted_ = true;
  ProfileRegistry::instance().declare(
      internal_
          ? "non-blocking collectives are native before the first blocking one, which agrees on whether "
            "buffers may be device memory (CONVENE_DEVICE_MEMORY=never: none is)"
          : "non-blocking collectives are native on communicators without an internal communicator: the "
            "first blocking collective creates it");
}

std::uint32_t TagSpace::await_next_collective() {
  const std::uint32_t number = next_collective();
  progress::wait_until([&] { return internal_->tag_window.tag_is_free(number); });
  return number;
}

void TagSpace::await_agreements() {
  progress::wait_until([&] { return internal_->tag_window.may_agree(); });
}

std::uint32_t TagSpace::next_persistent() {
  void* highest = nullptr;
  int found = 0;
  pmpi.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &found);
  int last = found ? *static_cast<int*>(highest) : 0;
  if (internal_ && internal_->transport) last = std::min(last, Fabric::highest_tag);
  const std::uint32_t numbers = found ? Tags::persistent_numbers(last) : 0;
  return persistent_ < numbers ? ++persistent_ : 0;
}

/// Creates the internal communicator. All ranks agree on the result.
bool TagSpace::make(bool may_make, const char*& why_not) {
  const ErrorsReturned scope(info_.comm);
  const NativeCallWatch inside(static_cast<int>(info_.procs),
                               NativeCallWatch::Purpose::internal_communicator);
  progressing_barrier(info_.comm);
  why_not = "more communicators are in use than CONVENE_COMMUNICATORS allows";
  std::shared_ptr<InternalCommunicator> made;
  if (may_make) try {
      made = std::make_shared<InternalCommunicator>();
    } catch (const std::bad_alloc&) {
      // This rank refuses; the others wait for its answer.
    }
  if (may_make) why_not = "another rank may not create one, or has no memory";
  if (may_make && !made) why_not = "out of memory";
  enum Answer : std::int8_t { device_memory = -1, no, yes_for_now, yes };
  const Answer mine = may_have_device_memory_here() ? device_memory
                      : !made                       ? no
                      : may_load_device_runtime()   ? yes_for_now
                                                    : yes;
  const int all = least_of_all(mine, no, info_.comm);
  may_have_device_memory_ = all == device_memory;
  has_checked_devices_ = all == yes;
  if (may_have_device_memory_) why_not = device_memory_sentence;
  if (all < yes_for_now) return false;
  MPI_Group group = MPI_GROUP_NULL;
  pmpi.Comm_group(info_.comm, &group);
  const bool is_made =
      pmpi.Comm_create(info_.comm, group, &made->comm) == MPI_SUCCESS && made->comm != MPI_COMM_NULL;
  pmpi.Group_free(&group);
  if (!is_made) made->comm = MPI_COMM_NULL;
  why_not = "the MPI could not create another communicator";
  if (!on_all_ranks(is_made, info_.comm)) return false;
  pmpi.Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
  if (settings().uses_fabric) made->transport = open_fabric(made->comm, info_);
  internal_ = std::move(made);
  return true;
}

}  // namespace convene::runtime
