// SPDX-License-Identifier: BSD-3-Clause
// One argument of a collective call in MPI's form: a buffer, its blocks, and their datatype; and the same as
// bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/arena.hpp"
#include "collective/core/collective.hpp"
#include "execute/memory.hpp"
#include "mpi/datatype.hpp"
#include "mpi/functions.hpp"

namespace convene::runtime {

/// Displacements are int, or MPI_Aint in the large form.
template <class Count>
using DisplacementOf = std::conditional_t<std::is_same_v<Count, int>, int, MPI_Aint>;

/// Blocks in items of a datatype: `each` contiguous items per block, or counts and displacements as arrays of
/// either width, owned by the caller. Without displacements the blocks are contiguous.
class Blocks {
 public:
  Blocks() = default;
  Blocks(Rank number, MPI_Count each) : number_(number), each_(each) {}
  Blocks(Rank number, const int* counts) : number_(number), narrow_(counts) {}
  Blocks(Rank number, const MPI_Count* counts) : number_(number), wide_(counts) {}
  Blocks(Rank number, const int* counts, const int* displacements)
      : number_(number), narrow_(counts), narrow_at_(displacements) {}
  Blocks(Rank number, const MPI_Count* counts, const MPI_Aint* displacements)
      : number_(number), wide_(counts), wide_at_(displacements) {}

  Rank number() const { return number_; }
  bool is_uniform() const { return !narrow_ && !wide_; }
  MPI_Count each() const { return each_; }
  MPI_Count count(Rank block) const { return narrow_ ? narrow_[block] : wide_ ? wide_[block] : each_; }
  /// The same with displacements, if missing: arrays from the arena.
  Blocks with_displacements(Arena& arena) const;
  /// The same with arrays from the arena instead of the caller's.
  Blocks kept(Arena& arena) const;
  /// The same, contiguous and in order.
  Blocks back_to_back(Arena& arena) const;
  /// Start of a block in extents of the type. Not for arrays without displacements.
  std::ptrdiff_t at(Rank block) const {
    if (narrow_) return narrow_at_[block];
    return wide_ ? static_cast<std::ptrdiff_t>(wide_at_[block])
                 : static_cast<std::ptrdiff_t>(block) * static_cast<std::ptrdiff_t>(each_);
  }
  /// The sum of all counts; nothing if one is negative.
  std::optional<std::uint64_t> total() const;

  /// The blocks as memory: `base` is the buffer of a contiguous type.
  Memory memory(void* base, const TypeFacts& facts, std::uint32_t segments) const;

 private:
  Rank number_ = 0;
  MPI_Count each_ = 0;
  const int *narrow_ = nullptr, *narrow_at_ = nullptr;
  const MPI_Count* wide_ = nullptr;
  const MPI_Aint* wide_at_ = nullptr;
};

/// A argument that a rank does not use has no blocks and a null type.
struct BufferArgument {
  void* buffer = nullptr;
  Blocks blocks = {};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  /// One type per block, which stays the caller's; displacements are in bytes. Null: `type` is that of all.
  const MPI_Datatype* types = nullptr;

  bool is_used() const { return blocks.number() > 0; }
  MPI_Datatype type_of(Rank block) const { return types ? types[block] : type; }
  /// Whether every block that has items has a type.
  bool has_types() const;
  /// Bytes of data in a block, and in the largest one.
  std::size_t bytes(Rank block) const;
  std::size_t largest_block() const;
};

/// Required layout of a argument in memory.
struct Layout {
  std::uint32_t segments = 1;  ///< number of places of a block
  bool copied = false;         ///< always in staging
  /// Bytes reserved for every block, independent of its size: implies staging.
  std::optional<std::uint64_t> padded_to = std::nullopt;
  std::size_t head = 0;   ///< bytes of a block's first place, of two; 0: places are of equal size
  bool by_items = false;  ///< places end between items, whose bytes may be in any order
};

/// A argument as bytes: the program's own memory if its type is contiguous, else staging from the arena.
class PackedBuffer {
 public:
  PackedBuffer() = default;
  PackedBuffer(const BufferArgument& argument, const Layout& layout, Arena& arena);

  const Memory& memory() const { return memory_; }
  bool is_staged() const { return staging_ != nullptr; }

  /// Packs from the program's buffer into the staging: all blocks, or one. Returns MPI_SUCCESS or the MPI's
  /// error.
  int pack(MPI_Comm comm) const;
  int pack(Rank block, MPI_Comm comm) const;
  /// Unpacks all blocks.
  int unpack(MPI_Comm comm) const;

 private:
  void* items(Rank block) const;
  /// Of the items: a padded block is larger.
  std::size_t bytes(Rank block) const {
    return argument_.types ? argument_.bytes(block)
                           : facts_.size * static_cast<std::size_t>(argument_.blocks.count(block));
  }
  TypeFacts facts(Rank block) const { return argument_.types ? facts_of(argument_.types[block]) : facts_; }

  BufferArgument argument_;
  TypeFacts facts_;  // with a type per block: of bytes
  Memory memory_;
  std::byte* staging_ = nullptr;
};

}  // namespace convene::runtime
