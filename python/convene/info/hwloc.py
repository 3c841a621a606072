# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of packages, cores, hardware threads and NUMA domains, from hwloc where it is installed."""

import ctypes
from dataclasses import dataclass

SONAME = "libhwloc.so.15"  # the interface of hwloc 2
PACKAGE, CORE, THREAD, NUMA_DOMAIN = 1, 2, 3, 13  # hwloc_obj_type_t


@dataclass(frozen=True)
class Numbers:
    packages: int
    cores: int
    threads: int
    numa_domains: int


def read() -> Numbers | None:
    """None without hwloc. Devices are not asked for, so that no driver starts."""
    try:
        library = ctypes.CDLL(SONAME)
    except OSError:
        return None
    topology = ctypes.c_void_p()
    if library.hwloc_topology_init(ctypes.byref(topology)) != 0:
        return None
    try:
        if library.hwloc_topology_load(topology) != 0:
            return None

        def number(kind: int) -> int:
            depth = library.hwloc_get_type_depth(topology, kind)
            return int(library.hwloc_get_nbobjs_by_depth(topology, depth))

        return Numbers(number(PACKAGE), number(CORE), number(THREAD), number(NUMA_DOMAIN))
    finally:
        library.hwloc_topology_destroy(topology)
