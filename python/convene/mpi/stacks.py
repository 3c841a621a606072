# SPDX-License-Identifier: BSD-3-Clause
"""MPI stacks: their names, families, launchers and libraries."""

import re

from convene import _core
from convene._core import RequestError
from convene.base import paths

# What there are drop-in libraries for. (Intel MPI has MPICH's own interface and the standard ABI.)
STACKS = ("openmpi", "mpich", "abi")

# Stacks that a launcher's programs may use; the first one if it cannot be detected.
FAMILIES = {
    "Open MPI": ("openmpi",),
    "MPICH": ("mpich", "abi"),
    "Intel MPI": ("abi", "mpich"),
    "Slurm": STACKS,
}

# A batch system's launcher starts programs of every MPI.
SLURM = "Slurm"
GIVE_STACK = "give --stack " + " or --stack ".join(STACKS)
INTERFACES = {"openmpi": "Open MPI", "mpich": "MPICH", "abi": "the MPI standard ABI"}

# Where a checkout has stacks of its own.
INSTALLED = paths.CHECKOUT / ".stacks"

# Launchers of a stack, the usual ones first.
LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "mpirun", f"{INSTALLED}/openmpi5/bin/mpirun"),
    "mpich": ("mpiexec.mpich", "mpiexec", "mpirun", f"{INSTALLED}/mpich5/bin/mpiexec"),
    "abi": (f"{INSTALLED}/mpich5/bin/mpiexec", "mpiexec", "mpirun", f"{INSTALLED}/impi/bin/mpiexec"),
}

# All MPIs that a checkout knows, for benchmarks that look at each of them.
MPIS = (
    ("mpirun.openmpi", "openmpi"),
    (f"{INSTALLED}/openmpi5/bin/mpirun", "openmpi"),
    ("mpiexec.mpich", "mpich"),
    (f"{INSTALLED}/mpich5/bin/mpiexec", "abi"),
    (f"{INSTALLED}/impi/bin/mpiexec", "abi"),
)

# Words of a launcher's --version, and its MPI. (Intel's launcher is a Hydra too, so it is first.)
VERSIONS = (
    ("Intel(R) MPI", "Intel MPI"),
    ("HYDRA", "MPICH"),
    ("Open MPI", "Open MPI"),
    ("OpenRTE", "Open MPI"),
    ("PRRTE", "Open MPI"),
    ("PMIx Reference", "Open MPI"),
)

# The names of the library itself, under which a program asks for it.
LIBRARY_NAMES = (
    (re.compile(r"libmpi_abi\.so[.\d]*"), "abi"),
    (re.compile(r"libmpi(_mpifh|_usempi\w*)?\.so\.40[.\d]*"), "openmpi"),
    (re.compile(r"libmpi(ch|fort|chfort)?\.so\.12[.\d]*"), "mpich"),
)


def stack_in(text: str) -> tuple[str, str] | None:
    """The stack whose library a text names, and that name."""
    for pattern, stack in LIBRARY_NAMES:
        if found := pattern.search(text):
            return stack, found[0]
    return None


def check_stack(wanted: str | None) -> None:
    if wanted is not None and wanted not in STACKS:
        raise RequestError(_core.no_such("stack", wanted, STACKS))
