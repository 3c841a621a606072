# SPDX-License-Identifier: BSD-3-Clause
"""The machine: cores, caches, NUMA domains, shared memory, and permissions of the kernel."""

import ctypes
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base.text import bytes_text
from convene.info import hwloc

SYSTEM = Path("/sys/devices/system")
CACHES = SYSTEM / "cpu" / "cpu0" / "cache"
GPU_RUNTIMES = {"CUDA": "libcuda.so.1", "HIP": "libamdhip64.so", "Level Zero": "libze_loader.so.1"}


def first_line(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


@dataclass(frozen=True)
class Cache:
    """A cache that core 0 uses."""

    level: str  # L1d, L2, L3
    size: str
    cores: str  # that share it


def caches() -> Iterator[Cache]:
    for folder in sorted(CACHES.glob("index*")):
        kind = first_line(folder / "type")
        if kind == "Instruction":
            continue
        level = f"L{first_line(folder / 'level')}{'d' if kind == 'Data' else ''}"
        yield Cache(level, cache_size(first_line(folder / "size")), first_line(folder / "shared_cpu_list"))


def cache_size(text: str) -> str:
    """The kernel writes 32K."""
    try:
        return bytes_text(_core.size(text))
    except RequestError:
        return text


def cma() -> str:
    """Permission to read the memory of other ranks (process_vm_readv)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "process_vm_readv"):
        return "no: the C library has no process_vm_readv"
    scope = first_line(Path("/proc/sys/kernel/yama/ptrace_scope"))
    if scope not in ("", "0") and os.geteuid() != 0:
        return f"no: kernel.yama.ptrace_scope is {scope}"
    source, target = ctypes.c_int(7), ctypes.c_int(0)

    class Vector(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    size = ctypes.sizeof(ctypes.c_int)
    mine = Vector(ctypes.addressof(target), size)
    other = Vector(ctypes.addressof(source), size)
    done = libc.process_vm_readv(os.getpid(), ctypes.byref(mine), 1, ctypes.byref(other), 1, 0)
    return "yes" if done == size and target.value == source.value else "no: process_vm_readv is forbidden"


def loadable(name: str) -> bool:
    """Whether the loader's cache has a library of this name. Nothing is loaded: a driver might start."""
    ldconfig = shutil.which("ldconfig") or "/sbin/ldconfig"
    if not Path(ldconfig).exists():
        return False
    from convene.mpi import launchers

    return f"\t{name} " in launchers.output_of([ldconfig, "-p"])


@dataclass(frozen=True)
class Machine:
    """Properties of this node."""

    processor: str
    cores: int
    bound_to: int  # cores that this process may use
    packages: int | None  # None: without hwloc
    threads: int | None  # of the hardware
    numa_domains: int
    levels: dict[str, int]  # domains of each level within this node, as hierarchical algorithms see them
    caches: list[Cache]
    memory: str
    shared_memory: str
    cma: str
    network: str
    gpu_runtimes: list[str]
    nodes: str


def nodes() -> str:
    """The nodes of this job, as its batch system has them."""
    variables = os.environ
    if number := variables.get("SLURM_JOB_NUM_NODES"):
        return f"{number} in this job of Slurm ({variables.get('SLURM_JOB_NODELIST', '?')})"
    if file := variables.get("PBS_NODEFILE"):
        try:
            hosts = set(Path(file).read_text(encoding="utf-8", errors="replace").split())
        except OSError as error:
            return f"unknown: cannot read PBS_NODEFILE ({error.strerror})"
        return f"{len(hosts)} in this job of PBS"
    return "this one (no job of Slurm or PBS)"


def read() -> Machine:
    place = _core.place("")
    shm = Path("/dev/shm")
    room = shutil.disk_usage(shm).free if shm.is_dir() else 0
    counted = hwloc.read()
    domains = counted.numa_domains if counted else len(list((SYSTEM / "node").glob("node[0-9]*")))
    meminfo = first_line(Path("/proc/meminfo")).split()
    return Machine(
        processor=place["cpu"],
        cores=place["cores"],
        bound_to=len(os.sched_getaffinity(0)),
        packages=counted.packages if counted else None,
        threads=counted.threads if counted else None,
        numa_domains=max(1, domains),
        levels=_core.node_levels(os.environ.get("CONVENE_SYSFS") or "/sys"),
        caches=list(caches()),
        memory=bytes_text(int(meminfo[1]) * 1024) if len(meminfo) > 1 else "?",
        shared_memory=f"{bytes_text(room)} free in /dev/shm" if room else "no /dev/shm",
        cma=cma(),
        network=place["network"] or "no RDMA device",
        gpu_runtimes=[name for name, library in GPU_RUNTIMES.items() if loadable(library)],
        nodes=nodes(),
    )
