# SPDX-License-Identifier: BSD-3-Clause
"""Directories of a run, into which ranks write profiles and recordings."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from convene._core import RequestError
from convene.base import console
from convene.trace import files

PROFILE_DIR = "CONVENE_PROFILE_DIR"
FORMER_PROFILE_DIR = "CONVENE_ACCOUNT_DIR"
PROBE = 4096  # bytes, as of a small profile


def why_unwritable(directory: Path) -> str:
    """Why a small file cannot be written there now; empty if it can."""
    probe = directory / f"probe-{os.getpid()}"
    try:
        probe.write_bytes(bytes(PROBE))
    except OSError as error:
        return f"{directory}: {error.strerror}"
    finally:
        with suppress(OSError):
            probe.unlink()
    return ""


@contextmanager
def profile_directory(place: Path | None) -> Iterator[str]:
    """Yields the directory of the profiles. A directory that the user has set is kept."""
    own = os.environ.get(PROFILE_DIR)
    if not own and (own := os.environ.get(FORMER_PROFILE_DIR)):
        console.complain(
            f"{FORMER_PROFILE_DIR} is now {PROFILE_DIR}; the old name works for one more release"
        )
    if own:
        if not Path(own).is_dir():
            raise RequestError(f"{PROFILE_DIR}={own} is not a directory; create it, or unset the variable")
        if any(Path(own).glob("profile-*.json")):
            raise RequestError(
                f"{PROFILE_DIR}={own} contains the profiles of another run; remove them, or name another "
                "directory"
            )
        yield str(Path(own).resolve())
        return
    directory = tempfile.mkdtemp(prefix=".convene-", dir=place)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def recording_directory(given: Path | None, wanted: bool, place: Path | None) -> Iterator[Path | None]:
    """The directory of the recordings; None if none are wanted. A directory that the user names is made if
    needed, and kept."""
    named = given or (Path(os.environ["CONVENE_RECORD"]) if os.environ.get("CONVENE_RECORD") else None)
    if named is None:
        if not wanted:
            yield None
            return
        with tempfile.TemporaryDirectory(
            prefix=".convene-", dir=place, ignore_cleanup_errors=True
        ) as directory:
            yield Path(directory)
        return
    try:
        named.mkdir(exist_ok=True)
    except OSError as error:
        raise RequestError(
            f"cannot create the directory {named} for recordings: {error.strerror}; name one whose parent "
            "exists"
        ) from None
    if files.files_in(named):
        raise RequestError(
            f"{named} contains the recordings of another run; remove them, or name another directory"
        )
    yield named.resolve()
