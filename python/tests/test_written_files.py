# SPDX-License-Identifier: BSD-3-Clause
"""Files that the user asks for: a write that fails changes nothing."""

import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from convene._core import RequestError
from convene.base import console
from convene.base.result_types import Measurement
from convene.bench import files

from .conftest import Convene

# No file may exceed 4 KiB: as on a full disk, a write stops in the middle. In a process of its own, since
# the limit would hold for the files of pytest, too.
FAILED_WRITE = """
import resource, signal, sys
from pathlib import Path
from convene._core import RequestError
{imports}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    {write}
except RequestError as error:
    sys.exit(str(error))
"""
TEXT = ("from convene.base import console", 'console.write_file(Path(sys.argv[1]), "new" * 10_000)')
FIGURE = (
    "from convene.plots import compact_svg, style",
    "compact_svg.save(style.panels(2)[0], Path(sys.argv[1]))",
)


@pytest.mark.parametrize(("imports", "write"), [TEXT, FIGURE], ids=["text", "figure"])
@pytest.mark.parametrize("is_old", [True, False], ids=["old", "new"])
def test_a_failed_write_changes_nothing(tmp_path: Path, imports: str, write: str, is_old: bool) -> None:
    path = tmp_path / "report.html"
    if is_old:
        path.write_text("old")
    program = FAILED_WRITE.format(imports=imports, write=write)
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"cannot write .*/report\.html: ", done.stderr)
    assert [(each, each.read_text()) for each in tmp_path.iterdir()] == [(path, "old")] * is_old


def test_a_file_is_replaced_with_its_mode_and_through_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    console.write_file(link, "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)
    assert link.is_symlink()


def test_what_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old.json"
    old.touch()
    console.check_file(tmp_path / "new.json")
    with pytest.raises(RequestError, match=f"cannot write {tmp_path}: it is a directory"):
        console.check_file(tmp_path)
    with pytest.raises(RequestError, match=r"the directory .*/no does not exist"):
        console.check_file(tmp_path / "no" / "new.json")
    monkeypatch.setattr("os.access", lambda path, _: path == old)  # root may write everywhere
    console.check_file(old)
    with pytest.raises(RequestError, match="is not writable"):
        console.check_file(tmp_path / "new.json")


@pytest.mark.parametrize(
    "words",
    [
        "bench run allgather -n 2 --sizes 8 -o d.json",
        "simulate sweep allgather --platform curie -p 4 --sizes 8 -o d.json",
        "run --report d.html -- ./program",
        "trace --arrivals d.json -- ./program",
        "trace --export d.json -- ./program",
        "report d.html -o d.html",
        "tune -n 2 -o d.json",
        "measure -n 2 -o d.json",
        "info -o d.svg",
    ],
)
def test_a_directory_is_no_output_file(
    convene: Convene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Nothing runs, and nothing is left."""
    monkeypatch.chdir(tmp_path)
    for name in ("d.json", "d.html", "d.svg"):
        (tmp_path / name).mkdir()
    (tmp_path / "program").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "program").chmod(0o755)
    before = sorted(tmp_path.iterdir())
    assert "it is a directory" in convene(*words.split()).complaint
    assert sorted(tmp_path.iterdir()) == before


def test_a_measurement_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.mkdir()
    with pytest.raises(RequestError, match=f"cannot write {path}: Is a directory"):
        files.write(path, cast(Measurement, {"collective": "allgather"}))
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_is_written_to() -> None:
    console.write_file(Path("/dev/null"), "text")
    with pytest.raises(RequestError, match="cannot write /dev/full: No space left"):
        console.write_file(Path("/dev/full"), "text")
