# SPDX-License-Identifier: BSD-3-Clause
"""The process of a run: starts it, passes signals on, waits for it."""

import signal
import subprocess
from typing import Any, Self

from convene._core import RequestError
from convene.run.warning_lines import Pipe

SIGNALLED = 128  # what shells add to the number of the signal that ended a program
PATIENCE = 10.0  # seconds that an interrupted program has to end by itself


def execute(command: list[str], environment: dict[str, str], *, resolve: bool = False) -> int:
    """Runs the command to its end; returns its exit status as a shell reports it. `resolve`: warnings on its
    stderr name source lines."""
    pipe = Pipe(command) if resolve else None
    try:
        with PassedOn() as signals:
            return signals.wait_for(start(command, environment, pipe))
    finally:
        if pipe:
            pipe.close(PATIENCE)


def start(command: list[str], environment: dict[str, str], pipe: Pipe | None) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(command, env=environment, stderr=pipe.target if pipe else None)
    except OSError as error:
        raise RequestError(f"cannot start {command[0]}: {error.strerror}") from None


class PassedOn:
    """Passes signals on to a process; those that arrive before it is there, as soon as it is."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.early = list[int]()

    def __enter__(self) -> Self:
        self.before = {
            number: signal.signal(number, self.pass_on) for number in (signal.SIGTERM, signal.SIGHUP)
        }
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            if handler is not None:  # None: a library's, which Python cannot set again
                signal.signal(number, handler)

    def pass_on(self, number: int, _frame: Any) -> None:
        if self.process:
            self.process.send_signal(number)
        else:
            self.early.append(number)

    def wait_for(self, process: "subprocess.Popen[bytes]") -> int:
        """Returns the exit status as a shell reports it."""
        self.process = process
        for number in self.early:
            process.send_signal(number)
        try:
            status = process.wait()
        except KeyboardInterrupt:
            wait_for_interrupted(process)
            raise
        return status if status >= 0 else SIGNALLED - status


def wait_for_interrupted(process: "subprocess.Popen[bytes]") -> None:
    """Waits for a program that the terminal has interrupted, too."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
