# SPDX-License-Identifier: BSD-3-Clause
"""System tools that make clusters, and what their failures mean."""

import os
import subprocess
from collections.abc import Sequence

from convene._core import RequestError

TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
    "env": "coreutils",
}

# Parts of the tools' messages if the kernel lacks a feature, and our explanations.
LACKING = (
    ("Unknown device type", "this kernel has no such devices; load its modules veth and bridge"),
    ("qdisc kind is unknown", "this kernel cannot limit rates; load its module sch_tbf, or leave out --rate"),
    (
        "/dev/net/tun",
        "--delay and --group-delay need TAP devices; load the kernel's module tun, or leave out both",
    ),
    ("Operation not permitted", "this process may not; in a container, start that one with all privileges"),
)


def check_root() -> None:
    if os.geteuid() != 0:
        raise RequestError(
            "creating and entering network namespaces needs root; run the command as root, "
            "for instance with sudo"
        )


def execute(command: Sequence[str], what: str) -> str:
    """Runs a system tool. `what` describes the purpose."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise RequestError(explain(what, done.stderr))
    return done.stdout


def explain(what: str, said: str) -> str:
    line = " ".join(said.split()) or "no message"
    return f"{what} failed: " + next((advice for words, advice in LACKING if words in line), line)
