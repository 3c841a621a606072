// SPDX-License-Identifier: BSD-3-Clause
// Arguments of a call that continues after it has returned.
#pragma once

#include <forward_list>

#include "base/arena.hpp"
#include "mpi/datatype.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/arguments.hpp"

namespace convene::runtime {

/// Arguments that depend on nothing of the program but its buffers. It may free its datatypes and its
/// operator as soon as the call has returned. It must not change the arrays of counts and displacements, but
/// some programs do: MPIs that read them only once tolerate it (mpi4py's Iallgatherv releases them at once).
class KeptArguments : public Arguments {
 public:
  explicit KeptArguments(const Arguments& given)
      : Arguments(given), send_type_(send.type), recv_type_(recv.type), operator_(op) {
    // A type stays alive, under its handle, with a type derived from it.
    if (is_reduction(collective)) given_type = given.item_type();
    send.blocks = send.blocks.kept(arrays_);
    recv.blocks = recv.blocks.kept(arrays_);
    keep_types(send);
    keep_types(recv);
  }

 private:
  void keep_types(BufferArgument& argument) {
    if (!argument.types) return;
    const MPI_Datatype* const given = argument.types;
    auto* const kept = arrays_.take_array<MPI_Datatype>(argument.blocks.number());
    for (Rank block = 0; block < argument.blocks.number(); ++block) {
      kept[block] = argument.blocks.count(block) > 0 ? given[block] : MPI_DATATYPE_NULL;
      const bool is_as_before =
          block > 0 && given[block] == given[block - 1] && kept[block - 1] != MPI_DATATYPE_NULL;
      if (kept[block] != MPI_DATATYPE_NULL && is_as_before)
        kept[block] = kept[block - 1];
      else
        types_.emplace_front(kept[block]);
    }
    argument.types = kept;
  }

  const KeptType send_type_, recv_type_;
  const HeldOperator operator_;
  std::forward_list<KeptType> types_;  // of blocks with a type each; nothing is allocated for others
  Arena arrays_;
};

}  // namespace convene::runtime
