# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the program: recorded with native algorithms, as it is, and with rules."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from convene._core import RequestError
from convene.mpi import launchers, settings
from convene.mpi.launchers import Launcher
from convene.mpi.settings import Setting
from convene.run import folders, processes, profiles, returns
from convene.run.environment import Learning, Prepared, Settings, prepare
from convene.run.profiles import Profiles
from convene.trace import files, recordings
from convene.trace.recordings import Recording

NO_WISDOM = {"CONVENE_WISDOM": "none"}
COUNT_OPTIONS = ("-n", "--n", "-np", "--np", "-c", "--ntasks")


@dataclass(frozen=True)
class Recorded:
    """One recorded run with native algorithms."""

    command: list[str]
    stack: str
    status: int
    seconds: float
    profiles: Profiles
    recording: Recording | None  # None: no rank wrote one


@dataclass(frozen=True)
class Program:
    """A program with its launcher."""

    command: list[str]
    stack: str | None  # None: to be detected

    def launch(self) -> tuple[Launcher, list[str]]:
        """The launcher, and its options without the number of ranks, for measurements."""
        if not launchers.is_launcher(self.command[0]):
            raise RequestError(
                f"'{self.command[0]}' is not a launcher; give the launcher's command line, as in convene "
                "advise -- mpirun -n 4 ./app"
            )
        launcher = launchers.find_launcher(self.command[0], self.stack)
        first = launchers.split_contexts(self.command[1:])[0]
        return launcher, without_count(first[: launchers.start_of(first, launcher.values)])

    def setting(self, stack: str) -> Setting:
        """Measurements with this launcher, in the program's own environment."""
        launcher, options = self.launch()
        return Setting(launcher, options, stack, settings.program_of(stack), as_it_is=True)

    def prepared(self, returned: dict[str, str], **given: str) -> Prepared:
        """With the library, and without choices from elsewhere."""
        chosen = Settings(wisdom="none", learn=Learning.NO, **given)  # type: ignore[arg-type]
        variables = chosen.variables()
        variables.pop("CONVENE_ARRIVALS", None)
        return prepare(self.command, self.stack, {**variables, **returned})

    def record(self, output_to_stderr: bool) -> Recorded:
        """Runs the program once. Its output is the user's."""
        place = launchers.common_place(self.command[0])
        with (
            tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as profile,
            tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as recorded,
        ):
            directories = Path(profile), Path(recorded)
            with returns.returning(*directories, NO_WISDOM) as returned:
                ready = self.prepared(returned, profile_directory=profile, recording=recorded)
                status, seconds = timed(
                    ready.command, ready.environment, stdout=sys.stderr.fileno() if output_to_stderr else None
                )
            found = files.files_in(Path(recorded))
            return Recorded(
                self.command,
                ready.stack,
                status,
                seconds,
                profiles.read(Path(profile)),
                recordings.read(Path(recorded)) if found else None,
            )

    def run_native(self) -> tuple[int, float]:
        """Status and seconds of the program without Convene. Its output is dropped."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CONVENE_")}
        return timed(self.command, environment, stdout=subprocess.DEVNULL)

    def run_with(self, rules: Path) -> tuple[int, float, Profiles]:
        """The same with rules; and what ran."""
        place = launchers.common_place(self.command[0])
        with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as profile:
            variables = {**NO_WISDOM, "CONVENE_RULES": str(rules)}
            with returns.returning(Path(profile), None, variables) as returned:
                ready = self.prepared(returned, rules=str(rules), profile_directory=profile)
                status, seconds = timed(ready.command, ready.environment, stdout=subprocess.DEVNULL)
            return status, seconds, profiles.read(Path(profile))


def without_count(options: list[str]) -> list[str]:
    """A launcher's options without the number of ranks."""
    kept, words = list[str](), iter(options)
    for word in words:
        if word in COUNT_OPTIONS:
            next(words, None)
        elif not word.startswith("--ntasks="):
            kept.append(word)
    return kept


def timed(command: list[str], environment: dict[str, str], stdout: int | None) -> tuple[int, float]:
    """Runs a command to its end; its exit status, and how long it took. Dropped output: errors, too, and
    there is no input."""
    quiet = subprocess.DEVNULL if stdout == subprocess.DEVNULL else None
    since = time.monotonic()
    with processes.PassedOn() as signals:
        try:
            process = subprocess.Popen(command, env=environment, stdin=quiet, stdout=stdout, stderr=quiet)
        except OSError as error:
            raise RequestError(f"cannot start {command[0]}: {error.strerror}") from None
        return signals.wait_for(process), time.monotonic() - since


def why_nothing(recorded: Recorded) -> str:
    """Why there is nothing to advise on; empty if there is something."""
    found = recorded.recording
    if recorded.status != 0:
        return f"the program ended with status {recorded.status}; nothing is advised for a run that failed"
    if recorded.profiles.refusal:
        return f"Convene ended the program: {recorded.profiles.refusal}"
    if found is None and (place := folders.why_unwritable(Path(tempfile.gettempdir()))):
        return f"no rank wrote a recording, because none can be written to {place}"
    if found is None:
        return (
            "no rank wrote a recording: the program made no collective calls, ended without MPI_Finalize, "
            f"or does not use the expected MPI ({recorded.stack}); there is nothing to advise"
        )
    if not found.calls:
        return "the program made no collective calls of several ranks; there is nothing to advise"
    return ""
