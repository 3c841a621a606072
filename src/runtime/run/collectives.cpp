// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move blocks, and the barrier.
#include "runtime/run/collectives.hpp"

#include <algorithm>

#include "runtime/run/define_collectives.hpp"

namespace convene::runtime {
namespace {

#define CONVENE_LISTED(Name, name, ...) Collective::name,
constexpr Collective listed[] = {CONVENE_COLLECTIVES(CONVENE_LISTED, CONVENE_LISTED, CONVENE_LISTED)};
#undef CONVENE_LISTED
static_assert(std::ranges::equal(listed, all_collectives), "the table has the order of all_collectives");

/// One count for all blocks.
template <class Count>
struct EqualCounts {
  static constexpr bool are_equal = true;
  Count each;

  BufferArgument argument(const void* buffer, Rank number, MPI_Datatype type) const {
    return side(buffer, {number, each}, type);
  }
  bool are_null() const { return false; }
};

/// Counts and displacements by block.
template <class Count>
struct CountArrays {
  static constexpr bool are_equal = false;
  const Count* counts;
  const DisplacementOf<Count>* displacements;

  BufferArgument argument(const void* buffer, Rank number, MPI_Datatype type) const {
    return side(buffer, {number, counts, displacements}, type);
  }
  bool are_null() const { return !counts || !displacements; }
};

/// The same with types by block, and displacements in bytes.
template <class Count>
struct TypedArrays : CountArrays<Count> {
  const MPI_Datatype* types;

  BufferArgument argument(const void* buffer, Rank number, MPI_Datatype type) const {
    BufferArgument made = CountArrays<Count>::argument(buffer, number, type);
    made.types = types;
    return made;
  }
  bool are_null() const { return !types || CountArrays<Count>::are_null(); }
};

/// One side of a call as passed by the program.
template <class Counts>
struct BlockArguments {
  const void* buffer;
  Counts counts;
  MPI_Datatype type;
};

template <class Count>
BlockArguments<EqualCounts<Count>> equal_blocks(const void* buffer, Count count, MPI_Datatype type) {
  return {buffer, {count}, type};
}
template <class Count>
BlockArguments<CountArrays<Count>> array_blocks(const void* buffer, const Count* counts,
                                                const DisplacementOf<Count>* displacements,
                                                MPI_Datatype type) {
  return {buffer, {counts, displacements}, type};
}

template <class Count>
BlockArguments<TypedArrays<Count>> typed_blocks(const void* buffer, const Count* counts,
                                                const DisplacementOf<Count>* displacements,
                                                const MPI_Datatype* types) {
  return {buffer, {{counts, displacements}, types}, MPI_DATATYPE_NULL};
}

/// Number of neighbours of this rank on each side.
struct Degrees {
  bool are_known = false;  ///< else the communicator has no process topology: native reports it
  Rank sources = 0, targets = 0;
};

Degrees degrees_of(const Arguments& call) {
  const Graph* graph = Communicator::obtain(call.comm)->neighbors().graph.get();
  if (!graph) return {};
  return {true, static_cast<Rank>(graph->sources[call.rank].size()),
          static_cast<Rank>(graph->targets[call.rank].size())};
}

template <Number number>
Rank blocks_here(const Arguments& call, const Degrees& degrees) {
  switch (number) {
    case Number::none:
      return 0;
    case Number::one:
      return 1;
    case Number::each:
      return call.procs;
    case Number::one_at_root:
      return call.is_root() ? 1 : 0;
    case Number::each_at_root:
      return call.is_root() ? call.procs : 0;
    case Number::one_if_targets:
      return degrees.targets > 0 ? 1 : 0;
    case Number::per_source:
      return degrees.sources;
    case Number::per_target:
      return degrees.targets;
  }
}

/// Fills in the sides that this rank uses. MPI_IN_PLACE replaces the receive side of the root if the root
/// sends a block to each rank, else the send side (of a rooted collective: the root's); neighbourhoods do not
/// allow it.
template <Collective collective, Number sent, Number received, class Sending, class Receiving>
void fill_in(Arguments& call, const BlockArguments<Sending>& send, const BlockArguments<Receiving>& recv) {
  constexpr bool is_scatter = sent == Number::each_at_root;
  constexpr bool is_rooted = is_scatter || received == Number::each_at_root;
  constexpr bool is_neighborhood = received == Number::per_source;
  const bool in_place = (is_scatter ? recv.buffer : send.buffer) == MPI_IN_PLACE;
  Degrees degrees;
  if constexpr (is_neighborhood) {
    degrees = degrees_of(call);
    call.is_refused = in_place || !degrees.are_known;
    if (call.is_refused) return;
  }
  call.in_place = in_place && (!is_rooted || call.is_root());
  const Rank sends = call.in_place && !is_scatter ? 0 : blocks_here<sent>(call, degrees);
  const Rank receives = call.in_place && is_scatter ? 0 : blocks_here<received>(call, degrees);
  call.is_refused = (sends > 0 && send.counts.are_null()) || (receives > 0 && recv.counts.are_null());
  if (call.is_refused) return;
  if (sends > 0) call.send = send.counts.argument(send.buffer, sends, send.type);
  if (receives > 0) call.recv = recv.counts.argument(recv.buffer, receives, recv.type);
}

template <Collective collective, Number sent, Number received, class Sending, class Receiving, class AnyForm,
          class Native>
[[gnu::always_inline]] inline int run_blocks(const BlockArguments<Sending>& send,
                                             const BlockArguments<Receiving>& recv, int root, MPI_Comm comm,
                                             const AnyForm& form, const Native& native) {
  const auto complete = [=](Arguments& call) { fill_in<collective, sent, received>(call, send, recv); };
  if constexpr (Sending::are_equal && Receiving::are_equal) {
    const bool in_place = (sent == Number::each_at_root ? recv.buffer : send.buffer) == MPI_IN_PLACE;
    const CallKey key{.collective = collective,
                      .in_place = in_place,
                      .root = root,
                      .sendcount = send.counts.each,
                      .sendtype = send.type,
                      .recvcount = recv.counts.each,
                      .recvtype = recv.type};
    return run(key, send.buffer, const_cast<void*>(recv.buffer), comm, form, complete, native);
  } else {
    return run(collective, comm, root, form, complete, native);
  }
}

}  // namespace

#define CONVENE_RUN(name, SEND, RECV, send, recv, root) \
  run_blocks<Collective::name, Number::SEND, Number::RECV>(send, recv, root, comm, form, native)
#define CONVENE_RUN_ALL(name, SEND, RECV)                                   \
  CONVENE_RUN(name, SEND, RECV, equal_blocks(sendbuf, sendcount, sendtype), \
              equal_blocks(recvbuf, recvcount, recvtype), 0)
#define CONVENE_RUN_ALL_V(name, SEND, RECV)                                 \
  CONVENE_RUN(name, SEND, RECV, equal_blocks(sendbuf, sendcount, sendtype), \
              array_blocks(recvbuf, recvcounts, displs, recvtype), 0)
#define CONVENE_RUN_GATHER(name, SEND, RECV)                                \
  CONVENE_RUN(name, SEND, RECV, equal_blocks(sendbuf, sendcount, sendtype), \
              equal_blocks(recvbuf, recvcount, recvtype), root)
#define CONVENE_RUN_GATHER_V(name, SEND, RECV)                              \
  CONVENE_RUN(name, SEND, RECV, equal_blocks(sendbuf, sendcount, sendtype), \
              array_blocks(recvbuf, recvcounts, displs, recvtype), root)
#define CONVENE_RUN_SCATTER CONVENE_RUN_GATHER
#define CONVENE_RUN_SCATTER_V(name, SEND, RECV)                                      \
  CONVENE_RUN(name, SEND, RECV, array_blocks(sendbuf, sendcounts, displs, sendtype), \
              equal_blocks(recvbuf, recvcount, recvtype), root)
#define CONVENE_RUN_BCAST(name, SEND, RECV)                                      \
  CONVENE_RUN(name, SEND, RECV, equal_blocks(nullptr, Count(0), MPI_Datatype()), \
              equal_blocks(buffer, count, type), root)
#define CONVENE_RUN_ALL_TO_ALL_V(name, SEND, RECV)                                    \
  CONVENE_RUN(name, SEND, RECV, array_blocks(sendbuf, sendcounts, sdispls, sendtype), \
              array_blocks(recvbuf, recvcounts, rdispls, recvtype), 0)

#define CONVENE_RUN_ALL_TO_ALL_W(name, SEND, RECV)                                     \
  CONVENE_RUN(name, SEND, RECV, typed_blocks(sendbuf, sendcounts, sdispls, sendtypes), \
              typed_blocks(recvbuf, recvcounts, rdispls, recvtypes), 0)

CONVENE_COLLECTIVES(CONVENE_DEFINE, CONVENE_NO_COLLECTIVE, CONVENE_NO_COLLECTIVE)

namespace {

template <class AnyForm>
[[gnu::always_inline]] inline int run_any_barrier(MPI_Comm comm, const AnyForm& form) {
  const auto native = [=](const Form& as) CONVENE_INLINE {
    if (as.info) return native_calls::persistent("MPI_Barrier_init", comm, as, comm);
    return as.request ? native_calls::functions(as).Ibarrier(comm, as.request) : next_mpi.Barrier(comm);
  };
  const CallKey key{.collective = Collective::barrier};
  return run(
      key, nullptr, nullptr, comm, form, [](Arguments&) {}, native);
}

}  // namespace

int barrier(MPI_Comm comm, const Form& form) { return run_any_barrier(comm, form); }

/// A repeated barrier consists of its messages only.
int barrier(MPI_Comm comm) {
  if (Communicator* const communicator = Communicator::last(comm);
      communicator && !recorder::may_be_on() && is_repeated_barrier(*communicator))
    return rerun_barrier(*communicator);
  return run_any_barrier(comm, RepeatedOr{[=]() CONVENE_INLINE { return barrier(comm, blocking); }});
}

}  // namespace convene::runtime
