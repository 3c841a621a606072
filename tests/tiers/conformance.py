# SPDX-License-Identifier: BSD-3-Clause
"""The conformance runs of an hour each, on every stack."""

from collections.abc import Sequence
from functools import partial

from tests.tiers.running import BIN, Part, Request, Tally, check

# Modules of tests/conformance with their arguments; SEED stands for the request's.
RUNS: dict[str, Sequence[str]] = {
    "allgather": (),
    "random_calls": ("--seed", "SEED"),
    "reductions": ("--seed", "SEED"),
    "arrival_storm": ("--seed", "SEED"),
    "mpi4py_suite": (),
    "large": (),
}


def conformance(name: str, request: Request) -> Tally:
    words = [str(request.seed) if word == "SEED" else word for word in RUNS[name]]
    return check(request, f"conformance {name}", BIN / "python", "-m", f"tests.conformance.{name}", *words)


PARTS: dict[str, Part] = {f"conformance-{name}": partial(conformance, name) for name in RUNS}
