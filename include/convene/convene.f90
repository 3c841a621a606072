! SPDX-License-Identifier: BSD-3-Clause
! Convene for Fortran: persistent collectives and declared phases. Compile this file with the program, by the same
! compiler, and link with libconvene-<stack>, as a C program does; convene.h says what the functions do.
!
! Handles of the MPI are integers, as in mpif.h and `use mpi`; with `use mpi_f08` give their MPI_VAL. Buffers must be
! contiguous, and stay where they are until convene_free; MPI_IN_PLACE is not taken. Without `ierror` an error ends the
! program with a sentence.
module convene
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_null_char, c_null_ptr, c_ptr, c_f_pointer, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private

  ! A collective with its buffers.
  type, public :: convene_operation
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  public :: convene_use, convene_expect, convene_error
  public :: convene_allgather_init, convene_allgatherv_init, convene_reduce_init, convene_allreduce_init
  public :: convene_start, convene_free
  public :: convene_phase_init, convene_phase_begin, convene_phase_edge, convene_phase_end

  interface
    function c_use(comm, uses) bind(C, name="convene_fortran_use") result(code)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: uses(*)
      integer(c_int) :: code
    end function
    function c_expect(comm, seconds, procs) bind(C, name="convene_fortran_expect") result(code)
      import
      integer(c_int), value :: comm, procs
      real(c_double), intent(in) :: seconds(*)
      integer(c_int) :: code
    end function
    function c_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, operation) &
        bind(C, name="convene_fortran_allgather_init") result(code)
      import
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), value :: sendcount, sendtype, recvcount, recvtype, comm
      type(c_ptr), intent(out) :: operation
      integer(c_int) :: code
    end function
    function c_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, operation) &
        bind(C, name="convene_fortran_allgatherv_init") result(code)
      import
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), value :: sendcount, sendtype, recvtype, comm
      integer(c_int), intent(in) :: recvcounts(*), displs(*)
      type(c_ptr), intent(out) :: operation
      integer(c_int) :: code
    end function
    function c_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, operation) &
        bind(C, name="convene_fortran_reduce_init") result(code)
      import
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), value :: count, datatype, op, root, comm
      type(c_ptr), intent(out) :: operation
      integer(c_int) :: code
    end function
    function c_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, operation) &
        bind(C, name="convene_fortran_allreduce_init") result(code)
      import
      type(*), dimension(*), intent(in) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer(c_int), value :: count, datatype, op, comm
      type(c_ptr), intent(out) :: operation
      integer(c_int) :: code
    end function
    function c_start(operation, request) bind(C, name="convene_fortran_start") result(code)
      import
      type(c_ptr), value :: operation
      integer(c_int), intent(inout) :: request
      integer(c_int) :: code
    end function
    function c_free(operation) bind(C, name="convene_free") result(code)
      import
      type(c_ptr), intent(inout) :: operation
      integer(c_int) :: code
    end function
    function c_phase_init(operation, round_seconds) bind(C, name="convene_phase_init") result(code)
      import
      type(c_ptr), value :: operation
      real(c_double), value :: round_seconds
      integer(c_int) :: code
    end function
    function c_phase_begin(operation) bind(C, name="convene_phase_begin") result(code)
      import
      type(c_ptr), value :: operation
      integer(c_int) :: code
    end function
    function c_phase_edge(operation, fraction) bind(C, name="convene_phase_edge") result(code)
      import
      type(c_ptr), value :: operation
      real(c_double), value :: fraction
      integer(c_int) :: code
    end function
    function c_phase_end(operation) bind(C, name="convene_phase_end") result(code)
      import
      type(c_ptr), value :: operation
      integer(c_int) :: code
    end function
    function c_error() bind(C, name="convene_error") result(text)
      import
      type(c_ptr) :: text
    end function
    function c_length(text) bind(C, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! The algorithms on this communicator, such as "allgather=bdr".
  subroutine convene_use(comm, uses, ierror)
    integer, intent(in) :: comm
    character(*), intent(in) :: uses
    integer, optional, intent(out) :: ierror
    call finish(c_use(comm, trim(uses) // c_null_char), ierror)
  end subroutine

  ! When each rank is expected in the blocking calls that follow: seconds after a common moment, for every rank of the
  ! communicator; of size 0: unknown.
  subroutine convene_expect(comm, seconds, ierror)
    integer, intent(in) :: comm
    real(c_double), intent(in) :: seconds(:)
    integer, optional, intent(out) :: ierror
    call finish(c_expect(comm, seconds, size(seconds)), ierror)
  end subroutine

  subroutine convene_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, operation, ierror)
    type(*), dimension(*), intent(in), asynchronous :: sendbuf
    type(*), dimension(*), asynchronous :: recvbuf
    integer, intent(in) :: sendcount, sendtype, recvcount, recvtype, comm
    type(convene_operation), intent(out) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, operation%handle), &
                ierror)
  end subroutine

  subroutine convene_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &
                                     operation, ierror)
    type(*), dimension(*), intent(in), asynchronous :: sendbuf
    type(*), dimension(*), asynchronous :: recvbuf
    integer, intent(in) :: sendcount, sendtype, recvcounts(*), displs(*), recvtype, comm
    type(convene_operation), intent(out) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &
                                  operation%handle), ierror)
  end subroutine

  subroutine convene_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, operation, ierror)
    type(*), dimension(*), intent(in), asynchronous :: sendbuf
    type(*), dimension(*), asynchronous :: recvbuf
    integer, intent(in) :: count, datatype, op, root, comm
    type(convene_operation), intent(out) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, operation%handle), ierror)
  end subroutine

  subroutine convene_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, operation, ierror)
    type(*), dimension(*), intent(in), asynchronous :: sendbuf
    type(*), dimension(*), asynchronous :: recvbuf
    integer, intent(in) :: count, datatype, op, comm
    type(convene_operation), intent(out) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, operation%handle), ierror)
  end subroutine

  ! The request is one of the MPI's: MPI_Wait and the like take it.
  subroutine convene_start(operation, request, ierror)
    type(convene_operation), intent(in) :: operation
    integer, intent(out) :: request
    integer, optional, intent(out) :: ierror
    integer(c_int) :: started
    started = 0
    call finish(c_start(operation%handle, started), ierror)
    request = started
  end subroutine

  subroutine convene_free(operation, ierror)
    type(convene_operation), intent(inout) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_free(operation%handle), ierror)
  end subroutine

  ! round_seconds: how long a rank needs to send one block and to receive another at the same time; 0 has it measured.
  subroutine convene_phase_init(operation, round_seconds, ierror)
    type(convene_operation), intent(in) :: operation
    double precision, intent(in) :: round_seconds
    integer, optional, intent(out) :: ierror
    call finish(c_phase_init(operation%handle, real(round_seconds, c_double)), ierror)
  end subroutine

  subroutine convene_phase_begin(operation, ierror)
    type(convene_operation), intent(in) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_phase_begin(operation%handle), ierror)
  end subroutine

  subroutine convene_phase_edge(operation, fraction, ierror)
    type(convene_operation), intent(in) :: operation
    double precision, intent(in) :: fraction
    integer, optional, intent(out) :: ierror
    call finish(c_phase_edge(operation%handle, real(fraction, c_double)), ierror)
  end subroutine

  subroutine convene_phase_end(operation, ierror)
    type(convene_operation), intent(in) :: operation
    integer, optional, intent(out) :: ierror
    call finish(c_phase_end(operation%handle), ierror)
  end subroutine

  ! Why the last call was refused: one sentence.
  function convene_error() result(text)
    character(:), allocatable :: text
    type(c_ptr) :: sentence
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    sentence = c_error()
    call c_f_pointer(sentence, letters, [c_length(sentence)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! Returns the error code; without ierror, an error ends the program.
  subroutine finish(code, ierror)
    integer(c_int), intent(in) :: code
    integer, optional, intent(out) :: ierror
    if (present(ierror)) then
      ierror = code
    else if (code /= 0) then
      write (error_unit, '(a)') 'convene: ' // convene_error()
      error stop 1
    end if
  end subroutine

end module
