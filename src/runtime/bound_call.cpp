// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/bound_call.hpp"

#include <algorithm>

namespace convene {
namespace {

bool is_alltoall(Collective collective) {
  return collective == Collective::alltoall || collective == Collective::alltoallv;
}

bool is_allgather(Collective collective) {
  return collective == Collective::allgather || collective == Collective::allgatherv;
}

}  // namespace

BoundCall::BoundCall(const Arguments& arguments, const Prepared& prepared, MPI_Comm own, std::uint32_t number,
                     Arena& arena)
    : arguments_(arguments), prepared_(&prepared) {
  binding_.schedule = &prepared.schedule;
  binding_.comm = own;
  binding_.collective_number = number;
  output_ = Bytes(arguments.recv, prepared.segments, false, arena);
  // An all-to-all in place would overwrite what it has not sent yet: its input is a copy.
  input_ = arguments.in_place && is_alltoall(arguments.collective)
               ? Bytes(arguments.recv, prepared.segments, true, arena)
               : Bytes(arguments.send, prepared.segments, false, arena);
  binding_.buffers.input = input_.memory();
  binding_.buffers.output = output_.memory();
  const bool root_alone_knows = !has_equal_blocks(arguments.collective) && is_rooted(arguments.collective);
  if (root_alone_knows && (prepared.relays || prepared.has_scratch())) note_sizes(arena);
}

/// The sizes that this rank knows: at the root all, elsewhere its own.
void BoundCall::note_sizes(Arena& arena) {
  sizes_ = arena.take_array<MPI_Count>(arguments_.procs);
  std::fill_n(sizes_, arguments_.procs, 0);
  const bool is_gather = arguments_.collective == Collective::gatherv;
  const Side& all = is_gather ? arguments_.recv : arguments_.send;
  const Side& own = is_gather ? arguments_.send : arguments_.recv;
  const Side& known = arguments_.is_root() ? all : own;
  const auto item = static_cast<MPI_Count>(facts_of(known.type).size);
  for (Rank block = 0; arguments_.is_root() && block < arguments_.procs; ++block)
    sizes_[block] = all.blocks.count(block) * item;
  if (!arguments_.is_root()) sizes_[arguments_.rank] = own.blocks.count(0) * item;
}

int BoundCall::prepare(Arena& arena) {
  if (prepared_->has_scratch()) {
    lay_out_blocks(arena);
    bind_scratch(prepared_->schedule, binding_.buffers, arena);
  }
  return fetch();
}

int BoundCall::fetch() const {
  const MPI_Comm comm = binding_.comm;
  if (const int code = input_.fetch(comm); code != MPI_SUCCESS) return code;
  if (arguments_.collective == Collective::bcast)
    return arguments_.is_root() ? output_.fetch(comm) : MPI_SUCCESS;
  const bool own_is_there =
      arguments_.in_place && !is_alltoall(arguments_.collective) && arguments_.recv.is_used();
  return own_is_there ? output_.fetch(arguments_.rank, comm) : MPI_SUCCESS;
}

/// How large blocks are, where places in scratch have to be as large.
void BoundCall::lay_out_blocks(Arena& arena) {
  Memory& blocks = binding_.buffers.blocks;
  if (sizes_) {
    auto* nowhere = arena.take_array<MPI_Aint>(arguments_.procs);
    std::fill_n(nowhere, arguments_.procs, 0);
    blocks = Memory::irregular(nullptr, sizes_, nowhere, 1, 0, prepared_->segments);
  } else if (is_allgather(arguments_.collective)) {
    blocks = output_.memory();
  } else if (has_equal_blocks(arguments_.collective)) {
    const std::uint64_t bytes = arguments_.block_bytes(arguments_.total_bytes());
    blocks = Memory::uniform(nullptr, bytes, prepared_->segments);
  }
}

int BoundCall::finish() const {
  if (arguments_.collective == Collective::bcast && arguments_.is_root()) return MPI_SUCCESS;
  return output_.deliver(binding_.comm);
}

}  // namespace convene
