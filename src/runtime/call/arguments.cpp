// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/arguments.hpp"

#include "mpi/collective_table.hpp"
#include "mpi/operator.hpp"

namespace convene::runtime {

namespace {

bool is_sound(const BufferArgument& argument, Collective collective) {
  if (!argument.is_used()) return true;
  const bool is_without_arrays =
      !may_have_equal_blocks(collective) && argument.blocks.number() > 1 && argument.blocks.is_uniform();
  return !is_without_arrays && argument.has_types() && argument.blocks.total().has_value();
}

/// True if a reduction's buffers differ, its type and operator fit, and no named type has a null buffer. (In
/// exscan rank 0's result is ignored.)
bool is_sound_reduction(const Arguments& call) {
  const auto has_buffer = [](const BufferArgument& argument) {
    return argument.buffer || !argument.is_used() || argument.blocks.total() == 0 ||
           !facts_of(argument.type).is_named;
  };
  const bool has_result = call.collective != Collective::exscan || call.rank != 0 || call.in_place;
  const BufferArgument& any = call.send.is_used() ? call.send : call.recv;
  const bool overlaps = has_result && call.send.is_used() && call.recv.is_used() &&
                        call.send.buffer == call.recv.buffer && !call.in_place &&
                        call.recv.blocks.total() != 0;
  return any.is_used() && any.type != MPI_DATATYPE_NULL && is_defined(call.op, any.type) && !overlaps &&
         call.send.buffer != MPI_IN_PLACE && has_buffer(call.send) && (!has_result || has_buffer(call.recv));
}

std::uint64_t item_bytes(const BufferArgument& argument) { return facts_of(argument.type).size; }

}  // namespace

bool runs_anywhere(const Arguments& call) { return !is_reduction(call.collective) || is_predefined(call.op); }

bool has_equal_blocks(Collective collective) {
  switch (collective) {
#define CONVENE_CASE(Name, name, NAME, PATTERN, ...) \
  case Collective::name:                             \
    return !CONVENE_HAS_ARRAYS(PATTERN);
    CONVENE_COLLECTIVES(CONVENE_CASE, CONVENE_CASE, CONVENE_CASE)
#undef CONVENE_CASE
  }
  return true;
}

bool may_have_equal_blocks(Collective collective) {
  return has_equal_blocks(collective) || collective == Collective::reduce_scatter;
}

bool Arguments::are_sound() const {
  return !is_refused && is_sound(send, collective) && is_sound(recv, collective) &&
         (!is_rooted(collective) || (root >= 0 && static_cast<Rank>(root) < procs)) &&
         (!is_reduction(collective) || is_sound_reduction(*this));
}

std::uint64_t Arguments::total_bytes() const {
  if (sizes_known(collective) != SizesKnown::by_all) return 0;
  const auto own_bytes = [](const BufferArgument& first, const BufferArgument& second) {
    const BufferArgument& own = first.is_used() ? first : second;  // in place the root has only one
    return static_cast<std::uint64_t>(own.blocks.each()) * item_bytes(own);
  };
  switch (traits(collective).postcondition) {
    case Postcondition::gather:
      return own_bytes(send, recv) * procs;
    case Postcondition::scatter:
      return own_bytes(recv, send) * procs;
    case Postcondition::reduce:
      return own_bytes(send, recv);
    case Postcondition::reduce_scatter:
      return *send.blocks.total() * item_bytes(send);
    default:
      return recv.is_used() ? *recv.blocks.total() * item_bytes(recv) : 0;
  }
}

std::uint64_t Arguments::own_block_bytes() const {
  return send.is_used() ? static_cast<std::uint64_t>(send.blocks.each()) * item_bytes(send) : 0;
}

}  // namespace convene::runtime
