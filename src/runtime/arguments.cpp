// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/arguments.hpp"

namespace convene {

namespace {

bool is_sound(const Side& side, Collective collective) {
  if (!side.is_used()) return true;
  const bool lacks_arrays =
      !has_equal_blocks(collective) && side.blocks.number() > 1 && side.blocks.is_uniform();
  return !lacks_arrays && side.type != MPI_DATATYPE_NULL && side.blocks.total().has_value();
}

std::uint64_t item_bytes(const Side& side) { return facts_of(side.type).size; }

}  // namespace

bool has_equal_blocks(Collective collective) {
  return collective != Collective::allgatherv && collective != Collective::gatherv &&
         collective != Collective::scatterv && collective != Collective::alltoallv;
}

bool Arguments::are_sound() const {
  return is_sound(send, collective) && is_sound(recv, collective) &&
         (!is_rooted(collective) || (root >= 0 && static_cast<Rank>(root) < procs));
}

std::uint64_t Arguments::total_bytes() const {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::bcast:
    case Collective::alltoall:
      return *recv.blocks.total() * item_bytes(recv);
    case Collective::gather: {
      const Side& own = send.is_used() ? send : recv;  // in place the root has but its receive side
      return static_cast<std::uint64_t>(own.blocks.each()) * item_bytes(own) * procs;
    }
    case Collective::scatter: {
      const Side& own = recv.is_used() ? recv : send;
      return static_cast<std::uint64_t>(own.blocks.each()) * item_bytes(own) * procs;
    }
    case Collective::gatherv:
    case Collective::scatterv:
    case Collective::alltoallv:
    case Collective::barrier:
      return 0;
    case Collective::reduce:  // reductions do not come here yet: they are left to the MPI
    case Collective::allreduce:
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
    case Collective::scan:
    case Collective::exscan:
      return 0;
  }
  return 0;
}

}  // namespace convene
