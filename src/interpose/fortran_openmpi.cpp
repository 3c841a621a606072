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

// Fortran's view of these calls: MPI_Fint is int under every compiler that Open MPI is built with here.
using FortranAllgather = void(const void*, const MPI_Fint*, const MPI_Fint*, void*, const MPI_Fint*,
                              const MPI_Fint*, const MPI_Fint*, MPI_Fint*);
using FortranAllgatherv = void(const void*, const MPI_Fint*, const MPI_Fint*, void*, const MPI_Fint*,
                               const MPI_Fint*, const MPI_Fint*, const MPI_Fint*, MPI_Fint*);

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

void fortran_allgather(const char* beyond, const void* sendbuf, const MPI_Fint* sendcount,
                       const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcount,
                       const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror) {
  if (!door_is_open())
    return reinterpret_cast<FortranAllgather*>(dlsym(RTLD_DEFAULT, beyond))(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, ierror);
  give_back(ierror, allgather(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                              *recvcount, type_of(recvtype), comm_of(comm)));
}

void fortran_allgatherv(const char* beyond, const void* sendbuf, const MPI_Fint* sendcount,
                        const MPI_Fint* sendtype, void* recvbuf, const MPI_Fint* recvcounts,
                        const MPI_Fint* displs, const MPI_Fint* recvtype, const MPI_Fint* comm,
                        MPI_Fint* ierror) {
  if (!door_is_open())
    return reinterpret_cast<FortranAllgatherv*>(dlsym(RTLD_DEFAULT, beyond))(
        sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, ierror);
  give_back(ierror, allgatherv(translated(sendbuf), *sendcount, type_of(sendtype), translated(recvbuf),
                               recvcounts, displs, type_of(recvtype), comm_of(comm)));
}

}  // namespace
}  // namespace convene

static_assert(sizeof(MPI_Fint) == sizeof(int), "counts of Fortran are passed on as C's");

#define CONVENE_FORTRAN_ALLGATHER(id, name, beyond)                                                      \
  extern "C" void convene_fortran_allgather_##id(                                                        \
      const void*, const MPI_Fint*, const MPI_Fint*, void*, const MPI_Fint*, const MPI_Fint*,            \
      const MPI_Fint*, MPI_Fint*) __asm__(name) __attribute__((visibility("default")));                  \
  extern "C" void convene_fortran_allgather_##id(                                                        \
      const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,           \
      const MPI_Fint* recvcount, const MPI_Fint* recvtype, const MPI_Fint* comm, MPI_Fint* ierror) {     \
    convene::fortran_allgather(beyond, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, \
                               ierror);                                                                  \
  }

#define CONVENE_FORTRAN_ALLGATHERV(id, name, beyond)                                                         \
  extern "C" void convene_fortran_allgatherv_##id(                                                           \
      const void*, const MPI_Fint*, const MPI_Fint*, void*, const MPI_Fint*, const MPI_Fint*,                \
      const MPI_Fint*, const MPI_Fint*, MPI_Fint*) __asm__(name) __attribute__((visibility("default")));     \
  extern "C" void convene_fortran_allgatherv_##id(                                                           \
      const void* sendbuf, const MPI_Fint* sendcount, const MPI_Fint* sendtype, void* recvbuf,               \
      const MPI_Fint* recvcounts, const MPI_Fint* displs, const MPI_Fint* recvtype, const MPI_Fint* comm,    \
      MPI_Fint* ierror) {                                                                                    \
    convene::fortran_allgatherv(beyond, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, \
                                comm, ierror);                                                               \
  }

CONVENE_FORTRAN_ALLGATHER(plain, "mpi_allgather", "pmpi_allgather")
CONVENE_FORTRAN_ALLGATHER(one, "mpi_allgather_", "pmpi_allgather_")
CONVENE_FORTRAN_ALLGATHER(two, "mpi_allgather__", "pmpi_allgather__")
CONVENE_FORTRAN_ALLGATHER(capital, "MPI_ALLGATHER", "PMPI_ALLGATHER")
CONVENE_FORTRAN_ALLGATHER(f08, "mpi_allgather_f08_", "pmpi_allgather_f08_")

CONVENE_FORTRAN_ALLGATHERV(plain, "mpi_allgatherv", "pmpi_allgatherv")
CONVENE_FORTRAN_ALLGATHERV(one, "mpi_allgatherv_", "pmpi_allgatherv_")
CONVENE_FORTRAN_ALLGATHERV(two, "mpi_allgatherv__", "pmpi_allgatherv__")
CONVENE_FORTRAN_ALLGATHERV(capital, "MPI_ALLGATHERV", "PMPI_ALLGATHERV")
CONVENE_FORTRAN_ALLGATHERV(f08, "mpi_allgatherv_f08_", "pmpi_allgatherv_f08_")

#endif  // OPEN_MPI
