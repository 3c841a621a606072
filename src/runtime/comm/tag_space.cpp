// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/tag_space.hpp"

#include <string>

#include "runtime/comm/consensus.hpp"
#include "runtime/process/process.hpp"
#include "runtime/progress/progress_engine.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"
#include "transport/tags.hpp"

namespace convene::runtime {
namespace {

std::atomic<int> internal_communicators{0};  // of this process

}  // namespace

InternalCommunicator::InternalCommunicator() { ++internal_communicators; }

InternalCommunicator::~InternalCommunicator() {
  --internal_communicators;
  if (is_ready && !has_failed && failure == MPI_SUCCESS && !process::is_finalizing()) pmpi.Comm_free(&comm);
}

void InternalCommunicator::note_failure(int code) {
  failure = code;
  ++handle_generation;
}

int InternalCommunicator::test(bool& ready) {
  if (!is_ready) {
    int done = 0;
    if (const int code = pmpi.Test(&making, &done, MPI_STATUS_IGNORE); code != MPI_SUCCESS) return code;
    if (done) pmpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    is_ready = done != 0;
  }
  ready = is_ready;
  return MPI_SUCCESS;
}

int InternalCommunicator::await() {
  int code = MPI_SUCCESS;
  progress::wait_until([&] {
    bool ready = is_ready;
    if (!ready && progress::outstanding == 0) code = test(ready);
    return ready || code != MPI_SUCCESS;
  });
  return code;
}

bool TagSpace::ensure() {
  if (!internal_ && !is_refused_) is_refused_ = !make();
  return !is_refused_;
}

int TagSpace::begin() {
  if (internal_) return MPI_SUCCESS;
  const ErrorsReturned scope(info_.comm);
  auto made = std::make_shared<InternalCommunicator>();
  is_beginning_ = true;
  const int code = pmpi.Comm_idup(info_.comm, &made->comm, &made->making);
  is_beginning_ = false;
  if (code == MPI_SUCCESS) internal_ = std::move(made);
  return code;
}

MPI_Comm TagSpace::comm() {
  if (const int code = internal_->await(); code != MPI_SUCCESS) internal_->note_failure(code);
  return internal_->comm;
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
  const std::uint32_t numbers = found ? Tags::persistent_numbers(*static_cast<int*>(highest)) : 0;
  return persistent_ < numbers ? ++persistent_ : 0;
}

/// Makes the internal communicator. All ranks agree on whether there is one.
bool TagSpace::make() {
  const ErrorsReturned scope(info_.comm);
  const NativeCallWatch inside(static_cast<int>(info_.procs));
  progressing_barrier(info_.comm);
  const auto refused = [&](const char* why) {
    ProfileRegistry::instance().declare(std::string("a communicator of ") + std::to_string(info_.procs) +
                                        " processes uses native algorithms only: " + why);
    return false;
  };
  if (!on_all_ranks(internal_communicators < settings().communicators, info_.comm))
    return refused("too many communicators are in use at once (CONVENE_COMMUNICATORS is the limit)");
  auto made = std::make_shared<InternalCommunicator>();
  MPI_Group group = MPI_GROUP_NULL;
  pmpi.Comm_group(info_.comm, &group);
  made->is_ready =
      pmpi.Comm_create(info_.comm, group, &made->comm) == MPI_SUCCESS && made->comm != MPI_COMM_NULL;
  pmpi.Group_free(&group);
  if (!on_all_ranks(made->is_ready, info_.comm))
    return refused("the MPI could not make one more communicator");
  pmpi.Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
  internal_ = std::move(made);
  return true;
}

}  // namespace convene::runtime
