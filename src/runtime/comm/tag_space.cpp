// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/tag_space.hpp"

#include <algorithm>
#include <new>
#include <string>

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
  if (is_settled()) return exists();
  const char* why_not = nullptr;
  if (make(internal_communicators < settings().communicators, why_not)) return true;
  is_refused_ = true;
  ProfileRegistry::instance().declare(std::string("a communicator of ") + std::to_string(info_.procs) +
                                      " processes uses native algorithms only: " + why_not);
  return false;
}

void TagSpace::make_ahead(bool may_make) {
  constexpr int share = 4;  // of the limit: not every communicator will have a collective
  const char* why_not = nullptr;
  if (!is_settled()) make(may_make && internal_communicators < settings().communicators / share, why_not);
}

void TagSpace::note_wanted() {
  is_wanted_ = true;
  ProfileRegistry::instance().declare(
      "non-blocking collectives are native on communicators without an internal communicator: the first "
      "blocking collective creates it");
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
  if (!on_all_ranks(made != nullptr, info_.comm)) return false;
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
