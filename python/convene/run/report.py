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
from convene.run.accounts import Accounts, Row

if TYPE_CHECKING:
    from convene.trace.lateness import Summary

MOST_ROWS = 40  # of a table on the terminal
FORMATS = (".json", ".html")


@dataclass(frozen=True)
class Run:
    """A program that has ended, and what its ranks wrote down."""

    command: list[str]
    uses: str
    rules: str
    stack: str
    status: int
    seconds: float
    accounts: Accounts
    lateness: "Summary | None" = None  # where arrivals were recorded

    @property
    def command_line(self) -> str:
        return shlex.join(self.command)

    def as_json(self) -> Json:
        accounts = self.accounts
        return {
            "convene": __version__,
            "command": self.command,
            "use": self.uses,
            "rules": self.rules,
            "stack": self.stack,
            "status": self.status,
            "seconds": self.seconds,
            "ranks": accounts.ranks,
            "missing_ranks": accounts.missing,
            "libraries": accounts.libraries,
            "hosts": accounts.hosts,
            "rows": [row.as_json() for row in accounts.rows],
            "phases": [row.as_json() for row in accounts.phases],
            "progress_thread": accounts.background.as_json() if accounts.background.ranks else None,
            "messages": [*accounts.messages, *remarks(self)],
            **({"lateness": self.lateness.as_json()} if self.lateness else {}),
        }


def forecast_sentences(run: Run) -> list[str]:
    """How the forecasts of declared phases did, and what the threads cost."""
    said = []
    for row in run.accounts.phases:
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
    if background := run.accounts.background.ran:
        used = run.accounts.background.cpu_seconds / background
        said.append(
            f"progress in the background: a thread in {background} ranks used {seconds_text(used)} of a "
            f"processor's time each"
            + (f" ({100 * used / run.seconds:.2g} % of the run)" if run.seconds > 0 else "")
        )
    return said


def remarks(run: Run) -> list[str]:
    """What has to be said about the run besides its numbers."""
    accounts = run.accounts
    known = ", ".join(_core.collectives())
    said = []
    if accounts.ranks == 0 and run.status == 0:
        said.append(
            f"no rank has written an account: the program made none of the calls that Convene knows "
            f"({known}), or it ended without MPI_Finalize, or it does not use the MPI that was expected "
            f"({run.stack})"
        )
    elif accounts.ranks == 0 and accounts.refusal:
        said.append(f"no rank has written an account, since Convene ended the program: {accounts.refusal}")
    elif accounts.ranks == 0:
        said.append("no rank has written an account, since the program failed")
    elif accounts.missing:
        said.append(
            f"{accounts.missing} of {max(accounts.procs, accounts.ranks + accounts.missing)} ranks have "
            "written no account, or only a part of one: they failed, or run where this machine's files are "
            "not seen; the table is of the others"
        )
    elif not accounts.rows:
        said.append(f"the program made none of the calls that Convene knows ({known})")
    elif accounts.is_all_native:
        said.append(
            f"every call ran a native algorithm; convene tune {slowest(accounts)} -n {accounts.procs} "
            "measures whether another one is faster here"
        )
    return said + crowd(accounts)


def crowd(accounts: Accounts) -> list[str]:
    """More ranks than cores, on this machine."""
    cores = len(os.sched_getaffinity(0))
    is_here = accounts.hosts in ([""], [socket.gethostname()])
    if not is_here or accounts.procs <= cores:
        return []
    return [f"{accounts.procs} ranks share {cores} cores: times include waiting for a core"]


def slowest(accounts: Accounts) -> str:
    """The collective that took longest."""
    return max(accounts.rows, key=lambda row: row.seconds_mean).collective


def check_path(path: Path) -> None:
    """Raises RequestError where a report could not be written there."""
    if path.suffix not in FORMATS:
        raise RequestError(f"a report is a .json or .html file, and '{path.name}' is neither")
    if not path.parent.is_dir():
        raise RequestError(f"the report {path} cannot be written: there is no directory {path.parent}")


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
    rows = run.accounts.rows
    longest = sorted(rows, key=lambda row: -row.seconds_mean)[:MOST_ROWS]
    for row in rows:
        if row in longest:
            result.add_row(*cells(row), style="dim" if row.is_native else None)
    if len(rows) > MOST_ROWS:
        result.caption = (
            f"{len(rows) - MOST_ROWS} rows that took less time are left out; --report has them all"
        )
    return result


def print_summary(run: Run) -> None:
    """The table and the remarks, to stderr: stdout is the program's."""
    output = console.make(error=True)
    if run.accounts.rows:
        output.print()
        output.print(table(run), markup=False)
    for sentence in (*forecast_sentences(run), *run.accounts.messages, *remarks(run)):
        output.print(f"convene: {sentence}", markup=False, soft_wrap=True)
