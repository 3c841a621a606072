# SPDX-License-Identifier: BSD-3-Clause
"""The process of a run: starts it, passes signals on, waits for it."""

import signal
import subprocess
from typing import Any

from convene._core import RequestError

SIGNALLED = 128  # what shells add to the number of the signal that ended a program
PATIENCE = 10.0  # seconds that an interrupted program has to end by itself


def execute(command: list[str], environment: dict[str, str]) -> int:
    """Runs the command to its end; returns its exit status as a shell reports it."""
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
    """Waits for a program that the terminal has interrupted, too."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
