// SPDX-License-Identifier: BSD-3-Clause
// Reduction operator as the executor applies it to bytes: MPI_Reduce_local on items of the program's
// datatype.
#pragma once

#include "base/arena.hpp"
#include "base/combine.hpp"
#include "mpi/datatype.hpp"

namespace convene::mpi {

/// True if an MPI accepts this operator for items of this type. Queried once for each pair of predefined
/// ones.
bool is_defined(MPI_Op op, MPI_Datatype type);

/// True if the operator commutes. Requires is_defined().
bool is_commutative(MPI_Op op);

/// True if the order of operands changes a result: floating-point sums and products, and operators of the
/// program.
bool is_order_dependent(MPI_Op op, MPI_Datatype type);

/// True if the operator is predefined: its handle always has the same meaning.
bool is_predefined(MPI_Op op);

/// Keeps an operator alive that the program frees: a pending call may still need it.
class HeldOperator {
 public:
  explicit HeldOperator(MPI_Op op);  ///< with a null handle: holds nothing
  ~HeldOperator();
  HeldOperator(const HeldOperator&) = delete;
  HeldOperator& operator=(const HeldOperator&) = delete;

  /// MPI_Op_free: frees the operator by `native`, or marks it while it is held; then its last holder frees
  /// it.
  static int free(MPI_Op* op, int (*native)(MPI_Op*));

 private:
  MPI_Op op_;
};

/// An operator on a datatype. Items without gaps are combined in place. Others are packed: they are unpacked
/// into items, some at a time, and the result is packed again, since an operator must receive items in the
/// layout of their type.
class ItemOperator {
 public:
  ItemOperator() = default;
  ItemOperator(MPI_Op op, MPI_Datatype type) : op_(op), type_(type), facts_(facts_of(type)) {}

  /// Allocates memory for unpacked items from the arena, if needed. `comm` is for packing.
  void prepare(MPI_Comm comm, Arena& arena);

  /// The operator for the executor; valid while this object is not moved.
  Operator bound() const { return {apply, const_cast<ItemOperator*>(this)}; }

 private:
  static int apply(void* self, const std::byte* left, std::byte* right, std::size_t bytes);
  int apply_in_place(const std::byte* left, std::byte* right, std::size_t items) const;
  int apply_to_packed(const std::byte* left, std::byte* right, std::size_t items) const;

  MPI_Op op_{};
  MPI_Datatype type_{};
  TypeFacts facts_;
  MPI_Comm comm_{};
  std::size_t at_once_ = 0;                       // number of unpacked items that fit the memory
  std::byte *left_ = nullptr, *right_ = nullptr;  // addresses of the first item
};

}  // namespace convene::mpi
