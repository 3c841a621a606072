// SPDX-License-Identifier: BSD-3-Clause
// What Convene needs to know of a datatype: how many bytes, and whether they stand in memory as they would be
// packed.
#pragma once

#include <cstddef>

#include "mpi/functions.hpp"

namespace convene::mpi {

struct TypeFacts {
  std::size_t size = 0;       ///< bytes of data in one item
  std::ptrdiff_t extent = 0;  ///< bytes from one item to the next
  bool is_named = false;      ///< predefined: its handle never changes meaning
  /// n items are n·size consecutive bytes from the buffer's address on, in order.
  bool is_contiguous = false;
  /// The same, but perhaps not in the order of packing: no gaps. Good enough where both ends have the same
  /// type.
  bool is_dense = false;
};

/// Named types are remembered (their handles never change meaning); a derived one is looked at in every call,
/// since an MPI may give the handle of a freed type to another. A derived type counts as contiguous where it
/// is a contiguous or duplicated form of such a type; any other is packed and unpacked.
TypeFacts facts_of(MPI_Datatype type);

/// Keeps a datatype in being while a call is under way: a program may free its own as soon as it has started
/// the call. The handle is replaced by one of an equal type; a named or null one stays.
class KeptType {
 public:
  explicit KeptType(MPI_Datatype& type);
  ~KeptType();
  KeptType(const KeptType&) = delete;
  KeptType& operator=(const KeptType&) = delete;

 private:
  MPI_Datatype kept_ = MPI_DATATYPE_NULL;
};

/// Packs `count` items from `from` into exactly size·count bytes at `to`, or the other way around. Any count.
int pack_items(const void* from, MPI_Count count, MPI_Datatype type, const TypeFacts& facts, std::byte* to,
               MPI_Comm comm);
int unpack_items(const std::byte* from, void* to, MPI_Count count, MPI_Datatype type, const TypeFacts& facts,
                 MPI_Comm comm);

}  // namespace convene::mpi
