! SPDX-License-Identifier: BSD-3-Clause
#define COMM_HANDLE type(MPI_Comm)
#define TYPE_HANDLE type(MPI_Datatype)
program allgather_f08
  use mpi_f08
  implicit none
#include "allgather_fortran.inc"
end program
