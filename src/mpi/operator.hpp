// SPDX-License-Identifier: BSD-3-Clause
// The operator of a reduction, as the executor applies it to bytes: by MPI_Reduce_local on items of the
// program's datatype.
#pragma once

#include "base/arena.hpp"
#include "base/combine.hpp"
#include "mpi/datatype.hpp"

namespace convene::mpi {

/// Whether an MPI would take this operator for items of this type. It is asked once for each pair of
/// predefined ones.
bool is_defined(MPI_Op op, MPI_Datatype type);

/// Whether the order of operands may be changed. For an operator that is_defined().
bool is_commutative(MPI_Op op);

/// Whether the MPI has it: then its handle never changes meaning.
bool is_predefined(MPI_Op op);

/// While it lives, an operator that the program frees is kept: a call that is not complete may still need it.
class HeldOperator {
 public:
  explicit HeldOperator(MPI_Op op);  ///< a null handle: holds nothing
  ~HeldOperator();
  HeldOperator(const HeldOperator&) = delete;
  HeldOperator& operator=(const HeldOperator&) = delete;

  /// MPI_Op_free: frees the operator by `native`, or, while it is held, marks it; its last holder then frees
  /// it.
  static int free(MPI_Op* op, int (*native)(MPI_Op*));

 private:
  MPI_Op op_;
};

/// An operator on a datatype. Items without gaps are combined where they are. Others come packed: they are
/// unpacked into items, some at a time, and the result is packed again, since an operator must see items as
/// its type describes them.
class ItemOperator {
 public:
  ItemOperator() = default;
  ItemOperator(MPI_Op op, MPI_Datatype type) : op_(op), type_(type), facts_(facts_of(type)) {}

  /// Takes room for unpacked items from the arena, where they are needed. `comm` is for packing.
  void prepare(MPI_Comm comm, Arena& arena);

  /// What the executor calls; good as long as this object stays where it is.
  Operator bound() const { return {apply, const_cast<ItemOperator*>(this)}; }

 private:
  static int apply(void* self, const std::byte* left, std::byte* right, std::size_t bytes);
  int apply_in_place(const std::byte* left, std::byte* right, std::size_t items) const;
  int apply_to_packed(const std::byte* left, std::byte* right, std::size_t items) const;

  MPI_Op op_{};
  MPI_Datatype type_{};
  TypeFacts facts_;
  MPI_Comm comm_{};
  std::size_t at_once_ = 0;                       // items that the room is for
  std::byte *left_ = nullptr, *right_ = nullptr;  // addresses of the first item
};

}  // namespace convene::mpi
