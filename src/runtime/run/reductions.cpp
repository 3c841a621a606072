// SPDX-License-Identifier: BSD-3-Clause
// Collectives that combine data.
#include <algorithm>

#include "runtime/run/collectives.hpp"
#include "runtime/run/define_collectives.hpp"

namespace convene::runtime {
namespace {

/// The shape with which a later call is compared.
template <class Count>
CallKey key_of(Collective collective, const void* sendbuf, Count count, MPI_Datatype type, MPI_Op op,
               int root) {
  return {.collective = collective,
          .in_place = sendbuf == MPI_IN_PLACE,
          .root = root,
          .recvcount = count,
          .recvtype = type,
          .op = op};
}

/// A vector, or the blocks of a vector, by one count. `sent` == each: the input is the whole vector, the
/// output one block.
template <Collective collective, Number sent, Number received, class Count, class AnyForm, class Native>
[[gnu::always_inline]] inline int run_reduction(const void* sendbuf, void* recvbuf, Count count,
                                                MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                                                const AnyForm& form, const Native& native) {
  const auto complete = [=](Arguments& call) {
    constexpr bool is_rooted = received == Number::one_at_root;
    call.op = op;
    call.in_place = sendbuf == MPI_IN_PLACE && (!is_rooted || call.is_root());
    if (sent == Number::each)
      call.send = side(call.in_place ? recvbuf : sendbuf, {call.procs, count}, type);
    else if (!call.in_place)
      call.send = side(sendbuf, {1, count}, type);
    if (!is_rooted || call.is_root()) call.recv = side(recvbuf, {1, count}, type);
  };
  return run(key_of(collective, sendbuf, count, type, op, root), sendbuf, recvbuf, comm, form, complete,
             native);
}

/// True if all counts are equal, as in most programs: then a repeated call can be recognised.
template <class Count>
bool are_all_equal(const Count counts[], MPI_Comm comm) {
  const Communicator* communicator = counts ? Communicator::of(comm) : nullptr;
  return communicator && !communicator->is_inter() &&
         std::all_of(counts, counts + communicator->procs(), [&](Count count) { return count == counts[0]; });
}

/// As run_reduction() with `sent` == each, with a count by block.
template <Collective collective, class Count, class AnyForm, class Native>
[[gnu::always_inline]] inline int run_blocks_of_vector(const void* sendbuf, void* recvbuf,
                                                       const Count recvcounts[], MPI_Datatype type, MPI_Op op,
                                                       MPI_Comm comm, const AnyForm& form,
                                                       const Native& native) {
  const bool are_equal = are_all_equal(recvcounts, comm);
  const auto complete = [=](Arguments& call) {
    call.op = op;
    call.in_place = sendbuf == MPI_IN_PLACE;
    call.is_refused = !recvcounts;
    if (call.is_refused) return;
    const Blocks blocks = are_equal ? Blocks{call.procs, recvcounts[0]} : Blocks{call.procs, recvcounts};
    call.send = side(call.in_place ? recvbuf : sendbuf, blocks, type);
    call.recv = side(recvbuf, {1, recvcounts[call.rank]}, type);
  };
  if (!are_equal) return run(collective, comm, 0, form, complete, native);
  return run(key_of(collective, sendbuf, recvcounts[0], type, op, 0), sendbuf, recvbuf, comm, form, complete,
             native);
}

}  // namespace

#define CONVENE_RUN_REDUCE(name, SEND, RECV)                                                                 \
  run_reduction<Collective::name, Number::SEND, Number::RECV>(sendbuf, recvbuf, count, type, op, root, comm, \
                                                              form, native)
#define CONVENE_RUN_ALLREDUCE(name, SEND, RECV)                                                           \
  run_reduction<Collective::name, Number::SEND, Number::RECV>(sendbuf, recvbuf, count, type, op, 0, comm, \
                                                              form, native)
#define CONVENE_RUN_REDUCE_SCATTER(name, SEND, RECV) \
  run_blocks_of_vector<Collective::name>(sendbuf, recvbuf, recvcounts, type, op, comm, form, native)

CONVENE_COLLECTIVES(CONVENE_NO_COLLECTIVE, CONVENE_DEFINE, CONVENE_NO_COLLECTIVE)

}  // namespace convene::runtime
