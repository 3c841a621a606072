// SPDX-License-Identifier: BSD-3-Clause
// Facts about a datatype: its size, its extent, and whether its data is contiguous in memory in packing
// order.
#pragma once

#include <cstddef>

#include "mpi/functions.hpp"

namespace convene::mpi {

struct TypeFacts {
  std::size_t size = 0;       ///< bytes of data in one item
  std::ptrdiff_t extent = 0;  ///< bytes from one item to the next
  bool is_named = false;      ///< predefined: its handle always has the same meaning
  /// n items are n·size consecutive bytes from the buffer's address on, in order.
  bool is_contiguous = false;
  /// The same, but possibly in another order than packing: no gaps. Sufficient if both ends have the same
  /// type.
  bool is_dense = false;
};

/// Named types are cached (their handles always have the same meaning). A derived type is examined in every
/// call, since an MPI may reuse the handle of a freed type. A derived type counts as contiguous if it is a
/// contiguous or duplicated form of such a type; any other is packed and unpacked.
TypeFacts facts_of(MPI_Datatype type);

/// Keeps a datatype alive during a call: a program may free its own as soon as it has started the call. The
/// handle is replaced by one of an equal type; a named or null one stays.
class KeptType {
 public:
  explicit KeptType(MPI_Datatype& type);
  ~KeptType();
  KeptType(const KeptType&) = delete;
  KeptType& operator=(const KeptType&) = delete;

 private:
  MPI_Datatype kept_ = MPI_DATATYPE_NULL;
};

/// Packs `count` items from `from` into exactly size·count bytes at `to`, or unpacks them. Any count.
int pack_items(const void* from, MPI_Count count, MPI_Datatype type, const TypeFacts& facts, std::byte* to,
               MPI_Comm comm);
int unpack_items(const std::byte* from, void* to, MPI_Count count, MPI_Datatype type, const TypeFacts& facts,
                 MPI_Comm comm);

}  // namespace convene::mpi
