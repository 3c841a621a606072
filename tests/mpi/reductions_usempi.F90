! SPDX-License-Identifier: BSD-3-Clause
#define OP_HANDLE integer
#define TYPE_HANDLE integer
#define REQUEST_HANDLE integer
program reductions_usempi
  use mpi
  implicit none
  external :: multiply
#include "reductions_fortran.inc"
end program
#include "multiply_fortran.inc"
