# SPDX-License-Identifier: BSD-3-Clause
"""Paths of an installation or a checkout."""

from pathlib import Path

from convene._core import RequestError

PACKAGE = Path(__file__).resolve().parents[1]
CHECKOUT = PACKAGE.parent.parent

# An installed package contains its libraries; a checkout builds them.
LIBRARIES = (PACKAGE / "lib", CHECKOUT / "build" / "lib")
PROGRAMS = (PACKAGE / "bin", CHECKOUT / "build" / "bin")


def find(name: str, places: tuple[Path, ...]) -> Path | None:
    return next((place / name for place in places if (place / name).is_file()), None)


def preload_library(stack: str) -> Path:
    """The drop-in library for programs of this stack."""
    name = f"libconvene-preload-{stack}.so"
    found = find(name, LIBRARIES)
    if found is None:
        places = " or ".join(str(place) for place in LIBRARIES)
        raise RequestError(
            f"{name} not found in {places}; install this MPI's compiler wrapper (mpicc) and build Convene "
            "again"
        )
    return found
