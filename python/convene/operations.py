# SPDX-License-Identifier: BSD-3-Clause
"""Persistent collectives with declared phases, for programs that use mpi4py.

    from convene import operations

    gather = operations.allgather(comm, mine, everything, use="bdr")
    gather.declare_phases()
    for step in range(steps):
        with gather.phase() as phase:
            compute(first_half)
            phase.edge(0.5)
            compute(second_half)
        gather.start().Wait()
    gather.free()

Buffers are contiguous NumPy arrays; an operation keeps them. What the calls mean is said in the C API.
"""

import ctypes
import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from convene._core import RequestError
from convene.base import paths

Array = NDArray[Any]


def stack() -> str:
    """The stack of the MPI that mpi4py has loaded."""
    if MPI.Get_library_version().startswith("Open MPI"):
        return "openmpi"
    return "abi" if "libmpi_abi" in Path("/proc/self/maps").read_text() else "mpich"


@functools.cache
def library() -> ctypes.CDLL:
    """Convene's library for this MPI: the drop-in library, where the program runs with it, since it has
    one runtime."""
    if f"libconvene-preload-{stack()}.so" in Path("/proc/self/maps").read_text():
        return _with_types(ctypes.CDLL(None))
    name = f"libconvene-{stack()}.so"
    path = paths.find(name, paths.LIBRARIES)
    if path is None:
        raise RequestError(
            f"{name} not found; install this MPI's compiler wrapper (mpicc) and build Convene again"
        )
    return _with_types(ctypes.CDLL(str(path)))


def _with_types(loaded: ctypes.CDLL) -> ctypes.CDLL:
    loaded.convene_error.restype = ctypes.c_char_p
    return loaded


class Operation:
    """A collective with its buffers. Methods raise ValueError for errors of Convene, MPI.Exception for those
    of the MPI."""

    def __init__(
        self, name: str, comm: MPI.Comm, use: str | None, *arguments: Any, kept: Sequence[Array]
    ) -> None:
        self._kept = kept
        self._operation = ctypes.c_void_p()
        if use is not None:
            check(library().convene_use(_handle(comm), f"{name}={use}".encode()))
        make = getattr(library(), f"convene_{name}_init")
        check(make(*arguments, _handle(comm), ctypes.byref(self._operation)))

    def declare_phases(self, round_seconds: float = 0) -> None:
        """Phases will precede the runs. Collective. `round_seconds`: how long a rank needs to send a block (a
        segment of a reduction's vector) and to receive another at the same time; 0 has Convene measure it."""
        check(library().convene_phase_init(self._operation, ctypes.c_double(round_seconds)))

    def begin(self) -> None:
        """The computation begins."""
        check(library().convene_phase_begin(self._operation))

    def edge(self, fraction: float) -> None:
        """This part of it is done, above 0 and at most 1."""
        check(library().convene_phase_edge(self._operation, ctypes.c_double(fraction)))

    def end(self) -> None:
        """It is over, and the contribution is complete."""
        check(library().convene_phase_end(self._operation))

    @contextmanager
    def phase(self) -> Iterator["Operation"]:
        """Calls begin() and end(). After an exception the phase stays open, because there is no "
        "contribution."""
        self.begin()
        yield self
        self.end()

    def start(self) -> MPI.Request:
        """Starts the collective; the request's end is its end."""
        request = MPI.Request()
        check(library().convene_start(self._operation, ctypes.c_void_p(MPI._addressof(request))))
        return request

    def free(self) -> None:
        """Frees the operation, which must not be running. Collective."""
        check(library().convene_free(ctypes.byref(self._operation)))


def expect(comm: MPI.Comm, seconds: Sequence[float] | None) -> None:
    """When each rank is expected in the blocking collectives that follow on `comm`: seconds after a moment
    that is the same for all, one number for each rank, equal on all of them; None: unknown."""
    if seconds is None:
        check(library().convene_expect(_handle(comm), None))
        return
    if len(seconds) != comm.Get_size():
        raise ValueError(f"{len(seconds)} arrivals are expected, of {comm.Get_size()} ranks")
    arrivals = np.ascontiguousarray(seconds, dtype=np.double)
    check(library().convene_expect(_handle(comm), _pointer(arrivals)))


def allgather(comm: MPI.Comm, mine: Array, everything: Array, use: str | None = None) -> Operation:
    """`mine` is of the same size everywhere, and `everything` as large as those of all ranks together."""
    _require_same_type(mine, everything)
    if everything.size != mine.size * comm.Get_size():
        raise ValueError(
            f"the result has {everything.size} items, but needs {comm.Get_size()} times {mine.size}"
        )
    address, count, datatype = _side(mine)
    sides = (address, count, datatype, _result(everything), count, datatype)
    return Operation("allgather", comm, use, *sides, kept=(mine, everything))


def allgatherv(
    comm: MPI.Comm, mine: Array, everything: Array, counts: Sequence[int], use: str | None = None
) -> Operation:
    """`counts`: number of items from each rank, in consecutive blocks."""
    _require_same_type(mine, everything)
    if len(counts) != comm.Get_size() or sum(counts) > everything.size:
        raise ValueError(
            f"the counts are {list(counts)}, for {comm.Get_size()} ranks and {everything.size} items"
        )
    if mine.size != counts[comm.Get_rank()]:
        raise ValueError(f"this rank has {mine.size} items, and the counts give it {counts[comm.Get_rank()]}")
    sizes = np.ascontiguousarray(counts, dtype=np.intc)
    displacements = np.ascontiguousarray(np.cumsum([0, *counts])[:-1], dtype=np.intc)
    own = _side(mine)
    sides = (*own, _result(everything), _pointer(sizes), _pointer(displacements), own[2])
    return Operation("allgatherv", comm, use, *sides, kept=(mine, everything, sizes, displacements))


def reduce(
    comm: MPI.Comm, mine: Array, total: Array, op: MPI.Op = MPI.SUM, root: int = 0, use: str | None = None
) -> Operation:
    """`total` counts at the root only."""
    arguments = _reduced(comm, mine, total, op, counts=comm.Get_rank() == root)
    return Operation("reduce", comm, use, *arguments, ctypes.c_int(root), kept=(mine, total))


def allreduce(
    comm: MPI.Comm, mine: Array, total: Array, op: MPI.Op = MPI.SUM, use: str | None = None
) -> Operation:
    return Operation("allreduce", comm, use, *_reduced(comm, mine, total, op), kept=(mine, total))


def check(code: int) -> None:
    if code == MPI.SUCCESS:
        return
    sentence = library().convene_error()
    if MPI.Get_error_class(code) == MPI.ERR_ARG and sentence:
        raise ValueError(sentence.decode())
    raise MPI.Exception(code)


def _reduced(
    comm: MPI.Comm, mine: Array, total: Array, op: MPI.Op, *, counts: bool = True
) -> tuple[Any, ...]:
    address, size, datatype = _side(mine)
    if not counts:
        return address, None, size, datatype, _handle(op)
    _require_same_type(mine, total)
    if total.size != mine.size:
        raise ValueError(f"the result has {total.size} items, but needs {mine.size}")
    return address, _result(total), size, datatype, _handle(op)


def _require_same_type(mine: Array, result: Array) -> None:
    if mine.dtype != result.dtype:
        raise ValueError(f"the result has items of {result.dtype}, but needs {mine.dtype}")


def _side(array: Array) -> tuple[Any, Any, Any]:
    """Address, count and datatype."""
    datatype = MPI._typedict.get(array.dtype.char)
    if datatype is None or not array.dtype.isnative:
        raise ValueError(f"the MPI has no type for items of {array.dtype}")
    return _pointer(array), ctypes.c_int(array.size), _handle(datatype)


def _result(array: Array) -> ctypes.c_void_p:
    if not array.flags.writeable:
        raise ValueError("the array for the result is read-only")
    return _pointer(array)


def _pointer(array: Array) -> ctypes.c_void_p:
    if not array.flags.c_contiguous:
        raise ValueError("an array that is not contiguous; give numpy.ascontiguousarray() of it")
    return ctypes.c_void_p(array.ctypes.data)


def _handle(thing: MPI.Comm | MPI.Datatype | MPI.Op) -> Any:
    """The C handle of an object of mpi4py's, by value."""
    word = ctypes.c_int if MPI._sizeof(thing) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p
    return word.from_address(MPI._addressof(thing))
