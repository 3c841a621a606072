// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/call/collectives.hpp"

#include "runtime/call/native_call.hpp"
#include "runtime/run/run_collective.hpp"

namespace convene::runtime {
namespace {

BufferArgument side(const void* buffer, Blocks blocks, MPI_Datatype type) {
  return {const_cast<void*>(buffer), blocks, type};
}

/// How many neighbours this rank has on each side.
struct Degrees {
  bool are_known =
      false;  // else there is no topology, or the communicator is none: the MPI has words for that
  Rank sources = 0, targets = 0;
};

Degrees degrees_of(MPI_Comm comm) {
  Communicator* communicator = Communicator::of(comm);
  const Graph* graph = communicator ? communicator->neighbors().graph.get() : nullptr;
  if (!graph) return {};
  const Rank rank = communicator->rank();
  return {true, static_cast<Rank>(graph->sources[rank].size()),
          static_cast<Rank>(graph->targets[rank].size())};
}

}  // namespace

template <class Count>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
              MPI_Datatype recvtype, MPI_Comm comm, const Form& form) {
  const Shape shape{
      Collective::allgather, sendbuf == MPI_IN_PLACE, 0, sendcount, sendtype, recvcount, recvtype};
  const auto complete = [&](Arguments& call) {
    call.in_place = sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {1, sendcount}, sendtype);
    call.recv = side(recvbuf, {call.procs, recvcount}, recvtype);
  };
  return run(shape, sendbuf, recvbuf, comm, form, complete,
             CONVENE_NATIVE(Allgather, Iallgather, comm, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                            recvtype));
}

template <class Count>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype,
               MPI_Comm comm, const Form& form) {
  const auto native = CONVENE_NATIVE(Allgatherv, Iallgatherv, comm, sendbuf, sendcount, sendtype, recvbuf,
                                     recvcounts, displs, recvtype);
  if (!recvcounts || !displs)
    return leave_to_mpi(NativeCall(native), form);  // the MPI has its own words for that
  const auto complete = [&](Arguments& call) {
    call.in_place = sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {1, sendcount}, sendtype);
    call.recv = side(recvbuf, {call.procs, recvcounts, displs}, recvtype);
  };
  return run(Collective::allgatherv, comm, 0, form, complete, native);
}

template <class Count>
int gather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
           MPI_Datatype recvtype, int root, MPI_Comm comm, const Form& form) {
  const Shape shape{
      Collective::gather, sendbuf == MPI_IN_PLACE, root, sendcount, sendtype, recvcount, recvtype};
  const auto complete = [&](Arguments& call) {
    call.in_place = call.is_root() && sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {1, sendcount}, sendtype);
    if (call.is_root()) call.recv = side(recvbuf, {call.procs, recvcount}, recvtype);
  };
  return run(shape, sendbuf, recvbuf, comm, form, complete,
             CONVENE_NATIVE(Gather, Igather, comm, sendbuf, sendcount, sendtype, recvbuf,
                            native_calls::at_root<Count>(comm, root, recvcount), recvtype, root));
}

template <class Count>
int gatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
            const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype, int root,
            MPI_Comm comm, const Form& form) {
  const auto native = CONVENE_NATIVE(Gatherv, Igatherv, comm, sendbuf, sendcount, sendtype, recvbuf,
                                     native_calls::at_root<Count>(comm, root, recvcounts),
                                     native_calls::at_root<Count>(comm, root, displs), recvtype, root);
  const auto complete = [&](Arguments& call) {
    call.in_place = call.is_root() && sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {1, sendcount}, sendtype);
    if (call.is_root()) call.recv = side(recvbuf, {call.procs, recvcounts, displs}, recvtype);
  };
  return run(Collective::gatherv, comm, root, form, complete, native);
}

template <class Count>
int scatter(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
            MPI_Datatype recvtype, int root, MPI_Comm comm, const Form& form) {
  const Shape shape{
      Collective::scatter, recvbuf == MPI_IN_PLACE, root, sendcount, sendtype, recvcount, recvtype};
  const auto complete = [&](Arguments& call) {
    call.in_place = call.is_root() && recvbuf == MPI_IN_PLACE;
    if (!call.in_place) call.recv = side(recvbuf, {1, recvcount}, recvtype);
    if (call.is_root()) call.send = side(sendbuf, {call.procs, sendcount}, sendtype);
  };
  return run(
      shape, sendbuf, recvbuf, comm, form, complete,
      CONVENE_NATIVE(Scatter, Iscatter, comm, sendbuf, native_calls::at_root<Count>(comm, root, sendcount),
                     sendtype, recvbuf, recvcount, recvtype, root));
}

template <class Count>
int scatterv(const void* sendbuf, const Count sendcounts[], const DisplacementOf<Count> displs[],
             MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype, int root,
             MPI_Comm comm, const Form& form) {
  const auto native = CONVENE_NATIVE(
      Scatterv, Iscatterv, comm, sendbuf, native_calls::at_root<Count>(comm, root, sendcounts),
      native_calls::at_root<Count>(comm, root, displs), sendtype, recvbuf, recvcount, recvtype, root);
  const auto complete = [&](Arguments& call) {
    call.in_place = call.is_root() && recvbuf == MPI_IN_PLACE;
    if (!call.in_place) call.recv = side(recvbuf, {1, recvcount}, recvtype);
    if (call.is_root()) call.send = side(sendbuf, {call.procs, sendcounts, displs}, sendtype);
  };
  return run(Collective::scatterv, comm, root, form, complete, native);
}

template <class Count>
int bcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm, const Form& form) {
  const Shape shape{Collective::bcast, false, root, 0, MPI_DATATYPE_NULL, count, type};
  const auto complete = [&](Arguments& call) { call.recv = side(buffer, {1, count}, type); };
  return run(shape, nullptr, buffer, comm, form, complete,
             CONVENE_NATIVE(Bcast, Ibcast, comm, buffer, count, type, root));
}

template <class Count>
int alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf, Count recvcount,
             MPI_Datatype recvtype, MPI_Comm comm, const Form& form) {
  const Shape shape{
      Collective::alltoall, sendbuf == MPI_IN_PLACE, 0, sendcount, sendtype, recvcount, recvtype};
  const auto complete = [&](Arguments& call) {
    call.in_place = sendbuf == MPI_IN_PLACE;
    if (!call.in_place) call.send = side(sendbuf, {call.procs, sendcount}, sendtype);
    call.recv = side(recvbuf, {call.procs, recvcount}, recvtype);
  };
  return run(
      shape, sendbuf, recvbuf, comm, form, complete,
      CONVENE_NATIVE(Alltoall, Ialltoall, comm, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
}

template <class Count>
int alltoallv(const void* sendbuf, const Count sendcounts[], const DisplacementOf<Count> sdispls[],
              MPI_Datatype sendtype, void* recvbuf, const Count recvcounts[],
              const DisplacementOf<Count> rdispls[], MPI_Datatype recvtype, MPI_Comm comm, const Form& form) {
  const auto native = CONVENE_NATIVE(Alltoallv, Ialltoallv, comm, sendbuf, sendcounts, sdispls, sendtype,
                                     recvbuf, recvcounts, rdispls, recvtype);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (!recvcounts || !rdispls || (!in_place && (!sendcounts || !sdispls)))
    return leave_to_mpi(NativeCall(native), form);
  const auto complete = [&](Arguments& call) {
    call.in_place = in_place;
    if (!in_place) call.send = side(sendbuf, {call.procs, sendcounts, sdispls}, sendtype);
    call.recv = side(recvbuf, {call.procs, recvcounts, rdispls}, recvtype);
  };
  return run(Collective::alltoallv, comm, 0, form, complete, native);
}

template <class Count>
int neighbor_allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                       Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, const Form& form) {
  const auto native = CONVENE_NATIVE(Neighbor_allgather, Ineighbor_allgather, comm, sendbuf, sendcount,
                                     sendtype, recvbuf, recvcount, recvtype);
  const Degrees degrees = degrees_of(comm);
  if (!degrees.are_known || sendbuf == MPI_IN_PLACE) return leave_to_mpi(NativeCall(native), form);
  const Shape shape{Collective::neighbor_allgather, false, 0, sendcount, sendtype, recvcount, recvtype};
  const auto complete = [&](Arguments& call) {
    if (degrees.targets > 0) call.send = side(sendbuf, {1, sendcount}, sendtype);
    if (degrees.sources > 0) call.recv = side(recvbuf, {degrees.sources, recvcount}, recvtype);
  };
  return run(shape, sendbuf, recvbuf, comm, form, complete, native);
}

template <class Count>
int neighbor_allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                        const Count recvcounts[], const DisplacementOf<Count> displs[], MPI_Datatype recvtype,
                        MPI_Comm comm, const Form& form) {
  const auto native = CONVENE_NATIVE(Neighbor_allgatherv, Ineighbor_allgatherv, comm, sendbuf, sendcount,
                                     sendtype, recvbuf, recvcounts, displs, recvtype);
  const Degrees degrees = degrees_of(comm);
  const bool lacks_arrays = degrees.sources > 0 && (!recvcounts || !displs);
  if (!degrees.are_known || sendbuf == MPI_IN_PLACE || lacks_arrays)
    return leave_to_mpi(NativeCall(native), form);
  const auto complete = [&](Arguments& call) {
    if (degrees.targets > 0) call.send = side(sendbuf, {1, sendcount}, sendtype);
    if (degrees.sources > 0) call.recv = side(recvbuf, {degrees.sources, recvcounts, displs}, recvtype);
  };
  return run(Collective::neighbor_allgatherv, comm, 0, form, complete, native);
}

namespace {

[[gnu::noinline]] int barrier_in_full(MPI_Comm comm, const Form& form) {
  const auto native = [=](const Form& as) {
    if (as.info) return native_calls::persistent("PMPI_Barrier_init", comm, as);
    return as.request ? pmpi.Ibarrier(comm, as.request) : pmpi.Barrier(comm);
  };
  return run(
      Collective::barrier, comm, 0, form, [](Arguments&) {}, native);
}

}  // namespace

/// A barrier that repeats is its messages and nothing else, so whatever stands around them shows: above all each return
/// after a wait that has given way to others. Nothing is left to return to here.
int barrier(MPI_Comm comm, const Form& form) {
  if (form.is_blocking() && !recorder::may_be_on())
    if (Communicator* const communicator = Communicator::of(comm);
        communicator && is_repeated_barrier(*communicator))
      return rerun_barrier(*communicator);
  return barrier_in_full(comm, form);
}

#define CONVENE_INSTANTIATE(Count, Displacement)                                                             \
  template int allgather<Count>(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm,      \
                                const Form&);                                                                \
  template int allgatherv<Count>(const void*, Count, MPI_Datatype, void*, const Count[],                     \
                                 const Displacement[], MPI_Datatype, MPI_Comm, const Form&);                 \
  template int gather<Count>(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int, MPI_Comm,    \
                             const Form&);                                                                   \
  template int gatherv<Count>(const void*, Count, MPI_Datatype, void*, const Count[], const Displacement[],  \
                              MPI_Datatype, int, MPI_Comm, const Form&);                                     \
  template int scatter<Count>(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, int, MPI_Comm,   \
                              const Form&);                                                                  \
  template int scatterv<Count>(const void*, const Count[], const Displacement[], MPI_Datatype, void*, Count, \
                               MPI_Datatype, int, MPI_Comm, const Form&);                                    \
  template int bcast<Count>(void*, Count, MPI_Datatype, int, MPI_Comm, const Form&);                         \
  template int alltoall<Count>(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm,       \
                               const Form&);                                                                 \
  template int alltoallv<Count>(const void*, const Count[], const Displacement[], MPI_Datatype, void*,       \
                                const Count[], const Displacement[], MPI_Datatype, MPI_Comm, const Form&);   \
  template int neighbor_allgather<Count>(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype,       \
                                         MPI_Comm, const Form&);                                             \
  template int neighbor_allgatherv<Count>(const void*, Count, MPI_Datatype, void*, const Count[],            \
                                          const Displacement[], MPI_Datatype, MPI_Comm, const Form&);

CONVENE_INSTANTIATE(int, int)
CONVENE_INSTANTIATE(MPI_Count, MPI_Aint)
#undef CONVENE_INSTANTIATE

}  // namespace convene::runtime
