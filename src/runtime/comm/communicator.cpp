// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/communicator.hpp"

#include "runtime/call/failure.hpp"

namespace convene::runtime {

Communicator::Communicator(MPI_Comm comm) : info_(info_of(comm)) {}

Communicator::~Communicator() {
  try {
    if (recording_) recording_->close();
  } catch (...) {
    code_of_exception();
  }
}

std::shared_ptr<Decision> Communicator::decide(const CallSignature& call) {
  if (is_neighborhood(call.collective)) neighbors();
  std::shared_ptr<Decision> decision = decisions_.decide(call);
  stats_.profile()->nodes = nodes_.nodes();
  return decision;
}

SharedMemory* Communicator::share(std::uint64_t bytes) {
  const SharedMemory* const before = shared_memory_.current();
  SharedMemory* const memory = shared_memory_.at_least(bytes);
  if (shared_memory_.current() != before) fast_path().forget();  // its binding refers to the previous memory
  return memory;
}

const Neighbors& Communicator::neighbors() {
  if (!neighbors_.has_been_looked_for) {
    neighbors_.has_been_looked_for = true;
    if (!is_inter()) neighbors_.graph = own_neighbors(comm(), rank(), procs());
  }
  return neighbors_;
}

int Communicator::begin_operations() {
  if (!has_seen_operations_) fast_path().forget();  // native calls may change form now
  has_seen_operations_ = true;
  const bool is_new = !tags_.shared();
  const int code = tags_.begin();
  if (is_new) fast_path().forget();  // a copy callback's call was native, and would stay so
  return code;
}

std::size_t Communicator::memory() const {
  return sizeof *this + arena_.memory() + decisions_.memory() + stats_.memory();
}

}  // namespace convene::runtime
