// SPDX-License-Identifier: BSD-3-Clause
// Where slots are in memory. All data is bytes here: whatever is not contiguous was packed before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execute/mpi.hpp"
#include "schedule/slots.hpp"

namespace convene {

/// A run of bytes.
struct Piece {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
};

/// The blocks of one buffer, each cut into `segments` places of nearly equal size.
///
/// Either all blocks have the same size and stand back to back, or their sizes and positions are arrays as MPI has
/// them: counts and displacements in units of a datatype's size and extent.
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

  /// `size` is the bytes of one unit of count, `extent` those of one unit of displacement. The arrays stay the caller's.
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

  /// Whether place p's bytes are followed by those of place p + 1, for all places.
  bool is_uniform() const { return kind_ == Kind::uniform && segments_ == 1; }

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
  enum class Kind : std::uint8_t { uniform, narrow, wide };

  /// Where segment `which` of a block of `bytes` bytes starts. (Split so that the product cannot overflow.)
  std::size_t part(std::size_t bytes, std::size_t which) const {
    return bytes / segments_ * which + bytes % segments_ * which / segments_;
  }

  std::byte* base_ = nullptr;
  std::size_t block_bytes_ = 0;  // of a block; for the irregular kinds, of one unit of count
  const void* counts_ = nullptr;
  const void* displacements_ = nullptr;
  std::ptrdiff_t extent_ = 0;
  std::uint32_t segments_ = 1;
  Kind kind_ = Kind::uniform;
};

}  // namespace convene
