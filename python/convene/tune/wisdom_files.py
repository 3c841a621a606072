# SPDX-License-Identifier: BSD-3-Clause
"""Wisdom files: read, checked by the library's own reader, merged, and replaced as a whole."""

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NotRequired, TypedDict

from convene import _core
from convene._core import RequestError
from convene.base import jsons
from convene.base.result_types import Json

VERSION_FIELD = "convene_wisdom"
SITE = Path("/etc/convene/wisdom.json")
NO_LIMIT = 2**64 - 1  # bytes: an entry without a largest size


class Entry(TypedDict):
    """One choice with its evidence. Sizes are bytes per block."""

    mpi: str
    cpu: str
    cores: int
    network: str
    collective: str
    procs: int
    nodes: int
    ranks_per_node: int
    shares_cores: bool
    bytes: list[int]
    use: str
    native_algorithm: NotRequired[str]  # of the MPI; `use` is then native
    ratio: float
    upper: float
    measured: str
    evidence: NotRequired[Json]


PLACE = ("mpi", "cpu", "cores", "network")
LAYOUT = ("collective", "procs", "nodes", "ranks_per_node", "shares_cores")


def user_file() -> Path:
    """The user's file: tuning writes it, and the library reads it by default."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "convene" / "wisdom.json"


def search_path() -> list[Path]:
    """The files that the library reads, in order."""
    return [Path(path) for path in _core.wisdom_files(os.environ.get("CONVENE_WISDOM", ""))]


def parse(text: str, origin: str) -> list[Entry]:
    """The entries of a text. The reader of the library reports errors."""
    _core.wisdom(text, origin)
    return [normal(entry) for entry in jsons.parse(text, origin)["entries"]]


def normal(entry: Json) -> Entry:
    """An entry with all fields, sizes as numbers."""
    sizes = entry.get("bytes", [0, NO_LIMIT])
    if isinstance(sizes, dict):
        sizes = [sizes.get("min", 0), sizes.get("max", NO_LIMIT)]
    elif not isinstance(sizes, list):
        sizes = [sizes, sizes]
    plain = [_core.size(each) if isinstance(each, str) else int(str(each)) for each in sizes]
    made: Entry = {"network": "", "shares_cores": False, **entry, "bytes": plain}  # type: ignore[typeddict-item]
    return made


def as_json(entry: Entry) -> Json:
    """An entry for people and tools, in a form that the library reads, too: a limit that sizes do not have is
    left out."""
    least, most = entry["bytes"]
    if most < NO_LIMIT:
        return {**entry}
    return {**{name: value for name, value in entry.items() if name != "bytes"}} | (
        {"bytes": {"min": least}} if least else {}
    )


def check_file(path: Path) -> None:
    """Refuses what is no file."""
    if path.is_dir():
        raise RequestError(f"wisdom file {path} is a directory; name a file in it")
    if not path.is_file():
        what = "is not a regular file" if path.exists() else "not found"
        raise RequestError(f"wisdom file {path} {what}; convene wisdom list shows the files that are read")


def read(path: Path) -> list[Entry]:
    """The entries of a file; none if it does not exist."""
    try:
        return parse(path.read_text(encoding="utf-8"), str(path))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"cannot read the wisdom file {path}: {jsons.why_unreadable(error)}") from None


def text_of(entries: list[Entry]) -> str:
    lines = ",\n".join(" " + json.dumps(entry, ensure_ascii=False) for entry in entries)
    return f'{{"{VERSION_FIELD}": 1,\n"entries": [\n{lines}\n]}}\n'


def is_same_case(left: Entry, right: Entry) -> bool:
    """True if two entries have the same machine, MPI and communicators, and are for the same reader: those
    of native algorithms are for exports only."""
    same = all(left[name] == right[name] for name in (*PLACE, *LAYOUT))  # type: ignore[literal-required]
    return same and ("native_algorithm" in left) == ("native_algorithm" in right)


def overlaps(left: Entry, right: Entry) -> bool:
    return left["bytes"][0] <= right["bytes"][1] and right["bytes"][0] <= left["bytes"][1]


def merged(old: list[Entry], new: list[Entry]) -> list[Entry]:
    """All entries, except old ones that a new entry of the same case and of overlapping sizes replaces."""
    kept = [
        entry
        for entry in old
        if not any(
            is_same_case(entry, other) and overlaps(entry, other) and other["measured"] >= entry["measured"]
            for other in new
        )
    ]
    added = [entry for entry in new if entry not in kept]
    return sorted(kept + added, key=lambda entry: (*(str(entry[n]) for n in LAYOUT), entry["bytes"][0]))  # type: ignore[literal-required]


def without_case(entries: list[Entry], case: Entry, sizes: list[int]) -> list[Entry]:
    """The entries without those of this case at these sizes, which are measured again."""
    span = {**case, "bytes": [min(sizes), max(sizes)]}
    return [each for each in entries if not (is_same_case(each, case) and overlaps(each, span))]  # type: ignore[arg-type]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a wisdom file: several jobs may share a home directory. The file is not removed:
    another job, also one of the library, may have opened it already."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o644)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def update(path: Path, change: Callable[[list[Entry]], list[Entry]]) -> list[Entry]:
    """Replaces a file's entries: reads them under the lock, and renames a complete new file into place."""
    read(path)  # a file that is refused gets no lock
    with locked(path):
        entries = change(read(path))
        text = text_of(entries)
        _core.wisdom(text, str(path))
        try:
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
            ) as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            made = Path(file.name)
            made.chmod(0o644)
            made.replace(path)
        except OSError as error:
            Path(file.name).unlink(missing_ok=True)
            raise RequestError(f"cannot write {path}: {error.strerror}; the file is unchanged") from None
    return entries
