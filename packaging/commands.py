# SPDX-License-Identifier: BSD-3-Clause
"""Commands that build packages."""

import os
import subprocess
import sys
from pathlib import Path

MOST_SHOWN = 6000  # characters of a failed command's output


def run(*command: str | Path, folder: Path | None = None, **environment: str) -> str:
    """Output of a command in this folder. Ends the program where it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-MOST_SHOWN:]}dev: {' '.join(map(str, command[:4]))} … failed")
    return done.stdout
