// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/reductions.hpp"

#include <algorithm>

#include "runtime/call/native_call.hpp"
#include "runtime/run/run_collective.hpp"

namespace convene::runtime {
namespace {

BufferArgument side(const void* buffer, Blocks blocks, MPI_Datatype type) {
  return {const_cast<void*>(buffer), blocks, type};
}

/// What a later call is compared with.
template <class Count>
Shape shape_of(Collective collective, const void* sendbuf, Count count, MPI_Datatype type, MPI_Op op,
               int root = 0) {
  return {.collective = collective,
          .in_place = sendbuf == MPI_IN_PLACE,
          .root = root,
          .recvcount = count,
          .recvtype = type,
          .op = op};
}

/// A vector on both sides.
template <class Count>
auto vectors(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op) {
  return [=](Arguments& call) {
    call.op = op;
    call.in_place = sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {1, count}, type);
    call.recv = side(recvbuf, {1, count}, type);
  };
}

/// As most programs have them: then a call can be told to be the last one again.
template <class Count>
bool are_all_equal(const Count counts[], MPI_Comm comm) {
  const Communicator* communicator = Communicator::of(comm);
  return communicator && !communicator->is_inter() &&
         std::all_of(counts, counts + communicator->procs(), [&](Count count) { return count == counts[0]; });
}

}  // namespace

template <class Count>
int reduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, int root,
           MPI_Comm comm, const Form& form) {
  const auto complete = [&](Arguments& call) {
    call.op = op;
    call.in_place = call.is_root() && sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {1, count}, type);
    if (call.is_root()) call.recv = side(recvbuf, {1, count}, type);
  };
  return run(shape_of(Collective::reduce, sendbuf, count, type, op, root), sendbuf, recvbuf, comm, form,
             complete, CONVENE_NATIVE(Reduce, Ireduce, comm, sendbuf, recvbuf, count, type, op, root));
}

template <class Count>
int allreduce(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
              const Form& form) {
  return run(shape_of(Collective::allreduce, sendbuf, count, type, op), sendbuf, recvbuf, comm, form,
             vectors(sendbuf, recvbuf, count, type, op),
             CONVENE_NATIVE(Allreduce, Iallreduce, comm, sendbuf, recvbuf, count, type, op));
}

template <class Count>
int reduce_scatter(const void* sendbuf, void* recvbuf, const Count recvcounts[], MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, const Form& form) {
  const auto native =
      CONVENE_NATIVE(Reduce_scatter, Ireduce_scatter, comm, sendbuf, recvbuf, recvcounts, type, op);
  if (!recvcounts) return leave_to_mpi(NativeCall(native), form);  // the MPI has its own words for that
  const bool are_equal = are_all_equal(recvcounts, comm);
  const auto complete = [&](Arguments& call) {
    call.op = op;
    call.in_place = sendbuf == MPI_IN_PLACE;
    const Blocks blocks = are_equal ? Blocks{call.procs, recvcounts[0]} : Blocks{call.procs, recvcounts};
    call.send = side(call.in_place ? recvbuf : sendbuf, blocks, type);
    call.recv = side(recvbuf, {1, recvcounts[call.rank]}, type);
  };
  if (!are_equal) return run(Collective::reduce_scatter, comm, 0, form, complete, native);
  return run(shape_of(Collective::reduce_scatter, sendbuf, recvcounts[0], type, op), sendbuf, recvbuf, comm,
             form, complete, native);
}

template <class Count>
int reduce_scatter_block(const void* sendbuf, void* recvbuf, Count recvcount, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm, const Form& form) {
  const auto complete = [&](Arguments& call) {
    call.op = op;
    call.in_place = sendbuf == MPI_IN_PLACE;
    call.send = side(call.in_place ? recvbuf : sendbuf, {call.procs, recvcount}, type);
    call.recv = side(recvbuf, {1, recvcount}, type);
  };
  return run(shape_of(Collective::reduce_scatter_block, sendbuf, recvcount, type, op), sendbuf, recvbuf, comm,
             form, complete,
             CONVENE_NATIVE(Reduce_scatter_block, Ireduce_scatter_block, comm, sendbuf, recvbuf, recvcount,
                            type, op));
}

template <class Count>
int scan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
         const Form& form) {
  return run(shape_of(Collective::scan, sendbuf, count, type, op), sendbuf, recvbuf, comm, form,
             vectors(sendbuf, recvbuf, count, type, op),
             CONVENE_NATIVE(Scan, Iscan, comm, sendbuf, recvbuf, count, type, op));
}

template <class Count>
int exscan(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
           const Form& form) {
  return run(shape_of(Collective::exscan, sendbuf, count, type, op), sendbuf, recvbuf, comm, form,
             vectors(sendbuf, recvbuf, count, type, op),
             CONVENE_NATIVE(Exscan, Iexscan, comm, sendbuf, recvbuf, count, type, op));
}

#define CONVENE_INSTANTIATE(Count)                                                                         \
  template int reduce<Count>(const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm, const Form&); \
  template int allreduce<Count>(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm, const Form&);   \
  template int reduce_scatter<Count>(const void*, void*, const Count[], MPI_Datatype, MPI_Op, MPI_Comm,    \
                                     const Form&);                                                         \
  template int reduce_scatter_block<Count>(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm,      \
                                           const Form&);                                                   \
  template int scan<Count>(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm, const Form&);        \
  template int exscan<Count>(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm, const Form&);

CONVENE_INSTANTIATE(int)
CONVENE_INSTANTIATE(MPI_Count)
#undef CONVENE_INSTANTIATE

}  // namespace convene::runtime
