// SPDX-License-Identifier: BSD-3-Clause
// Fortran under Open MPI. Its bindings call PMPI_ functions directly, so a Fortran program never reaches the C names
// and its own ones are wrapped here: mpif.h and `use mpi` call mpi_x_ (in four spellings, by compiler), `use mpi_f08`
// calls mpi_x_f08_. Both pass everything by address; handles are integers, and MPI_IN_PLACE and MPI_BOTTOM are the
// addresses of two common blocks. (MPICH's bindings call the C names: nothing to do there.)
#include "execute/mpi.hpp"

#ifdef OPEN_MPI

#include <dlfcn.h>

#include "interpose/door.hpp"
#include "runtime/collectives.hpp"

namespace convene {
namespace {

/// The address of a common block of Open MPI's, in whichever spelling the compiler gave it.
const void* common_block(const char* const (&spellings)[4]) {
  for (const char* spelling : spellings)
    if (const void* address = dlsym(RTLD_DEFAULT, spelling)) return address;
  return nullptr;
}

/// A buffer as C has it.
void* translated(const void* buffer) {
  static const void* const in_place = common_block(
      {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"});
  static const void* const bottom = common_block(
      {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"});
  if (buffer && buffer == in_place) return MPI_IN_PLACE;
  if (buffer && buffer == bottom) return MPI_BOTTOM;
  return const_cast<void*>(buffer);
}

/// Handles as C has them; Open MPI's integers are indices into its tables.
template <class Handle>
Handle translated_handle(const char* function, MPI_Fint index) {
  return reinterpret_cast<Handle (*)(MPI_Fint)>(mpi_symbol(function))(index);
}
MPI_Comm comm_of(const MPI_Fint* index) { return translated_handle<MPI_Comm>("PMPI_Comm_f2c", *index); }
MPI_Datatype type_of(const MPI_Fint* index) {
  return translated_handle<MPI_Datatype>("PMPI_Type_f2c", *index);
}

void give_back(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

/// The request of a non-blocking call: made as C has it, given back as Fortran's integer.
class RequestOf {
 public:
  explicit RequestOf(MPI_Fint* index) : index_(index) {}
  ~RequestOf() {
    *index_ = reinterpret_cast<MPI_Fint (*)(MPI_Request)>(mpi_symbol("PMPI_Request_c2f"))(request_);
  }
  Form form() { return {&request_}; }

 private:
  MPI_Fint* index_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

static_assert(sizeof(MPI_Fint) == sizeof(int), "counts of Fortran are passed on as C's");

/// Defines one spelling of a function: parameters all by address, the arguments as they came, and the call of Convene's.
#define CONVENE_SPELLING(id, name, parameters, as_they_came, call)                                      \
  extern "C" void convene_fortran_##id parameters __asm__(name) __attribute__((visibility("default"))); \
  extern "C" void convene_fortran_##id parameters {                                                     \
    if (!door_is_open())                                                                                \
      return reinterpret_cast<void(*) parameters>(dlsym(RTLD_DEFAULT, "p" name)) as_they_came;          \
    give_back(ierror, call);                                                                            \
  }
#define CONVENE_CAPITALS(id, name, parameters, as_they_came, call)                                      \
  extern "C" void convene_fortran_##id parameters __asm__(name) __attribute__((visibility("default"))); \
  extern "C" void convene_fortran_##id parameters {                                                     \
    if (!door_is_open())                                                                                \
      return reinterpret_cast<void(*) parameters>(dlsym(RTLD_DEFAULT, "P" name)) as_they_came;          \
    give_back(ierror, call);                                                                            \
  }
#define CONVENE_FORTRAN(name, capitals, parameters, as_they_came, call)               \
  CONVENE_SPELLING(name##_plain, "mpi_" #name, parameters, as_they_came, call)        \
  CONVENE_SPELLING(name##_one, "mpi_" #name "_", parameters, as_they_came, call)      \
  CONVENE_SPELLING(name##_two, "mpi_" #name "__", parameters, as_they_came, call)     \
  CONVENE_CAPITALS(name##_capitals, "MPI_" #capitals, parameters, as_they_came, call) \
  CONVENE_SPELLING(name##_f08, "mpi_" #name "_f08_", parameters, as_they_came, call)

CONVENE_FORTRAN(allgather, ALLGATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror),
                allgather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                          type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(iallgather, IALLGATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror),
                allgather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                          type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(allgatherv, ALLGATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, ierror),
                allgatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                           recvcounts, displs, type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(iallgatherv, IALLGATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request, ierror),
                allgatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                           recvcounts, displs, type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(gather, GATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror),
                gather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                       type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(igather, IGATHER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request, ierror),
                gather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                       type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(gatherv, GATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, ierror),
                gatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts,
                        displs, type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(igatherv, IGATHERV,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request,
                 ierror),
                gatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), recvcounts,
                        displs, type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(scatter, SCATTER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror),
                scatter(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                        type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(iscatter, ISCATTER,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request, ierror),
                scatter(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                        type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(scatterv, SCATTERV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* displs,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, ierror),
                scatterv(translated(sendbuf), sendcounts, displs, type_of(sendtype), translated(recvbuf),
                         *recvcount, type_of(recvtype), *root, comm_of(comm)))
CONVENE_FORTRAN(iscatterv, ISCATTERV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* displs,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount, const MPI_Fint* recvtype,
                 const MPI_Fint* root, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request,
                 ierror),
                scatterv(translated(sendbuf), sendcounts, displs, type_of(sendtype), translated(recvbuf),
                         *recvcount, type_of(recvtype), *root, comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(bcast, BCAST,
                (void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* ierror),
                (buffer, count, type, root, comm, ierror),
                bcast(translated(buffer), *count, type_of(type), *root, comm_of(comm)))
CONVENE_FORTRAN(ibcast, IBCAST,
                (void* buffer, const MPI_Fint* count, const MPI_Fint* type, const MPI_Fint* root,
                 const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (buffer, count, type, root, comm, request, ierror),
                bcast(translated(buffer), *count, type_of(type), *root, comm_of(comm),
                      RequestOf(request).form()))
CONVENE_FORTRAN(alltoall, ALLTOALL,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror),
                alltoall(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                         type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(ialltoall, IALLTOALL,
                (const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,
                 const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request,
                 MPI_Fint* ierror),
                (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror),
                alltoall(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf), *recvcount,
                         type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(alltoallv, ALLTOALLV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls,
                 const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror),
                (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                 ierror),
                alltoallv(translated(sendbuf), sendcounts, sdispls, type_of(sendtype), translated(recvbuf),
                          recvcounts, rdispls, type_of(recvtype), comm_of(comm)))
CONVENE_FORTRAN(ialltoallv, IALLTOALLV,
                (const void* sendbuf, const MPI_Fint* sendcounts, const MPI_Fint* sdispls,
                 const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts, const MPI_Fint* rdispls,
                 const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
                 request, ierror),
                alltoallv(translated(sendbuf), sendcounts, sdispls, type_of(sendtype), translated(recvbuf),
                          recvcounts, rdispls, type_of(recvtype), comm_of(comm), RequestOf(request).form()))
CONVENE_FORTRAN(barrier, BARRIER, (const MPI_Fint* comm, MPI_Fint* ierror), (comm, ierror),
                barrier(comm_of(comm)))
CONVENE_FORTRAN(ibarrier, IBARRIER, (const MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierror),
                (comm, request, ierror), barrier(comm_of(comm), RequestOf(request).form()))

}  // namespace convene

#endif  // OPEN_MPI
