// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/side.hpp"

#include <cstring>

namespace convene {

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

Bytes::Bytes(const Side& side, std::uint32_t segments, bool copied, Arena& arena) : side_(side) {
  if (!side.is_used()) return;
  facts_ = facts_of(side.type);
  if (facts_.is_contiguous && !copied) {
    memory_ = side.blocks.memory(side.buffer, facts_, segments);
    return;
  }
  staging_ = arena.take(facts_.size * side.blocks.total().value_or(0));
  if (side.blocks.is_uniform()) {
    memory_ = side.blocks.memory(staging_, facts_, segments);
    return;
  }
  const Rank number = side.blocks.number();
  auto* counts = arena.take_array<MPI_Count>(number);
  auto* at = arena.take_array<MPI_Aint>(number);
  MPI_Aint next = 0;
  for (Rank block = 0; block < number; ++block) {
    counts[block] = side.blocks.count(block);
    at[block] = next;
    next += static_cast<MPI_Aint>(counts[block]);
  }
  memory_ = Memory::irregular(staging_, counts, at, facts_.size, static_cast<std::ptrdiff_t>(facts_.size),
                              segments);
}

void* Bytes::items(Rank block) const {
  return static_cast<std::byte*>(side_.buffer) + facts_.extent * side_.blocks.at(block);
}

int Bytes::fetch(Rank block, MPI_Comm comm) const {
  if (!is_staged()) return MPI_SUCCESS;
  const Piece to = memory_.block(block);
  if (!facts_.is_contiguous)
    return pack_items(items(block), side_.blocks.count(block), side_.type, facts_, to.at, comm);
  if (to.bytes > 0) std::memcpy(to.at, items(block), to.bytes);
  return MPI_SUCCESS;
}

int Bytes::fetch(MPI_Comm comm) const {
  for (Rank block = 0; is_staged() && block < side_.blocks.number(); ++block)
    if (const int code = fetch(block, comm); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int Bytes::deliver(MPI_Comm comm) const {
  for (Rank block = 0; is_staged() && block < side_.blocks.number(); ++block) {
    const int code = unpack_items(memory_.block(block).at, items(block), side_.blocks.count(block),
                                  side_.type, facts_, comm);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace convene
