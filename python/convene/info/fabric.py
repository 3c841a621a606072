# SPDX-License-Identifier: BSD-3-Clause
"""libfabric: the library that --transport fabric would load, its version and providers."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROBE = Path(__file__).with_name("fabric_probe.py")
SONAME = "libfabric.so.1"
SECONDS = 5.0  # a driver may hang


@dataclass(frozen=True)
class Fabric:
    library: str
    version: str
    providers: list[str]


def read() -> Fabric | None:
    """None if there is no libfabric, or none that answers."""
    library = os.environ.get("CONVENE_LIBFABRIC") or SONAME
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(PROBE), library],
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else None
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return Fabric(**found) if found else None


def usable(found: Fabric) -> list[str]:
    """Providers without those that only wrap others (hooks)."""
    return [name for name in found.providers if not name.startswith(("ofi_hook_", "off_"))]
