# SPDX-License-Identifier: BSD-3-Clause
"""Journal of the tier `long`: the parts that have passed at a commit are not run again at that commit."""

import json
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.tiers.running import ROOT, Tally


def commit() -> str:
    """Name of the commit, with a mark where files differ from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


def default_seed() -> int:
    """The same for all runs at a commit, and another one at the next."""
    digits = "".join(each for each in commit()[:8] if each in "0123456789abcdef")
    return int(digits or "1", 16)


@dataclass(frozen=True)
class Entry:
    part: str
    commit: str
    seed: int
    passed: int
    failed: int
    skipped: int
    seconds: int
    ended: str  # date and time, UTC


class Journal:
    """One line of JSON a part, in the order in which they ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.is_file() else []
        self.entries = [Entry(**json.loads(line)) for line in lines]

    def passed(self, part: str, at: str) -> Entry | None:
        """The run of a part that passed at a commit. Where files differ from the commit there is none."""
        if at.endswith("-dirty"):
            return None
        return next((e for e in self.entries if (e.part, e.commit, e.failed) == (part, at, 0)), None)

    def add(self, part: str, at: str, seed: int, tally: Tally, seconds: float) -> None:
        ended = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        entry = Entry(part, at, seed, tally.passed, tally.failed, tally.skipped, round(seconds), ended)
        self.entries.append(entry)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(asdict(entry)) + "\n")

    def table(self) -> str:
        """The last run of each part, as docs/tests.md has it."""
        last = {entry.part: entry for entry in self.entries}
        rows = [" | ".join(map(str, ["", *asdict(entry).values(), ""])).strip() for entry in last.values()]
        head = "| part | commit | seed | passed | failed | skipped | seconds | ended (UTC) |"
        return "\n".join([head, "|---" * 8 + "|", *rows])
