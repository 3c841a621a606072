# SPDX-License-Identifier: BSD-3-Clause
"""What a program left that ran with the drop-in library, but without convene run: profiles and recordings."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from convene._core import RequestError
from convene.base import console
from convene.run import profiles
from convene.run.report import Run
from convene.trace import files

if TYPE_CHECKING:
    from convene.trace.lateness import Summary


def read(directory: Path, *, with_lateness: bool) -> Run:
    """Raises RequestError for a directory without profiles."""
    if not any(directory.glob("profile-*.json")):
        found = profiles.refusal(directory)
        reason = f"Convene ended the program: {found}" if found else "it has no profile-*.json"
        raise RequestError(
            f"{directory} is not the directory of a run ({reason}); name the one of CONVENE_PROFILE_DIR"
        )
    combined = profiles.read(directory)
    names = sorted(path.stem for path in directory.glob("profile-*.json"))
    rank, number = Counter(name.rpartition("-")[2] for name in names).most_common(1)[0]
    if number > 1:
        combined.messages.append(
            f"{number} profiles of rank {rank} are added: of several runs, which need a directory each, or "
            "of groups that one program has spawned"
        )
    late = lateness_of(directory) if with_lateness else None
    return Run([], "", "", "", 0, 0.0, combined, late)


def lateness_of(directory: Path) -> "Summary | None":
    """Of recordings beside the profiles, if there are any."""
    if not files.files_in(directory):
        return None
    from convene.trace import lateness, recordings  # imports NumPy

    try:
        return lateness.summarize(recordings.read(directory))
    except RequestError as error:
        console.complain(f"the report has no data on late ranks: {error}")
        return None
