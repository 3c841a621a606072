// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/buffer_argument.hpp"

#include <algorithm>
#include <cstring>

namespace convene::runtime {

std::optional<std::uint64_t> Blocks::total() const {
  if (is_uniform())
    return each_ < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(each_) * number_);
  std::uint64_t sum = 0;
  for (Rank block = 0; block < number_; ++block) {
    const MPI_Count items = count(block);
    if (items < 0) return std::nullopt;
    sum += static_cast<std::uint64_t>(items);
  }
  return sum;
}

Memory Blocks::memory(void* base, const TypeFacts& facts, std::uint32_t segments) const {
  if (narrow_) return Memory::irregular(base, narrow_, narrow_at_, facts.size, facts.extent, segments);
  if (wide_) return Memory::irregular(base, wide_, wide_at_, facts.size, facts.extent, segments);
  return Memory::uniform(base, facts.size * static_cast<std::size_t>(each_), segments);
}

Blocks Blocks::with_displacements(Arena& arena) const {
  return narrow_at_ || wide_at_ ? *this : back_to_back(arena);
}

Blocks Blocks::kept(Arena& arena) const {
  if (is_uniform()) return *this;
  const bool has_displacements = narrow_at_ || wide_at_;
  auto* counts = arena.take_array<MPI_Count>(number_);
  auto* displacements = has_displacements ? arena.take_array<MPI_Aint>(number_) : nullptr;
  for (Rank block = 0; block < number_; ++block) {
    counts[block] = count(block);
    if (has_displacements) displacements[block] = static_cast<MPI_Aint>(at(block));
  }
  return {number_, counts, displacements};
}

Blocks Blocks::back_to_back(Arena& arena) const {
  if (is_uniform()) return *this;
  auto* counts = arena.take_array<MPI_Count>(number_);
  auto* at = arena.take_array<MPI_Aint>(number_);
  MPI_Aint next = 0;
  for (Rank block = 0; block < number_; ++block) {
    counts[block] = count(block);
    at[block] = next;
    next += static_cast<MPI_Aint>(counts[block]);
  }
  return {number_, counts, at};
}

bool BufferArgument::has_types() const {
  if (!types) return type != MPI_DATATYPE_NULL;
  for (Rank block = 0; block < blocks.number(); ++block)
    if (types[block] == MPI_DATATYPE_NULL && blocks.count(block) != 0) return false;
  return true;
}

std::size_t BufferArgument::bytes(Rank block) const {
  const MPI_Count items = blocks.count(block);
  return items > 0 ? facts_of(type_of(block)).size * static_cast<std::size_t>(items) : 0;
}

std::size_t BufferArgument::largest_block() const {
  std::size_t most = 0;
  if (types)
    for (Rank block = 0; block < blocks.number(); ++block) most = std::max(most, bytes(block));
  if (types || !is_used()) return most;
  MPI_Count items = 0;
  for (Rank block = 0; block < blocks.number(); ++block) items = std::max(items, blocks.count(block));
  return facts_of(type).size * static_cast<std::size_t>(items);
}

namespace {

/// Facts of the bytes that blocks of several types consist of.
TypeFacts facts_of_bytes(const BufferArgument& argument) {
  TypeFacts facts{.size = 1, .extent = 1, .is_contiguous = true, .is_dense = true};
  for (Rank block = 0; block < argument.blocks.number(); ++block)
    if (argument.blocks.count(block) > 0 && !facts_of(argument.types[block]).is_contiguous)
      facts.is_contiguous = facts.is_dense = false;
  return facts;
}

/// The blocks with counts in bytes, as their displacements are.
Blocks blocks_in_bytes(const BufferArgument& argument, Arena& arena) {
  const Rank number = argument.blocks.number();
  auto* counts = arena.take_array<MPI_Count>(number);
  auto* at = arena.take_array<MPI_Aint>(number);
  for (Rank block = 0; block < number; ++block) {
    counts[block] = static_cast<MPI_Count>(argument.bytes(block));
    at[block] = static_cast<MPI_Aint>(argument.blocks.at(block));
  }
  return {number, counts, at};
}

}  // namespace

PackedBuffer::PackedBuffer(const BufferArgument& argument, const Layout& layout, Arena& arena)
    : argument_(argument) {
  if (!argument.is_used()) return;
  argument_.blocks = argument.blocks.with_displacements(arena);
  facts_ = argument.types ? facts_of_bytes(argument) : facts_of(argument.type);
  const Blocks blocks = argument.types ? blocks_in_bytes(argument_, arena) : argument_.blocks;
  if (layout.by_items) facts_.is_contiguous = facts_.is_dense;
  if (layout.padded_to) {
    staging_ = arena.take(*layout.padded_to * argument.blocks.number());
    memory_ = Memory::uniform(staging_, *layout.padded_to, layout.segments);
  } else if (facts_.is_contiguous && !layout.copied) {
    memory_ = blocks.memory(argument.buffer, facts_, layout.segments);
  } else {
    staging_ = arena.take(facts_.size * blocks.total().value_or(0));
    TypeFacts packed = facts_;
    packed.extent = static_cast<std::ptrdiff_t>(facts_.size);
    memory_ = blocks.back_to_back(arena).memory(staging_, packed, layout.segments);
  }
  if (layout.by_items) memory_.cut_between(facts_.size);
  memory_.cut_after(layout.head);
}

void* PackedBuffer::items(Rank block) const {
  return static_cast<std::byte*>(argument_.buffer) + facts_.extent * argument_.blocks.at(block);
}

int PackedBuffer::pack(Rank block, MPI_Comm comm) const {
  if (!is_staged() || bytes(block) == 0) return MPI_SUCCESS;
  std::byte* const to = memory_.block(block).at;
  if (!facts_.is_contiguous)
    return pack_items(items(block), argument_.blocks.count(block), argument_.type_of(block), facts(block), to,
                      comm);
  std::memcpy(to, items(block), bytes(block));
  return MPI_SUCCESS;
}

int PackedBuffer::pack(MPI_Comm comm) const {
  for (Rank block = 0; is_staged() && block < argument_.blocks.number(); ++block)
    if (const int code = pack(block, comm); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int PackedBuffer::unpack(MPI_Comm comm) const {
  for (Rank block = 0; is_staged() && block < argument_.blocks.number(); ++block) {
    if (bytes(block) == 0) continue;
    const std::byte* const from = memory_.block(block).at;
    if (facts_.is_contiguous) {
      std::memcpy(items(block), from, bytes(block));
      continue;
    }
    const int code = unpack_items(from, items(block), argument_.blocks.count(block), argument_.type_of(block),
                                  facts(block), comm);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace convene::runtime
