// SPDX-License-Identifier: BSD-3-Clause
// Memory layout of buffers: the addresses of slots. All data is bytes here; noncontiguous data was packed
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mpi/functions.hpp"
#include "schedule/core/slots.hpp"
#include "transport/transport.hpp"

namespace convene::execute {

class KeptLayout;

/// The blocks of one buffer, each cut into `segments` places of nearly equal size, anywhere or between items,
/// or into its first bytes and the rest.
///
/// Either all blocks have the same size and are contiguous, or their sizes and positions are arrays as in
/// MPI: counts and displacements in units of a datatype's size and extent.
class Memory {
 public:
  Memory() = default;

  static Memory uniform(void* base, std::size_t block_bytes, std::uint32_t segments = 1) {
    Memory memory;
    memory.base_ = static_cast<std::byte*>(base);
    memory.block_bytes_ = block_bytes;
    memory.segments_ = segments;
    return memory;
  }

  /// `size` is the bytes of one unit of count, `extent` those of one unit of displacement. The caller keeps
  /// the arrays.
  static Memory irregular(void* base, const int* counts, const int* displacements, std::size_t size,
                          std::ptrdiff_t extent, std::uint32_t segments) {
    Memory memory = uniform(base, size, segments);
    memory.kind_ = Kind::narrow;
    memory.counts_ = counts;
    memory.displacements_ = displacements;
    memory.extent_ = extent;
    return memory;
  }
  static Memory irregular(void* base, const MPI_Count* counts, const MPI_Aint* displacements,
                          std::size_t size, std::ptrdiff_t extent, std::uint32_t segments) {
    Memory memory = uniform(base, size, segments);
    memory.kind_ = Kind::wide;
    memory.counts_ = counts;
    memory.displacements_ = displacements;
    memory.extent_ = extent;
    return memory;
  }

  /// Sets the size of the items of which blocks consist: places begin and end between items.
  void cut_between(std::size_t item_bytes) { item_bytes_ = item_bytes; }

  /// Cuts each block after this number of bytes, or at its end. Of two segments only; 0: they are equal.
  void cut_after(std::size_t head_bytes) { head_bytes_ = head_bytes; }

  /// True if place p + 1 follows place p in memory, for all places.
  bool is_uniform() const { return kind_ == Kind::uniform && segments_ == 1; }

  std::byte* base() const { return base_; }

  /// The same layout at another address.
  void rebase(void* base) { base_ = static_cast<std::byte*>(base); }

  /// True if all places have the same offsets from the base.
  bool same_layout(const KeptLayout& kept) const;

  Piece place(Place place) const {
    if (is_uniform()) return {base_ + place * block_bytes_, block_bytes_};
    const Piece whole = block(place / segments_);
    const std::size_t which = place % segments_;
    const std::size_t begin = part(whole.bytes, which), end = part(whole.bytes, which + 1);
    return {whole.at + begin, end - begin};
  }

  Piece block(std::uint32_t block) const {
    switch (kind_) {
      case Kind::narrow:
        return {base_ + extent_ * static_cast<const int*>(displacements_)[block],
                block_bytes_ * static_cast<std::size_t>(static_cast<const int*>(counts_)[block])};
      case Kind::wide:
        return {base_ + extent_ * static_cast<const MPI_Aint*>(displacements_)[block],
                block_bytes_ * static_cast<std::size_t>(static_cast<const MPI_Count*>(counts_)[block])};
      case Kind::uniform:
        break;
    }
    return {base_ + block * block_bytes_, block_bytes_};
  }

 private:
  friend class KeptLayout;
  enum class Kind : std::uint8_t { uniform, narrow, wide };

  std::size_t count_bytes() const { return kind_ == Kind::narrow ? sizeof(int) : sizeof(MPI_Count); }
  std::size_t displacement_bytes() const { return kind_ == Kind::narrow ? sizeof(int) : sizeof(MPI_Aint); }

  /// Start of segment `which` of a block of `bytes` bytes. (Split so that the product cannot overflow.)
  std::size_t part(std::size_t bytes, std::size_t which) const {
    if (head_bytes_ > 0) return which == 0 ? 0 : which == 1 && head_bytes_ < bytes ? head_bytes_ : bytes;
    const std::size_t items = item_bytes_ > 1 ? bytes / item_bytes_ : bytes;
    const std::size_t at = items / segments_ * which + items % segments_ * which / segments_;
    return item_bytes_ > 1 ? at * item_bytes_ : at;
  }

  std::byte* base_ = nullptr;
  std::size_t block_bytes_ = 0;  // of a block; for the irregular kinds, of one unit of count
  const void* counts_ = nullptr;
  const void* displacements_ = nullptr;
  std::ptrdiff_t extent_ = 0;
  std::size_t item_bytes_ = 1;
  std::size_t head_bytes_ = 0;
  std::uint32_t segments_ = 1;
  Kind kind_ = Kind::uniform;
};

/// Copy of the data that determines a memory's layout, for comparison with a later call.
class KeptLayout {
 public:
  void keep(const Memory& memory, std::uint32_t places) {
    memory_ = memory;
    if (memory.kind_ == Memory::Kind::uniform) return;
    const std::size_t blocks = places / memory.segments_;
    counts_.assign(bytes(memory.counts_), bytes(memory.counts_) + blocks * memory.count_bytes());
    displacements_.assign(bytes(memory.displacements_),
                          bytes(memory.displacements_) + blocks * memory.displacement_bytes());
  }

  std::size_t memory() const { return counts_.capacity() + displacements_.capacity(); }

 private:
  friend class Memory;
  static const std::byte* bytes(const void* array) { return static_cast<const std::byte*>(array); }

  Memory memory_;  // its pointers are those of the earlier call: never dereferenced
  std::vector<std::byte> counts_, displacements_;
};

inline bool Memory::same_layout(const KeptLayout& kept) const {
  const Memory& then = kept.memory_;
  if (kind_ != then.kind_ || block_bytes_ != then.block_bytes_ || segments_ != then.segments_ ||
      item_bytes_ != then.item_bytes_ || head_bytes_ != then.head_bytes_)
    return false;
  if (kind_ == Kind::uniform) return true;
  return extent_ == then.extent_ && std::memcmp(counts_, kept.counts_.data(), kept.counts_.size()) == 0 &&
         std::memcmp(displacements_, kept.displacements_.data(), kept.displacements_.size()) == 0;
}

}  // namespace convene::execute
