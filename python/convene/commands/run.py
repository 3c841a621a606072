# SPDX-License-Identifier: BSD-3-Clause
"""convene run: an unmodified program with Convene in between."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from convene import _core, accounts, arguments, console, lateness, paths, recordings, report, stacks
from convene._core import RequestError

HELP = """Runs an MPI program, as it is, with Convene's algorithms in between.

Says at the end which algorithms ran, why, and how long they took. The exit status is the program's.

[bold]Examples[/bold]

  convene run --use allgather=sparbit -- mpirun -n 8 ./app

  convene run --use 'allgather=sparbit;send=packed,bcast=binomial' -- mpiexec -n 4 python app.py

  convene run --rules rules.json --report report.html -- mpirun -n 8 ./app

  convene run --record recorded -- mpirun -n 8 ./app      (then: convene trace recorded)

  convene run -- mpirun -n 8 ./app          (the MPI's own algorithms, counted and timed)
"""

SIGNALLED = 128  # what shells add to the number of the signal that ended a program
PATIENCE = 10.0  # seconds that an interrupted program has to end by itself


class Arrivals(StrEnum):
    """What is done about ranks that come late."""

    NONE = "none"
    AUTO = "auto"


def collect_environment(
    uses: str,
    rules: str,
    log: bool,
    reproducible: bool,
    directory: str,
    recording: str = "",
    progress_thread: bool = False,
    progress_core: int | None = None,
    arrivals: Arrivals = Arrivals.NONE,
) -> dict[str, str]:
    """What the library is to know. What the user has set and the command line does not say stays as it is."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("CONVENE_")}
    variables |= {"CONVENE_USE": uses, "CONVENE_RULES": rules, "CONVENE_ACCOUNT_DIR": directory}
    variables["CONVENE_RECORD"] = recording
    if log:
        variables["CONVENE_LOG"] = "info"
    if reproducible:
        variables["CONVENE_REPRODUCIBLE"] = "yes"
    if arrivals is not Arrivals.NONE:
        variables["CONVENE_ARRIVALS"] = arrivals.value
    if progress_thread or progress_core is not None:
        variables["CONVENE_PROGRESS_THREAD"] = "1"
    if progress_core is not None:
        variables["CONVENE_PROGRESS_CORE"] = str(progress_core)
    return {name: value for name, value in variables.items() if value}


def check_uses(given: list[str]) -> str:
    """The choices in their proper form; those of the environment where the command line has none."""
    text = ",".join(given) if given else os.environ.get("CONVENE_USE", "")
    return ",".join(f"{collective}={spec}" for collective, spec in _core.uses(text))


def check_rules(given: Path | None) -> str:
    path = str(given) if given else os.environ.get("CONVENE_RULES", "")
    if not path:
        return ""
    if Path(path).is_fifo():
        raise RequestError(
            f"the rules file {path} is a pipe, but every rank has to read it; write it to a file"
        )
    _core.rules(path)
    return str(Path(path).resolve())


def prepare(
    command: list[str], stack: str | None, variables: dict[str, str]
) -> tuple[str, list[str], dict[str, str]]:
    """The stack, the command line that runs the program with the library, and the environment for it."""
    stacks.check_stack(stack)
    environment = {**os.environ, **variables}
    if stacks.is_launcher(command[0]):
        launcher = stacks.find_launcher(command[0], stack)
        chosen = stacks.choose_stack(launcher, stacks.programs_of(command[1:], launcher.values), stack)
        library = paths.preload_library(chosen)
        return chosen, stacks.for_ranks(launcher, command[1:], library, variables), environment
    if stacks.find_program(command[0]) is None:
        raise RequestError(f"the program '{command[0]}' cannot be found")
    chosen = stacks.choose_stack(None, [command], stack)
    environment["LD_PRELOAD"] = stacks.preload_value(paths.preload_library(chosen))
    return chosen, command, environment


@contextmanager
def account_directory(place: Path | None) -> Iterator[str]:
    """Where the ranks write their accounts. One that the user has set stays."""
    own = os.environ.get("CONVENE_ACCOUNT_DIR")
    if own:
        if not Path(own).is_dir():
            raise RequestError(
                f"CONVENE_ACCOUNT_DIR={own} is not a directory; make it, or leave the variable out"
            )
        if any(Path(own).glob("account-*.json")):
            raise RequestError(
                f"CONVENE_ACCOUNT_DIR={own} has the accounts of another run; remove them, or name another "
                "directory"
            )
        yield str(Path(own).resolve())
        return
    directory = tempfile.mkdtemp(prefix=".convene-", dir=place)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def recording_directory(given: Path | None, wanted: bool, place: Path | None) -> Iterator[Path | None]:
    """Where the ranks leave their recordings; nothing where nobody wants them. A directory that the user
    names is made if need be, and stays."""
    named = given or (Path(os.environ["CONVENE_RECORD"]) if os.environ.get("CONVENE_RECORD") else None)
    if named is None:
        if not wanted:
            yield None
            return
        with tempfile.TemporaryDirectory(
            prefix=".convene-", dir=place, ignore_cleanup_errors=True
        ) as directory:
            yield Path(directory)
        return
    try:
        named.mkdir(exist_ok=True)
    except OSError as error:
        raise RequestError(
            f"the recordings cannot be put into {named}: {error.strerror}; name a directory, in one that "
            "exists"
        ) from None
    if recordings.files_in(named):
        raise RequestError(
            f"{named} has the recordings of another run; remove them, or name another directory"
        )
    yield named.resolve()


def summarize_recording(directory: Path | None, report_wanted: bool) -> lateness.Summary | None:
    """Who was late, where that was recorded. The program has run: a recording that cannot be read is no
    reason to leave out the rest."""
    if directory is None or not report_wanted or not recordings.files_in(directory):
        return None
    try:
        return lateness.summarize(recordings.read(directory))
    except RequestError as error:
        console.complain(f"the report does not say who was late: {error}")
        return None


def execute(command: list[str], environment: dict[str, str]) -> int:
    """Runs the command to its end; its exit status as a shell would tell it."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise RequestError(f"{command[0]} cannot be started: {error.strerror}") from None

    def pass_on(number: int, _frame: Any) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        status = process.wait()
    except KeyboardInterrupt:
        wait_for_interrupted(process)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status if status >= 0 else SIGNALLED - status


def wait_for_interrupted(process: "subprocess.Popen[bytes]") -> None:
    """The terminal has interrupted the program too: it gets the time to end by itself."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def run(
    command: Annotated[
        list[str],
        typer.Argument(metavar="-- PROGRAM...", help="The program, with its launcher and arguments."),
    ],
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM,...",
            help="Force these algorithms, such as allgather=sparbit.",
            autocompletion=arguments.complete_use,
        ),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Choose by the rules in this JSON file.")
    ] = None,
    report_to: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report: .html or .json.")
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="Record who came when, for convene trace DIRECTORY."),
    ] = None,
    warn_after: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", min=0, max=1e6, help="Say for whom a rank waits that waits longer than this."
        ),
    ] = None,
    stack: Annotated[
        str | None, arguments.stack_option("Which MPI the program uses, where that cannot be found out.")
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Say at once what the ranks have to say, not only at the end.")
    ] = False,
    reproducible: Annotated[
        bool,
        typer.Option("--reproducible", help="No reduction whose rounding may depend on who comes late."),
    ] = False,
    arrivals: Annotated[
        Arrivals,
        typer.Option(
            help="auto: watch who comes late at calls that repeat, and use an algorithm that makes use of "
            "that where it is faster."
        ),
    ] = Arrivals.NONE,
    progress_thread: Annotated[
        bool,
        typer.Option(
            "--progress-thread",
            help="Let collectives go on in the background, by a thread in each rank. "
            "The MPI is initialised with MPI_THREAD_MULTIPLE then.",
        ),
    ] = False,
    progress_core: Annotated[
        int | None,
        typer.Option(min=0, metavar="CORE", help="Keep that thread on one core. Implies --progress-thread."),
    ] = None,
    json: arguments.Json = False,
) -> None:
    uses, rules_path = check_uses(use or []), check_rules(rules)
    if report_to:
        report.check_path(report_to)
    if warn_after == 0:
        raise RequestError("--warn-after 0 would say it in every call; give a time above 0, as 0.001")
    place = stacks.common_place(command[0])
    with (
        account_directory(place) as directory,
        recording_directory(record, report_to is not None, place) as recorded,
    ):
        variables = collect_environment(
            uses,
            rules_path,
            log,
            reproducible,
            directory,
            str(recorded) if recorded else "",
            progress_thread,
            progress_core,
            arrivals,
        )
        if warn_after is not None:
            variables["CONVENE_WAIT_WARNING"] = f"{warn_after:.9f}"
        chosen, prepared, environment = prepare(command, stack, variables)
        since = time.monotonic()
        status = execute(prepared, environment)
        seconds = time.monotonic() - since
        late = summarize_recording(recorded, report_to is not None)
        told = accounts.read(Path(directory))
        done = report.Run(command, uses, rules_path, chosen, status, seconds, told, late)
    if json:
        console.print_json(done.as_json())
    else:
        report.print_summary(done)
    if report_to:
        report.write(done, report_to)
    raise typer.Exit(status)


def register(app: typer.Typer) -> None:
    app.command("run", help=HELP, context_settings={"allow_interspersed_args": False})(run)
