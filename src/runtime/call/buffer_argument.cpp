// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/buffer_argument.hpp"

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

PackedBuffer::PackedBuffer(const BufferArgument& side, const Layout& layout, Arena& arena) : side_(side) {
  if (!side.is_used()) return;
  side_.blocks = side.blocks.with_displacements(arena);
  facts_ = facts_of(side.type);
  if (layout.by_items) facts_.is_contiguous = facts_.is_dense;
  if (layout.padded_to) {
    staging_ = arena.take(*layout.padded_to * side.blocks.number());
    memory_ = Memory::uniform(staging_, *layout.padded_to, layout.segments);
  } else if (facts_.is_contiguous && !layout.copied) {
    memory_ = side_.blocks.memory(side.buffer, facts_, layout.segments);
  } else {
    staging_ = arena.take(facts_.size * side.blocks.total().value_or(0));
    TypeFacts packed = facts_;
    packed.extent = static_cast<std::ptrdiff_t>(facts_.size);
    memory_ = side_.blocks.back_to_back(arena).memory(staging_, packed, layout.segments);
  }
  if (layout.by_items) memory_.cut_between(facts_.size);
}

void* PackedBuffer::items(Rank block) const {
  return static_cast<std::byte*>(side_.buffer) + facts_.extent * side_.blocks.at(block);
}

/// Of the items: what is behind them in a padded block is anything.
std::size_t PackedBuffer::bytes(Rank block) const {
  return facts_.size * static_cast<std::size_t>(side_.blocks.count(block));
}

int PackedBuffer::fetch(Rank block, MPI_Comm comm) const {
  if (!is_staged()) return MPI_SUCCESS;
  std::byte* const to = memory_.block(block).at;
  if (!facts_.is_contiguous)
    return pack_items(items(block), side_.blocks.count(block), side_.type, facts_, to, comm);
  if (bytes(block) > 0) std::memcpy(to, items(block), bytes(block));
  return MPI_SUCCESS;
}

int PackedBuffer::fetch(MPI_Comm comm) const {
  for (Rank block = 0; is_staged() && block < side_.blocks.number(); ++block)
    if (const int code = fetch(block, comm); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int PackedBuffer::deliver(MPI_Comm comm) const {
  for (Rank block = 0; is_staged() && block < side_.blocks.number(); ++block) {
    const std::byte* const from = memory_.block(block).at;
    if (facts_.is_contiguous) {
      if (bytes(block) > 0) std::memcpy(items(block), from, bytes(block));
      continue;
    }
    const int code = unpack_items(from, items(block), side_.blocks.count(block), side_.type, facts_, comm);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace convene::runtime
