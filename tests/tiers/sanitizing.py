# SPDX-License-Identifier: BSD-3-Clause
"""AddressSanitizer and UBSan on the unit tests of the pure layers.

An MPI leaks by itself, so programs that load one cannot be checked."""

from tests.tiers.analysis import build
from tests.tiers.running import Request, Tally, verdict
from tests.tiers.sampling import EXHAUSTIVE, family, taken
from tests.tiers.unit_tests import names_of, programs_of, run_tests


def sanitize(request: Request) -> Tally:
    if not build(request, "sanitize"):
        return verdict("build with AddressSanitizer", is_right=False)
    tests = {program: names_of(program) for program in programs_of(request.build / "sanitize", "pure")}
    families = {family(name) for names in tests.values() for name in names}
    unknown = [name for name in EXHAUSTIVE if name not in families]
    tally = Tally(failed=len(unknown), failures=[f"sanitize: no test is called {name}" for name in unknown])
    if request.tier != "long":
        tests = {program: taken(names, request.seed) for program, names in tests.items()}
    tally.add(run_tests(request, "sanitize", tests))
    return tally
