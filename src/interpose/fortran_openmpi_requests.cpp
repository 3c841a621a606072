// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests in Fortran programs under Open MPI, which do not come to the C functions (interpose/persistent.cpp).
#include "execute/mpi.hpp"

#ifdef OPEN_MPI

#include "interpose/fortran_openmpi.hpp"

namespace convene {
namespace {

using fortran::give_back;

/// The C functions of these names, as a C program under Convene would call them.
extern "C" {
int convene_persistent_Start(MPI_Request*) __asm__("MPI_Start");
int convene_persistent_Request_free(MPI_Request*) __asm__("MPI_Request_free");
}

MPI_Request request_of(MPI_Fint index) {
  return fortran::translated_handle<MPI_Request>("PMPI_Request_f2c", index);
}
MPI_Fint index_of(MPI_Request request) {
  return reinterpret_cast<MPI_Fint (*)(MPI_Request)>(mpi_symbol("PMPI_Request_c2f"))(request);
}

int start(MPI_Fint* index) {
  MPI_Request request = request_of(*index);
  const int code = convene_persistent_Start(&request);
  *index = index_of(request);
  return code;
}

int start_all(int count, MPI_Fint* indices) {
  for (int i = 0; i < count; ++i)
    if (const int code = start(indices + i); code != MPI_SUCCESS) return code;
  return MPI_SUCCESS;
}

int free_request(MPI_Fint* index) {
  MPI_Request request = request_of(*index);
  const int code = convene_persistent_Request_free(&request);
  *index = index_of(request);
  return code;
}

}  // namespace

CONVENE_FORTRAN(start, START, (MPI_Fint * request, MPI_Fint* ierror), (request, ierror), start(request))
CONVENE_FORTRAN(startall, STARTALL, (const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierror),
                (count, requests, ierror), start_all(*count, requests))
CONVENE_FORTRAN(request_free, REQUEST_FREE, (MPI_Fint * request, MPI_Fint* ierror), (request, ierror),
                free_request(request))

}  // namespace convene

#endif  // OPEN_MPI
