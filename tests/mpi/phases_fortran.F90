! SPDX-License-Identifier: BSD-3-Clause
! Declared phases from Fortran: allgather, allgatherv, reduce and allreduce with phases before them, and a refusal.
program phases_fortran
  use mpi
  use convene
  implicit none
  integer, parameter :: items = 300, runs = 4
  integer :: ierror, rank, procs, comm, request, run, i, total, code
  integer, allocatable :: mine(:), all(:), counts(:), displs(:)
  double precision, allocatable :: part(:), sum(:)
  type(convene_operation) :: operation

  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_rank(comm, rank, ierror)
  call MPI_Comm_size(comm, procs, ierror)
  total = items * procs
  allocate (mine(items), all(total), counts(procs), displs(procs), part(items), sum(items))
  counts = items
  displs = [(items * (i - 1), i = 1, procs)]

  call convene_use(comm, 'allgather=bdr,allgatherv=list_scheduled,reduce=clairvoyant,allreduce=prr')
  call convene_use(comm, 'allgather=no_such_thing', code)
  call expect(code /= MPI_SUCCESS, 'a refusal')
  call expect(index(convene_error(), 'no_such_thing') > 0, 'its sentence')

  call convene_expect(comm, [(1d-3 * i, i = 1, procs)])
  call convene_expect(comm, [(1d-3, i = 0, -1)])
  call convene_expect(comm, [(-1d0, i = 1, procs)], code)
  call expect(code /= MPI_SUCCESS .and. index(convene_error(), 'convene_expect') > 0, 'no time')

  call convene_allgather_init(mine, items, MPI_INTEGER, all, items, MPI_INTEGER, comm, operation)
  call convene_phase_init(operation, 0d0)
  call check_gathers('allgather')

  call convene_allgatherv_init(mine, items, MPI_INTEGER, all, counts, displs, MPI_INTEGER, comm, operation)
  call convene_phase_init(operation, 0d0)
  call check_gathers('allgatherv')

  call convene_reduce_init(part, sum, items, MPI_DOUBLE_PRECISION, MPI_SUM, procs - 1, comm, operation)
  call convene_phase_init(operation, 1d-4)
  call check_sums('reduce', rank == procs - 1)

  call convene_allreduce_init(part, sum, items, MPI_DOUBLE_PRECISION, MPI_SUM, comm, operation)
  call convene_phase_init(operation, 0d0)
  call check_sums('allreduce', .true.)

  if (rank == 0) print '(a)', 'phases from Fortran: done'
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)

contains

  ! Runs the operation some times, with a phase before each, and frees it.
  subroutine check_gathers(what)
    character(*), intent(in) :: what
    do run = 1, runs
      all = -1
      call compute()
      mine = 1000 * run + rank
      call finish_run()
      call expect(every_part_is(run), what)
    end do
    call convene_free(operation)
  end subroutine

  subroutine check_sums(what, has_result)
    character(*), intent(in) :: what
    logical, intent(in) :: has_result
    do run = 1, runs
      sum = -1
      call compute()
      part = run + rank
      call finish_run()
      if (has_result) call expect(maxval(abs(sum - run * procs - procs * (procs - 1) / 2)) < 1d-9, what)
    end do
    call convene_free(operation)
  end subroutine

  ! One rank, not always the same, takes longer; the edge is in the middle.
  subroutine compute()
    double precision :: begin, seconds
    seconds = merge(0.02d0, 0.002d0, mod(rank + run, procs) == 0)
    call convene_phase_begin(operation)
    begin = MPI_Wtime()
    do while (MPI_Wtime() - begin < seconds / 2)
    end do
    call convene_phase_edge(operation, 0.5d0)
    do while (MPI_Wtime() - begin < seconds)
    end do
  end subroutine

  subroutine finish_run()
    call convene_phase_end(operation)
    call convene_start(operation, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call expect(ierror == MPI_SUCCESS, 'MPI_Wait')
  end subroutine

  logical function every_part_is(run) result(holds)
    integer, intent(in) :: run
    integer :: i
    holds = .true.
    do i = 1, procs
      holds = holds .and. all_equal(all(items * (i - 1) + 1:items * i), 1000 * run + i - 1)
    end do
  end function

  logical function all_equal(values, value)
    integer, intent(in) :: values(:), value
    all_equal = maxval(values) == value .and. minval(values) == value
  end function

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(a, a, a, i0)', 'FAILED: ', what, ' on rank ', rank
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
