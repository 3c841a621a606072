# SPDX-License-Identifier: BSD-3-Clause
"""The process of a run, and signals."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest
from convene.run import processes


@pytest.fixture
def _handled() -> Iterator[None]:
    """A signal that nothing passes on ends the test, not pytest."""

    def fail(number: int, _frame: Any) -> None:
        pytest.fail(f"signal {number} was not passed on")

    before = signal.signal(signal.SIGTERM, fail)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("_handled")
def test_a_signal_while_the_program_starts_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen

    def popen(*words: Any, **options: Any) -> Any:
        process = real(*words, **options)
        os.kill(os.getpid(), signal.SIGTERM)
        return process

    monkeypatch.setattr(subprocess, "Popen", popen)
    since = time.monotonic()
    assert processes.execute(["sleep", "300"], dict(os.environ)) == 128 + signal.SIGTERM
    assert time.monotonic() - since < 240
