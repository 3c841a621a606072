# SPDX-License-Identifier: BSD-3-Clause
"""What all parts share: the request, tallies, and how commands are run."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(sys.executable).parent  # of the environment's commands
TIERS = ("default", "all", "long")


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    tier: str
    seed: int
    jobs: int
    build: Path = ROOT / "build"

    @property
    def reports(self) -> Path:
        return self.build / "tests" / "reports"

    def at_least(self, tier: str) -> bool:
        return TIERS.index(self.tier) >= TIERS.index(tier)

    @property
    def environment(self) -> dict[str, str]:
        """Of every command: tests that sample read these. Properties are tried on the sample of the seed,
        too; in `long` on a new one each time."""
        sampled = {"CONVENE_TEST_TIER": self.tier, "CONVENE_TEST_SEED": str(self.seed)}
        if self.tier != "long":
            sampled["RC_PARAMS"] = f"seed={self.seed}"
        return {**os.environ, **sampled}


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures


Part = Callable[[Request], Tally]


class MissingError(Exception):
    """Something that a part needs is not installed."""


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


def run(
    request: Request,
    *command: str | Path,
    quiet: bool = False,
    timeout: float | None = None,
    variables: Mapping[str, str] | None = None,
) -> int:
    """Runs a command in the checkout and returns its status; 124 if it took longer than `timeout` seconds. A
    quiet one prints its output only where it fails."""
    environment = {**request.environment, **(variables or {})}
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"{Path(command[0]).name} took longer than {timeout} s and was stopped", flush=True)
        return 124
    if quiet and done.returncode != 0:
        print(done.stdout, flush=True)
    return done.returncode


def check(request: Request, name: str, *command: str | Path, quiet: bool = False) -> Tally:
    """A check that passes or fails as a whole."""
    return verdict(name, run(request, *command, quiet=quiet) == 0)


def verdict(name: str, is_right: bool) -> Tally:
    return Tally(passed=1) if is_right else Tally(failed=1, failures=[name])


def tool(*names: str) -> str:
    """The first of some commands that is installed."""
    for name in names:
        if found := shutil.which(name):
            return found
    raise MissingError(f"{names[0]} is not installed; requirements/debian-*.txt name its package")


def sources(folders: Iterable[str], suffixes: Sequence[str]) -> list[Path]:
    """Files of the checkout, relative to it."""
    return sorted(
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.name.endswith(tuple(suffixes)) and path.is_file()
    )
