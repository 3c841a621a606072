// SPDX-License-Identifier: BSD-3-Clause
// A call bound to its memory: what the executor needs, and what has to be done before and after it.
#pragma once

#include <vector>

#include "execute/executor.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/schedule_cache.hpp"

namespace convene::runtime {

/// Whether ranks pass on blocks whose sizes they do not know, and so have to agree on sizes before they lay
/// out anything (gatherv, scatterv, alltoallv). The same on all ranks.
bool must_agree(const Arguments& arguments, const Prepared& prepared);

/// The size of a place that the ranks of a node share: the same on all.
std::size_t shared_place_bytes(const Arguments& arguments, const Prepared& prepared);

/// Whether a collective's root is given the sizes of all blocks, and others their own (gatherv, scatterv).
bool root_alone_knows_sizes(Collective collective);
/// The sizes in bytes that this rank knows: at the root all, elsewhere its own and 0 for the others.
void note_sizes(const Arguments& arguments, MPI_Count* sizes);

/// A schedule on the memory of a call. Order: make; where must_agree(), begin_agreement() and wait for its
/// end; prepare(); run binding(); finish().
class BoundCall {
 public:
  /// Staging and scratch come from the arena, which must stay as long as this is used. `staged_output`:
  /// nothing is written into the program's buffer before finish().
  BoundCall(const Arguments& arguments, const Prepared& prepared, MPI_Comm own, std::uint32_t number,
            Arena& arena, bool staged_output = false);
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  bool must_agree() const { return convene::runtime::must_agree(arguments_, *prepared_); }
  /// Starts it by a collective of the MPI, not to be moved until the request is complete: where a root knows
  /// all sizes they come to all ranks, and where nobody does, the largest one. Returns MPI_SUCCESS or the
  /// MPI's error.
  int begin_agreement(MPI_Request* request);

  /// Instead of an agreement: the sizes of all blocks in bytes, where the root alone knew them.
  void set_sizes(const std::vector<MPI_Count>& sizes);

  /// Lays out scratch and fetches what has to be packed. Returns MPI_SUCCESS or the MPI's error.
  int prepare(Arena& arena);
  /// The call is run on memory that the ranks of the node share. The run there begins with this.
  void share(SharedMemory& memory);
  /// The first half of prepare(), which looks at no buffer of the program's.
  void lay_out(Arena& arena);
  /// Packs what is in the program's buffers now: for every further run. Returns MPI_SUCCESS or the MPI's
  /// error.
  int fetch() const;
  /// Unpacks what came.
  int finish() const;

  /// The call is a persistent operation of this number, and this is its next run.
  void set_persistent(std::uint32_t number, std::uint32_t run) {
    binding_.persistent_number = number;
    binding_.run = run;
  }
  const Binding& binding() const { return binding_; }
  /// What the binding's operator refers to.
  const ItemOperator& item_operator() const { return operator_; }
  /// Places of the collective's blocks, for a program that is bound to their sizes.
  std::uint32_t block_places() const { return arguments_.procs * prepared_->segments; }
  /// Whether everything is in the program's memory and nothing has to be done before or after.
  bool is_direct() const { return !input_.is_staged() && !output_.is_staged() && sizes_ == nullptr; }

 private:
  bool is_padded() const;
  void lay_out_sides(Arena& arena);
  void lay_out_blocks(Arena& arena);

  Arguments arguments_;
  const Prepared* prepared_;
  PackedBuffer input_, output_;
  ItemOperator operator_;
  MPI_Count* sizes_ = nullptr;  // in bytes, by block: all at the root, elsewhere its own until they have come
  std::int64_t largest_ = 0;    // block of a padded call, in bytes: this rank's until they have agreed
  bool staged_output_;
  Binding binding_;
};

}  // namespace convene::runtime
