# SPDX-License-Identifier: BSD-3-Clause
"""Files that the user asks for: a write that fails leaves the file that was there."""

import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from convene._core import RequestError
from convene.base import console


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may exceed 4 KiB: as on a full disk, a write stops in the middle."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("small_files")
def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(RequestError, match=r"report\.html cannot be written"):
        console.write_file(path, "new" * 10_000)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_with_its_mode_and_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    console.write_file(link, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert link.is_symlink()


def test_a_device_is_written_to() -> None:
    console.write_file(Path("/dev/null"), "text")
    with pytest.raises(RequestError, match="cannot be written: No space left"):
        console.write_file(Path("/dev/full"), "text")
