# SPDX-License-Identifier: BSD-3-Clause
"""Unit tests for aarch64, compiled by Debian's cross compiler and run by QEMU.

Drop-in libraries are linked, too. QEMU runs threads in parallel, but does not reorder loads and stores on
x86: a missing fence is not found."""

from tests.tiers.analysis import build
from tests.tiers.running import Request, Tally, tool, verdict
from tests.tiers.sampling import taken
from tests.tiers.unit_tests import names_of, programs_of, run_tests

LIBRARIES = "/usr/aarch64-linux-gnu"  # of the cross compiler


def aarch64(request: Request) -> Tally:
    """Every test of the MPI layers that needs no MPI; of the pure layers some cases of each, by seed."""
    emulator = (tool("qemu-aarch64-static"), "-L", LIBRARIES)
    if not build(request, "aarch64"):
        return verdict("build for aarch64", is_right=False)
    programs = programs_of(request.build / "aarch64")
    tests = {program: names_of(program, emulator) for program in programs}
    for program in programs_of(request.build / "aarch64", "pure"):
        tests[program] = taken(tests[program], request.seed)
    return run_tests(request, "aarch64", tests, emulator=emulator)
