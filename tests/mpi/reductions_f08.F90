! SPDX-License-Identifier: BSD-3-Clause
#define OP_HANDLE type(MPI_Op)
#define TYPE_HANDLE type(MPI_Datatype)
#define REQUEST_HANDLE type(MPI_Request)
module operators
  implicit none
contains
  subroutine multiply(left, right, length, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    use mpi_f08, only: MPI_Datatype
    type(c_ptr), value :: left, right
    integer :: length, i
    type(MPI_Datatype) :: datatype
    integer, pointer :: l(:, :), r(:, :)
    integer :: b(4)
    call c_f_pointer(left, l, [4, length])
    call c_f_pointer(right, r, [4, length])
    do i = 1, length
      b = r(:, i)
      r(:, i) = [l(1, i)*b(1) + l(2, i)*b(3), l(1, i)*b(2) + l(2, i)*b(4), &
                 l(3, i)*b(1) + l(4, i)*b(3), l(3, i)*b(2) + l(4, i)*b(4)]
    end do
  end subroutine
end module
program reductions_f08
  use mpi_f08
  use operators, only: multiply
  implicit none
#include "reductions_fortran.inc"
end program
