# SPDX-License-Identifier: BSD-3-Clause
"""MPI stacks of a checkout, by name."""

from benchmarks.common.summaries import ROOT

# Launcher and library.
STACKS = {
    "openmpi4": ("mpirun.openmpi", "openmpi"),
    "openmpi5": (".stacks/openmpi5/bin/mpirun", "openmpi"),
    "mpich4": ("mpiexec.mpich", "mpich"),
    "mpich5": (".stacks/mpich5/bin/mpiexec", "abi"),
    "impi": (".stacks/impi/bin/mpiexec", "abi"),
}


def launcher_of(stack: str) -> str:
    path = STACKS[stack][0]
    return str(ROOT / path) if "/" in path else path


def library_of(stack: str) -> str:
    return STACKS[stack][1]
