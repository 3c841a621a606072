! SPDX-License-Identifier: BSD-3-Clause
#define COMM_HANDLE integer
#define TYPE_HANDLE integer
program allgather_mpifh
  implicit none
  include 'mpif.h'
#include "allgather_fortran.inc"
end program
