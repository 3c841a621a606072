# SPDX-License-Identifier: BSD-3-Clause
"""What convene rules check finds in a text."""

import re
from pathlib import Path

from .conftest import Convene


def checked(convene: Convene, tmp_path: Path, text: str, *options: str) -> tuple[int, list[str], str]:
    """Status, findings without the file's name, and all output."""
    path = tmp_path / "rules"
    path.write_text(text)
    done = convene("rules", "check", path, *options)
    assert done.err == ""
    findings = [
        line.removeprefix(f"{path}:") for line in done.out.splitlines() if re.match(rf"{path}:\d", line)
    ]
    assert done.status == (1 if findings else 0)
    return done.status, findings, done.out
