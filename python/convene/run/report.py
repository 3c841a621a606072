# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a run: a table, JSON, or a page."""

import os
import shlex
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from convene import __version__, _core
from convene._core import RequestError
from convene.base import console
from convene.base.result_types import Json
from convene.base.text import bytes_text, seconds_text
from convene.run.profiles import Profiles, Row

if TYPE_CHECKING:
    from convene.trace.lateness import Summary

MOST_ROWS = 40  # of a table on the terminal
LEAST_SHARE = 0.005  # of the run: less time in collectives is not worth a hint
FORMATS = (".json", ".html")


@dataclass(frozen=True)
class Run:
    """A program that has ended, and what its ranks wrote down. Without a command: only that is known."""

    command: list[str]
    uses: str
    rules: str
    stack: str
    status: int
    seconds: float
    profiles: Profiles
    lateness: "Summary | None" = None  # where arrivals were recorded

    @property
    def command_line(self) -> str:
        return shlex.join(self.command)

    def as_json(self) -> Json:
        profiles = self.profiles
        return {
            "convene": __version__,
            "command": self.command,
            "use": self.uses,
            "rules": self.rules,
            "stack": self.stack,
            "status": self.status,
            "seconds": self.seconds,
            "ranks": profiles.ranks,
            "missing_ranks": profiles.missing,
            "libraries": profiles.libraries,
            "hosts": profiles.hosts,
            "rows": [row.as_json() for row in profiles.rows],
            "phases": [row.as_json() for row in profiles.phases],
            "progress_thread": profiles.background.as_json() if profiles.background.ranks else None,
            "messages": [*profiles.messages, *remarks(self)],
            **({"lateness": self.lateness.as_json()} if self.lateness else {}),
        }


def forecast_sentences(run: Run) -> list[str]:
    """Sentences on the forecast errors of declared phases and the cost of threads."""
    said = []
    for row in run.profiles.phases:
        text = f"{row.collective} by {row.algorithm}: {row.runs} runs over all ranks"
        if row.forecasts:
            text += (
                f", {row.forecasts} of their phases forecast, in the mean wrong by "
                f"{seconds_text(row.error_per_forecast)} of {seconds_text(row.seconds_per_phase)}"
            )
        if row.messages:
            early = 100 * row.early_messages / row.messages
            text += f"; {early:.0f} % of all messages before the own phase's end"
        said.append(text)
    if background := run.profiles.background.ran:
        used = run.profiles.background.cpu_seconds / background
        said.append(
            f"progress in the background: a thread in {background} ranks used {seconds_text(used)} of a "
            f"processor's time each"
            + (f" ({100 * used / run.seconds:.2g} % of the run)" if run.seconds > 0 else "")
        )
    return said


def remarks(run: Run) -> list[str]:
    """Remarks on the run."""
    profiles = run.profiles
    known = ", ".join(_core.collectives())
    said = []
    if profiles.ranks == 0 and profiles.unwritable:
        said.append(f"no rank wrote a profile, because none can be written to {profiles.unwritable}")
    elif profiles.ranks == 0 and run.status == 0:
        said.append(
            f"no rank wrote a profile: the program made no calls that Convene intercepts ({known}), ended "
            f"without MPI_Finalize, or does not use the expected MPI ({run.stack})"
        )
    elif profiles.ranks == 0 and profiles.refusal:
        said.append(f"no rank wrote a profile, because Convene ended the program: {profiles.refusal}")
    elif profiles.ranks == 0:
        said.append("no rank wrote a profile, because the program failed")
    elif profiles.missing:
        said.append(
            f"{profiles.missing} of {max(profiles.procs, profiles.ranks + profiles.missing)} ranks have "
            "written no profile, or only a part of one: they failed, or their node neither shares this "
            "file system nor reaches this machine; the table covers the others"
        )
    elif not profiles.rows:
        said.append(f"the program made no calls that Convene intercepts ({known})")
    elif profiles.is_all_native and share_of_collectives(run) >= LEAST_SHARE:
        said.append(
            f"every call ran a native algorithm, {percent(share_of_collectives(run))} % of the run's time; "
            "convene advise -- PROGRAM measures what other algorithms would gain"
        )
    return said + crowd(profiles)


def crowd(profiles: Profiles) -> list[str]:
    """More ranks than cores, on this machine."""
    cores = len(os.sched_getaffinity(0))
    is_here = profiles.hosts in ([""], [socket.gethostname()])
    if not is_here or profiles.procs <= cores:
        return []
    return [f"{profiles.procs} ranks share {cores} cores: times include waiting for a core"]


def percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def share_of_collectives(run: Run) -> float:
    """The part of the run's time that the ranks that call collectives spend there. 0 if it is not known."""
    if not run.command:
        return 0.0
    return sum(row.seconds_mean for row in run.profiles.rows) / max(run.seconds, 1e-9)


def check_path(path: Path) -> None:
    """Raises RequestError if a report cannot be written there."""
    if path.suffix not in FORMATS:
        raise RequestError(f"invalid --report '{path.name}'; its name must end in .json or .html")
    console.check_file(path)


def communicator_text(row: Row) -> str:
    return f"{row.procs} on {row.nodes} nodes" if row.nodes > 1 else str(row.procs)


HEADS = (
    "collective",
    "algorithm",
    "why",
    "processes",
    "bytes",
    "calls",
    "time/call",
    "time, mean rank",
    "slowest",
)


OPTIONAL = ("slowest", "processes", "why", "time/call")  # on a narrow terminal


def cells(row: Row) -> tuple[str, ...]:
    """A row as HEADS name it."""
    return (
        row.collective,
        row.algorithm,
        row.reason,
        communicator_text(row),
        bytes_text(row.bytes_per_block),
        f"{row.calls:g}",
        seconds_text(row.seconds_per_call),
        seconds_text(row.seconds_mean),
        seconds_text(row.seconds_slowest),
    )


def table(run: Run) -> Table:
    result = console.table("Collectives of this run", *HEADS, numbers=HEADS[3:], optional=OPTIONAL)
    rows = run.profiles.rows
    longest = sorted(rows, key=lambda row: -row.seconds_mean)[:MOST_ROWS]
    for row in rows:
        if row in longest:
            result.add_row(*cells(row), style="dim" if row.is_native else None)
    if len(rows) > MOST_ROWS:
        result.caption = f"{len(rows) - MOST_ROWS} rows with less time are left out; --report writes all"
    return result


def print_tables(run: Run) -> None:
    """The table and the remarks, to stdout."""
    if run.profiles.rows:
        console.make().print(table(run), markup=False)
    for sentence in (*forecast_sentences(run), *run.profiles.messages, *remarks(run)):
        console.say(sentence)


def print_summary(run: Run) -> None:
    """The table and the remarks, to stderr: stdout is the program's."""
    output = console.make(error=True)
    if run.profiles.rows:
        output.print()
        output.print(table(run), markup=False)
    for sentence in (*forecast_sentences(run), *run.profiles.messages, *remarks(run)):
        console.say(f"convene: {sentence}", error=True)
