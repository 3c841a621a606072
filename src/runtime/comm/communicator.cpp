// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/communicator.hpp"

#include "runtime/call/failure.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/comm/shared_wisdom.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime {

Communicator::Communicator(MPI_Comm comm) : info_(info_of(comm)) {}

Communicator::~Communicator() {
  try {
    if (recording_) recording_->close();
  } catch (...) {
    code_of_exception();
  }
}

namespace {

/// Whether an algorithm of Convene's may be chosen on a communicator; equal on all its ranks. (One with ranks
/// of other groups agrees on wisdom in its first blocking call. Wisdom is not considered here for it.)
bool may_choose(const CommInfo& info) noexcept try {
  if (!settings().selection.all_native()) return true;
  const auto wisdom = wisdom_of_world(info);
  return wisdom && !wisdom->selection.all_native();
} catch (...) {
  code_of_exception();
  return true;  // the other ranks are in make_ahead(): ranks without memory take part there, and refuse
}

}  // namespace

void Communicator::prepare(MPI_Comm comm) noexcept {
  if (comm == MPI_COMM_NULL) return;
  const bool is_native = settings().selection.all_native() && world_wisdom_is_native();
  if (is_native && !settings().check_agreement) return;
  const CommInfo info = info_of(comm);
  if (info.is_inter || info.procs == 1) return;
  const bool may_make = !is_native && may_choose(info);
  if (!may_make && !settings().check_agreement) return;
  if (Communicator* const communicator = of(comm)) {
    communicator->tags().make_ahead(may_make);
    return communicator->share_ahead();
  }
  progressing_barrier(comm);  // no memory for a handle: as make_ahead(), which the other ranks are in
  on_all_ranks(false, comm);
}

/// Maps memory for non-blocking calls that may use it: they cannot do so themselves. Collective; waits.
void Communicator::share_ahead() try {
  if (!tags_.exists() || !settings().selection.may_share_memory()) return;
  decisions_.find_nodes(true, true);
  if (nodes_.is_known()) shared_memory_.map_ahead();
} catch (...) {
  note_failure(comm(), code_of_exception());
}

const std::shared_ptr<Decision>& Communicator::decide(const CallSignature& call) {
  if (is_neighborhood(call.collective)) neighbors();
  if (call.may_block && shared_memory_.wants_lanes()) shared_memory_.map_lanes();
  const std::shared_ptr<Decision>& decision = decisions_.decide(call);
  stats_.profile()->nodes = nodes_.nodes();
  return decision;
}

SharedMemory* Communicator::share(std::uint64_t bytes) {
  const SharedMemory* const before = shared_memory_.current();
  SharedMemory* const memory = shared_memory_.at_least(bytes);
  if (shared_memory_.current() != before) fast_path().forget();  // its binding refers to the previous memory
  return memory;
}

std::shared_ptr<SharedLanes> Communicator::lanes(std::uint64_t bytes) {
  const bool wanted_before = shared_memory_.wants_lanes();
  std::shared_ptr<SharedLanes> lanes = shared_memory_.lanes(bytes);
  if (wanted_before || !shared_memory_.wants_lanes()) return lanes;
  fast_path().forget();  // the next blocking call, on all ranks, takes the way that maps memory
  ProfileRegistry::instance().declare(
      "non-blocking collectives are native where they need more shared memory than is mapped: the next "
      "blocking collective on the communicator maps it");
  return lanes;
}

const Neighbors& Communicator::neighbors() {
  if (!neighbors_.has_been_looked_for) {
    neighbors_.has_been_looked_for = true;
    if (!is_inter()) neighbors_.graph = own_neighbors(comm(), rank(), procs());
  }
  return neighbors_;
}

void Communicator::note_operations() {
  if (!has_seen_operations_) fast_path().forget();  // native calls may change form now
  has_seen_operations_ = true;
}

std::size_t Communicator::memory() const {
  return sizeof *this + arena_.memory() + tags_.memory() + decisions_.memory() + learning_.memory() +
         stats_.memory();
}

}  // namespace convene::runtime
