! SPDX-License-Identifier: BSD-3-Clause
#define COMM_HANDLE integer
#define TYPE_HANDLE integer
#define REQUEST_HANDLE integer
program alltoalls_usempi
  use mpi
  implicit none
#include "alltoalls_fortran.inc"
end program
