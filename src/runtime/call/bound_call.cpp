// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/bound_call.hpp"

#include <algorithm>

#include "transport/shared_memory.hpp"

namespace convene::runtime {
namespace {

bool promises(Collective collective, Postcondition postcondition) {
  return traits(collective).postcondition == postcondition;
}

bool is_alltoall(Collective collective) { return promises(collective, Postcondition::alltoall); }
bool is_reduce_scatter(Collective collective) { return promises(collective, Postcondition::reduce_scatter); }

/// True if a call in place has separate places for input and output nevertheless.
bool copies_in_place(Collective collective) {
  return is_alltoall(collective) || is_reduce_scatter(collective);
}

/// Bytes of the largest block: equal on all ranks if all know the sizes of all blocks.
std::uint64_t largest_block_bytes(const Arguments& arguments) {
  if (is_reduce_scatter(arguments.collective)) return arguments.send.largest_block();
  if (arguments.collective == Collective::allgatherv) return arguments.recv.largest_block();
  return arguments.block_bytes(arguments.total_bytes());
}

/// The size of a shared place that may hold any block.
std::size_t largest_place_bytes(const Arguments& arguments, const Prepared& prepared) {
  if (prepared.head > 0) return collective::shared_place_bytes(prepared.head, 1, 1);
  const bool cuts_between = is_reduction(arguments.collective);
  const std::size_t item = cuts_between ? facts_of(arguments.item_type()).size : 1;
  return collective::shared_place_bytes(largest_block_bytes(arguments), std::max<std::size_t>(item, 1),
                                        prepared.segments);
}

/// True if each shared place is as large as a segment of its own block.
bool has_fitted_places(const Arguments& arguments, const Prepared& prepared) {
  return arguments.collective == Collective::allgatherv && !prepared.block_in_place.empty() &&
         !signals_carry(arguments, prepared);
}

/// Calls visit(bytes) for each of these places.
template <class Visit>
void for_each_fitted_place(const Arguments& arguments, const Prepared& prepared, Visit&& visit) {
  const std::size_t item = facts_of(arguments.recv.type).size;
  for (const Rank block : prepared.block_in_place) {
    const std::size_t bytes = item * static_cast<std::size_t>(arguments.recv.blocks.count(block));
    visit(collective::shared_place_bytes(bytes, 1, prepared.segments));
  }
}

}  // namespace

bool must_agree(const Arguments& arguments, const Prepared& prepared) {
  return prepared.relays &&
         (root_alone_knows_sizes(arguments.collective) || has_unequal_pairs(arguments.collective));
}

std::uint64_t shared_bytes(const Arguments& arguments, const Prepared& prepared, std::uint64_t places) {
  if (!has_fitted_places(arguments, prepared)) return places * largest_place_bytes(arguments, prepared);
  std::uint64_t bytes = 0;
  for_each_fitted_place(arguments, prepared, [&](std::uint64_t place) { bytes += place; });
  return bytes;
}

bool signals_carry(const Arguments& arguments, const Prepared& prepared) {
  const std::uint64_t bytes = prepared.head > 0 ? prepared.head : largest_block_bytes(arguments);
  return prepared.signals_can_carry && bytes > 0 && bytes <= SharedMemory::carried_bytes;
}

bool root_alone_knows_sizes(Collective collective) { return sizes_known(collective) == SizesKnown::by_root; }

void note_sizes(const Arguments& arguments, MPI_Count* sizes) {
  std::fill_n(sizes, arguments.procs, 0);
  const bool is_gather = arguments.collective == Collective::gatherv;
  const BufferArgument& all = is_gather ? arguments.recv : arguments.send;
  const BufferArgument& own = is_gather ? arguments.send : arguments.recv;
  const BufferArgument& known = arguments.is_root() ? all : own;
  const auto item = static_cast<MPI_Count>(facts_of(known.type).size);
  for (Rank block = 0; arguments.is_root() && block < arguments.procs; ++block)
    sizes[block] = all.blocks.count(block) * item;
  if (!arguments.is_root()) sizes[arguments.rank] = own.blocks.count(0) * item;
}

BoundCall::BoundCall(const Arguments& arguments, const Prepared& prepared, const Channel& own,
                     std::uint32_t number, Arena& arena, bool staged_output)
    : arguments_(arguments), prepared_(&prepared), staged_output_(staged_output) {
  binding_.schedule = &prepared.schedule;
  binding_.online = prepared.online.get();
  binding_.travel_on(own);
  binding_.collective_number = number;
  if (is_reduction(arguments.collective)) {
    operator_ = ItemOperator(arguments.op, arguments.item_type());
    binding_.op = operator_.bound();
  }
  if (root_alone_knows_sizes(arguments.collective) && (prepared.relays || prepared.has_scratch())) {
    sizes_ = arena.take_array<MPI_Count>(arguments.procs);
    note_sizes(arguments, sizes_);
  }
  // In a correct program received blocks are no larger; in an incorrect one reads stay within the staging.
  if (is_padded())
    largest_ =
        static_cast<std::int64_t>(std::max(arguments.send.largest_block(), arguments.recv.largest_block()));
}

/// If no rank knows the sizes of the blocks that it relays, all blocks are as large as the largest.
bool BoundCall::is_padded() const { return must_agree() && !is_rooted(arguments_.collective); }

void BoundCall::set_sizes(const std::vector<MPI_Count>& sizes) {
  if (sizes_) std::copy(sizes.begin(), sizes.end(), sizes_);
}

int BoundCall::begin_agreement(MPI_Request* request) {
  if (is_padded())
    return pmpi.Iallreduce(MPI_IN_PLACE, &largest_, 1, MPI_INT64_T, MPI_MAX, binding_.comm(), request);
  const int bytes = static_cast<int>(arguments_.procs * sizeof(MPI_Count));
  return pmpi.Ibcast(sizes_, bytes, MPI_BYTE, arguments_.root, binding_.comm(), request);
}

void BoundCall::lay_out_sides(Arena& arena) {
  Layout layout{.segments = prepared_->segments,
                .copied = staged_output_,
                .head = prepared_->head,
                .by_items = is_reduction(arguments_.collective)};
  if (is_padded()) layout.padded_to = static_cast<std::uint64_t>(largest_);
  output_ = PackedBuffer(arguments_.recv, layout, arena);
  // In place, these would overwrite data before it is sent: so their input is a copy.
  layout.copied = arguments_.in_place && copies_in_place(arguments_.collective);
  const bool is_there = is_alltoall(arguments_.collective) && arguments_.in_place;
  input_ = PackedBuffer(is_there ? arguments_.recv : arguments_.send, layout, arena);
  binding_.buffers.input = input_.memory();
  binding_.buffers.output = output_.memory();
}

void BoundCall::lay_out(Arena& arena) {
  lay_out_sides(arena);
  if (prepared_->has_scratch()) {
    lay_out_blocks(arena);
    bind_scratch(prepared_->schedule, binding_.buffers, arena);
  }
  if (is_reduction(arguments_.collective)) operator_.prepare(binding_.comm(), arena);
}

void BoundCall::share(SharedMemory& memory, std::uint64_t places, Arena& arena) {
  binding_.shared_memory = &memory;
  binding_.shared_bytes = shared_bytes(arguments_, *prepared_, places);
  binding_.signals_carry =
      signals_carry(arguments_, *prepared_) && binding_.shared_bytes <= memory.private_bytes();
  binding_.buffers.shared = has_fitted_places(arguments_, *prepared_)
                                ? fitted_places(arena)
                                : Memory::uniform(nullptr, largest_place_bytes(arguments_, *prepared_));
  binding_.begin_shared();
}

/// The shared places, each as large as a segment of its block.
Memory BoundCall::fitted_places(Arena& arena) const {
  const std::size_t places = prepared_->block_in_place.size();
  auto* const bytes = arena.take_array<MPI_Count>(places);
  auto* const at = arena.take_array<MPI_Aint>(places);
  std::size_t place = 0;
  MPI_Aint next = 0;
  for_each_fitted_place(arguments_, *prepared_, [&](std::uint64_t size) {
    at[place] = next;
    bytes[place++] = static_cast<MPI_Count>(size);
    next += static_cast<MPI_Aint>(size);
  });
  return Memory::irregular(nullptr, bytes, at, 1, 1, 1);
}

int BoundCall::prepare(Arena& arena) {
  lay_out(arena);
  return pack();
}

int BoundCall::pack() const {
  const MPI_Comm comm = binding_.comm();
  if (const int code = input_.pack(comm); code != MPI_SUCCESS) return code;
  if (arguments_.collective == Collective::bcast)
    return arguments_.is_root() ? output_.pack(comm) : MPI_SUCCESS;
  // Blocks of missing neighbours are unchanged, and finish() writes all blocks back.
  if (is_neighborhood(arguments_.collective)) return output_.pack(comm);
  const bool own_is_there =
      arguments_.in_place && !copies_in_place(arguments_.collective) && arguments_.recv.is_used();
  if (!own_is_there) return MPI_SUCCESS;
  return output_.pack(has_one_vector(arguments_.collective) ? 0 : arguments_.rank, comm);
}

/// Sizes of blocks, for places in scratch.
void BoundCall::lay_out_blocks(Arena& arena) {
  Memory& blocks = binding_.buffers.blocks;
  if (sizes_) {
    auto* nowhere = arena.take_array<MPI_Aint>(arguments_.procs);
    std::fill_n(nowhere, arguments_.procs, 0);
    blocks = Memory::irregular(nullptr, sizes_, nowhere, 1, 0, prepared_->segments);
  } else if (is_padded() || promises(arguments_.collective, Postcondition::allgather)) {
    blocks = output_.memory();
  } else if (is_reduce_scatter(arguments_.collective)) {
    blocks = input_.memory();
  } else if (has_equal_blocks(arguments_.collective)) {
    const std::uint64_t bytes = arguments_.block_bytes(arguments_.total_bytes());
    blocks = Memory::uniform(nullptr, bytes, prepared_->segments);
    if (is_reduction(arguments_.collective)) blocks.cut_between(facts_of(arguments_.item_type()).size);
  }
}

int BoundCall::finish() const {
  if (arguments_.collective == Collective::bcast && arguments_.is_root()) return MPI_SUCCESS;
  if (arguments_.collective == Collective::exscan && arguments_.rank == 0)
    return MPI_SUCCESS;  // has no result
  return output_.unpack(binding_.comm());
}

}  // namespace convene::runtime
