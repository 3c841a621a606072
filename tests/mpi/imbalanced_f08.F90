! SPDX-License-Identifier: BSD-3-Clause
! What imbalanced.c does, as an ordinary Fortran program: one rank always computes longer than the others.
!
!   imbalanced_f08 [CALLS [FLOATS [EXTRA_MS [COMPUTE_MS [allgather|reduce|allreduce [rotating]]]]]]
program imbalanced_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c, name='usleep')
      import :: c_int
      integer(c_int), value :: microseconds
    end function usleep
  end interface
  integer :: rank, procs, calls, floats, step, late, i, r
  double precision :: extra, compute, start, before, took, inside, mean
  character(len=16) :: what, who
  real, allocatable :: mine(:), all(:, :), total(:), expected(:)
  logical :: is_right, reduces

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, procs)
  calls = int(number(1, 200d0))
  floats = int(number(2, 4096d0))
  extra = number(3, 4d0)
  compute = number(4, 1d0)
  what = 'allgather'
  who = ''
  if (command_argument_count() >= 5) call get_command_argument(5, what)
  reduces = what == 'allreduce' .or. what == 'reduce'
  if (command_argument_count() >= 6) call get_command_argument(6, who)
  allocate (mine(floats), all(floats, procs), total(floats), expected(floats))
  inside = 0
  start = MPI_Wtime()
  do step = 0, calls - 1
    late = merge(mod(step, procs), procs - 1, who == 'rotating')
    i = usleep(int(1000 * (compute + merge(extra, 0d0, rank == late)), c_int))
    mine = items_of(rank)
    before = MPI_Wtime()
    select case (what)
    case ('allreduce')
      call MPI_Allreduce(mine, total, floats, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    case ('reduce')
      call MPI_Reduce(mine, total, floats, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD)
    case default
      call MPI_Allgather(mine, floats, MPI_REAL, all, floats, MPI_REAL, MPI_COMM_WORLD)
    end select
    inside = inside + (MPI_Wtime() - before)
    is_right = .true.
    expected = 0
    do r = 0, procs - 1
      if (.not. reduces) is_right = is_right .and. .not. any(all(:, r + 1) /= items_of(r))
      expected = expected + items_of(r)
    end do
    if (what == 'allreduce' .or. (what == 'reduce' .and. rank == 0)) is_right = .not. any(total /= expected)
    if (.not. is_right) then
      print '(a, i0, a, i0)', 'FAILED: call ', step, ', rank ', rank
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end do
  took = MPI_Wtime() - start
  call MPI_Reduce(inside / procs, mean, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a, f0.6, a, f0.6, a)', calls, ' calls, all right: ', took, ' s in the loop, ', &
    mean, ' s in the calls on a mean rank'
  call MPI_Finalize()

contains

  !> What a rank contributes to this call.
  function items_of(of) result(items)
    integer, intent(in) :: of
    real :: items(floats)
    items = [(real(mod(step * 7 + of * 3 + i, 1024)), i = 0, floats - 1)]
  end function items_of

  double precision function number(which, fallback)
    integer, intent(in) :: which
    double precision, intent(in) :: fallback
    character(len=32) :: text
    number = fallback
    if (command_argument_count() < which) return
    call get_command_argument(which, text)
    read (text, *) number
  end function number
end program imbalanced_f08
