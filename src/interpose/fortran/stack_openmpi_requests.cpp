// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests in Fortran programs under Open MPI, whose calls do not reach the C functions.
#include "interpose/fortran/fortran_openmpi.hpp"

namespace convene::interpose {

using fortran::give_back;

CONVENE_FORTRAN(start, START, (MPI_Fint * request, MPI_Fint* ierror), (request, ierror),
                fortran::start(request))
CONVENE_FORTRAN(startall, STARTALL, (const MPI_Fint* count, MPI_Fint* requests, MPI_Fint* ierror),
                (count, requests, ierror), fortran::start_all(*count, requests))
CONVENE_FORTRAN(request_free, REQUEST_FREE, (MPI_Fint * request, MPI_Fint* ierror), (request, ierror),
                fortran::free_request(request))

}  // namespace convene::interpose
