// SPDX-License-Identifier: BSD-3-Clause
// A call bound to its memory: the executor's binding, and the work before and after the run.
#pragma once

#include <vector>

#include "execute/executor.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/arguments.hpp"
#include "runtime/call/schedule_cache.hpp"

namespace convene::runtime {

/// True if ranks relay blocks whose sizes they do not know, and must agree on sizes before the layout
/// (gatherv, scatterv, alltoallv). The same on all ranks.
bool must_agree(const Arguments& arguments, const Prepared& prepared);

/// The size of the `places` places shared by the ranks of the fullest node: the same on all.
std::uint64_t shared_bytes(const Arguments& arguments, const Prepared& prepared, std::uint64_t places);
/// True if the signals of a call carry its data. The same on all ranks.
bool signals_carry(const Arguments& arguments, const Prepared& prepared);

/// True if only the root receives the sizes of all blocks, and others their own (gatherv, scatterv).
bool root_alone_knows_sizes(Collective collective);
/// The sizes in bytes known to this rank: at the root all, elsewhere its own, and 0 for the others.
void note_sizes(const Arguments& arguments, MPI_Count* sizes);

/// A schedule on the memory of a call. Order of calls: constructor; if must_agree(), begin_agreement() and
/// wait for its end; prepare(); run binding(); finish().
class BoundCall {
 public:
  /// Staging and scratch are allocated from the arena, which must outlive this object. `staged_output`: the
  /// program's buffer is written by finish() only.
  BoundCall(const Arguments& arguments, const Prepared& prepared, const Channel& own, std::uint32_t number,
            Arena& arena, bool staged_output = false);
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  bool must_agree() const { return convene::runtime::must_agree(arguments_, *prepared_); }
  /// Starts the agreement by a collective of the MPI; the object must not be moved until the request is
  /// complete. If the root knows all sizes, all ranks receive them; if no rank does, they receive the largest
  /// size. Returns MPI_SUCCESS or the MPI's error.
  int begin_agreement(MPI_Request* request);

  /// Instead of an agreement: sets the sizes of all blocks in bytes, if only the root knew them.
  void set_sizes(const std::vector<MPI_Count>& sizes);

  /// Lays out scratch and packs the input. Returns MPI_SUCCESS or the MPI's error.
  int prepare(Arena& arena);
  /// Runs the call on memory shared by the ranks of the node, of which the fullest uses `places` places.
  /// Starts the run there.
  void share(SharedMemory& memory, std::uint64_t places, Arena& arena);
  /// First half of prepare(), which reads no buffer of the program.
  void lay_out(Arena& arena);
  /// Packs the current contents of the program's buffers: for every further run. Returns MPI_SUCCESS or the
  /// MPI's error.
  int pack() const;
  /// Unpacks the result.
  int finish() const;

  /// Marks the call as the next run of a persistent operation with this number.
  void set_persistent(std::uint32_t number, std::uint32_t run) {
    binding_.persistent_number = number;
    binding_.run = run;
  }
  const Binding& binding() const { return binding_; }
  /// The operator to which the binding refers.
  const ItemOperator& item_operator() const { return operator_; }
  /// Number of places of the collective's blocks, for a program that is bound to their sizes.
  std::uint32_t block_places() const { return arguments_.procs * prepared_->segments; }
  /// True if all data is in the program's memory and no work is needed before or after.
  bool is_direct() const { return !input_.is_staged() && !output_.is_staged() && sizes_ == nullptr; }

 private:
  bool is_padded() const;
  void lay_out_sides(Arena& arena);
  void lay_out_blocks(Arena& arena);
  Memory fitted_places(Arena& arena) const;

  Arguments arguments_;
  const Prepared* prepared_;
  PackedBuffer input_, output_;
  ItemOperator operator_;
  MPI_Count* sizes_ = nullptr;  // in bytes, by block: all at the root, elsewhere its own until the agreement
  std::int64_t largest_ = 0;    // block of a padded call, in bytes: this rank's until the agreement
  bool staged_output_;
  Binding binding_;
};

}  // namespace convene::runtime
