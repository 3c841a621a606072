# SPDX-License-Identifier: BSD-3-Clause
"""Explanations of choices: the call and the settings, as the library would read them."""

import os
from dataclasses import dataclass
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base.core_types import Explained
from convene.info.mpis import version_of
from convene.mpi import launchers
from convene.run.environment import check_rules, check_uses, check_wisdom

SHARED_MEMORY = "CONVENE_SHARED_MEMORY"


@dataclass(frozen=True)
class AskedCall:
    """The call whose choice is explained."""

    collective: str
    procs: int
    nodes: int
    bytes: int | None
    commutative: bool = True
    order_matters: bool = False
    blocking: bool = True
    reproducible: bool = False


@dataclass(frozen=True)
class Sources:
    """What decides; by default what the environment names."""

    uses: list[str]
    rules: Path | None = None
    wisdom: str | None = None
    mpi: str | None = None


def mpi_here() -> str:
    """Name and version of mpirun's MPI, as in "Open MPI 4.1.4"; empty if there is none."""
    try:
        launcher = launchers.find_launcher("mpirun", None)
    except RequestError:
        return ""
    return f"{launcher.family} {version_of(launcher)}"


def shared_bytes() -> int:
    """The limit of shared memory on a node."""
    text = os.environ.get(SHARED_MEMORY) or "64MiB"
    try:
        return _core.size(text)
    except RequestError as error:
        raise RequestError(f"{SHARED_MEMORY}: {error}") from None


def explain(call: AskedCall, sources: Sources) -> tuple[Explained, str]:
    """The choice with all reasons, and the MPI for which wisdom was read."""
    absent = "; convene wisdom list shows the files that are read"
    wisdom = check_wisdom(sources.wisdom, if_absent=absent) or os.environ.get("CONVENE_WISDOM", "")
    has_wisdom = any(Path(path).exists() for path in _core.wisdom_files(wisdom))
    if sources.mpi == "":
        raise RequestError("--mpi is empty; give a name, as in 'Open MPI 4.1.4', or leave it out")
    mpi = sources.mpi or (mpi_here() if has_wisdom else "")
    request = _core.ExplainRequest(
        collective=call.collective,
        procs=call.procs,
        nodes=call.nodes,
        bytes=call.bytes or 0,
        commutative=call.commutative,
        order_matters=call.order_matters or not call.commutative,
        reproducible=call.reproducible or os.environ.get("CONVENE_REPRODUCIBLE") == "yes",
        blocking=call.blocking,
        may_share=shared_bytes(),
        uses=check_uses(sources.uses),
        rules=check_rules(sources.rules),
        wisdom=wisdom,
        mpi=mpi,
    )
    explained = _core.explain(request)
    if call.bytes is None and explained["has_bytes"]:
        what = "the vector" if _core.has_one_vector(call.collective) else "one block"
        raise RequestError(f"{call.collective} needs the bytes of {what}; add --bytes, as in --bytes 4KiB")
    return explained, mpi
