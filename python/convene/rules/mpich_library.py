# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own selection tree: JSON text inside the library."""

import json
import re
from pathlib import Path
from typing import Any

from convene._core import RequestError
from convene.mpi import launchers, stacks

TREE = re.compile(rb'\{[^\0{}]{0,200}"[a-z_]+=[^\0]{200,}')
LIBRARIES = ("libmpi.so.12", "libmpich.so.12")
MOST = 1 << 30

Tree = dict[str, Any]


def trees_of(library: Path) -> list[Tree]:
    """All trees, the largest first: that one is for all collectives."""
    try:
        if library.stat().st_size > MOST:
            raise RequestError(f"{library} is too large for a library of MPICH")
        return trees_in(library.read_bytes())
    except OSError as error:
        raise RequestError(f"cannot read the library {library}: {error.strerror}") from None


def trees_in(data: bytes) -> list[Tree]:
    """All trees in the text of a library, the largest first."""
    found: list[tuple[int, Tree]] = []
    for match in TREE.finditer(data):
        try:
            tree = json.loads(match[0])
        except (ValueError, RecursionError):
            continue
        if any(name.startswith("collective=") for name in tree):
            found.append((len(match[0]), tree))
    return [tree for _, tree in sorted(found, key=lambda each: -each[0])]


def candidates() -> list[Path]:
    """Libraries beside the launchers of MPICH, and those of the system."""
    folders = [
        Path("/usr/lib/x86_64-linux-gnu"),
        Path("/usr/lib/aarch64-linux-gnu"),
        Path("/usr/lib64/mpich/lib"),
    ]
    for name in dict.fromkeys([*stacks.LAUNCHERS["mpich"], *stacks.LAUNCHERS["abi"]]):
        if path := launchers.find_program(name):
            folders.insert(0, path.resolve().parent.parent / "lib")
    return [folder / name for folder in folders for name in LIBRARIES if (folder / name).is_file()]


def tree_of(library: Path | None, version: str) -> Tree:
    """The whole tree of a library; without one, of that of this version."""
    for path in [library] if library else candidates():
        trees = trees_of(path)
        if not trees:
            continue
        if library is None and version.encode() not in path.read_bytes():
            continue
        return trees[0]
    if library:
        raise RequestError(
            f"{library} has no selection tree; give libmpi.so.12 (Debian: libmpich.so.12) of MPICH"
        )
    raise RequestError(f"no library of MPICH {version} found; give its libmpi.so.12 with --library")
