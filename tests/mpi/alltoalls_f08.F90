! SPDX-License-Identifier: BSD-3-Clause
#define COMM_HANDLE type(MPI_Comm)
#define TYPE_HANDLE type(MPI_Datatype)
#define REQUEST_HANDLE type(MPI_Request)
program alltoalls_f08
  use mpi_f08
  implicit none
#include "alltoalls_fortran.inc"
end program
