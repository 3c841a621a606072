# SPDX-License-Identifier: BSD-3-Clause
"""Folders of a run: where ranks write accounts and recordings."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from convene._core import RequestError
from convene.trace import files


@contextmanager
def account_directory(place: Path | None) -> Iterator[str]:
    """The directory of the accounts. One that the user has set is kept."""
    own = os.environ.get("CONVENE_ACCOUNT_DIR")
    if own:
        if not Path(own).is_dir():
            raise RequestError(
                f"CONVENE_ACCOUNT_DIR={own} is not a directory; make it, or leave the variable out"
            )
        if any(Path(own).glob("account-*.json")):
            raise RequestError(
                f"CONVENE_ACCOUNT_DIR={own} has the accounts of another run; remove them, or name another "
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
            f"the recordings cannot be put into {named}: {error.strerror}; name a directory, in one that "
            "exists"
        ) from None
    if files.files_in(named):
        raise RequestError(
            f"{named} has the recordings of another run; remove them, or name another directory"
        )
    yield named.resolve()
