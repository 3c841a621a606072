// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a call that goes on after it has returned.
#pragma once

#include "base/arena.hpp"
#include "mpi/datatype.hpp"
#include "mpi/operator.hpp"
#include "runtime/call/arguments.hpp"

namespace convene::runtime {

/// Arguments that need nothing of the program's but its buffers. It may free its datatypes and its operator
/// as soon as the call has returned. The arrays of counts and displacements it must leave alone, but not
/// every program does: MPIs that read them only once forgive it (mpi4py's Iallgatherv lets go of them at
/// once).
class KeptArguments : public Arguments {
 public:
  explicit KeptArguments(const Arguments& given)
      : Arguments(given), send_type_(send.type), recv_type_(recv.type), operator_(op) {
    // A type of which another one is made stays in being with that one, under its handle.
    if (is_reduction(collective)) given_type = given.item_type();
    send.blocks = send.blocks.kept(arrays_);
    recv.blocks = recv.blocks.kept(arrays_);
  }

 private:
  const KeptType send_type_, recv_type_;
  const HeldOperator operator_;
  Arena arrays_;
};

}  // namespace convene::runtime
