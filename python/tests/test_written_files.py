# SPDX-License-Identifier: BSD-3-Clause
"""Files that the user asks for: a write that fails changes nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from convene._core import RequestError
from convene.base import console

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


def test_a_device_is_written_to() -> None:
    console.write_file(Path("/dev/null"), "text")
    with pytest.raises(RequestError, match="cannot write /dev/full: No space left"):
        console.write_file(Path("/dev/full"), "text")
