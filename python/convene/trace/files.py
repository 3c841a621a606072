# SPDX-License-Identifier: BSD-3-Clause
"""Recording files in a directory."""

from pathlib import Path


def files_in(directory: Path) -> list[Path]:
    return sorted(directory.glob("recording-*.bin"))
