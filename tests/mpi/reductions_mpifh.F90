! SPDX-License-Identifier: BSD-3-Clause
#define OP_HANDLE integer
#define TYPE_HANDLE integer
#define REQUEST_HANDLE integer
program reductions_mpifh
  implicit none
  include 'mpif.h'
  external :: multiply
#include "reductions_fortran.inc"
end program
#include "multiply_fortran.inc"
