# SPDX-License-Identifier: BSD-3-Clause
"""Mutated files through the command, in one process: python -m tests.fuzz.files READER --seconds 20 --seed 1

Each input is read, or refused by one sentence and status 2. Anything else is a finding, and its input is kept
in build/fuzz/<reader>."""

import argparse
import contextlib
import io
import itertools
import os
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convene.__main__ import run
from convene._core import RequestError

from tests.fuzz.mutations import mutate

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = Path(__file__).resolve().parent / "corpus"
FOUND = ROOT / "build" / "fuzz"
LONGEST = 5.0  # seconds: an input that is right may ask for a lot of work
MEMORY = 4 << 30


class TooLongError(Exception):
    """The input is taken as right, and asks for much work."""


@dataclass(frozen=True)
class Reader:
    """What is called with a folder that holds a case's files; returns an exit status."""

    call: Callable[[Path], int]
    shipped: str = ""  # folder of files that come with Convene, beside those of the corpus


def command(*words: str, shipped: str = "") -> Reader:
    """A command in which FILE stands for the first file, and FOLDER for the folder."""

    def call(folder: Path) -> int:
        names = {"FILE": str(min(folder.iterdir())), "FOLDER": str(folder)}
        return run([names.get(word, word) for word in words])

    return Reader(call, shipped)


def read_profiles(folder: Path) -> int:
    """No command reads profiles alone: `convene run` does after the program."""
    from convene.run import profiles

    profiles.read(folder)
    return 0


def read_schedule(folder: Path) -> int:
    """A schedule that the checker finds wrong was read: `verify` names the fault and returns 1."""
    status = run(["verify", "--schedule", str(min(folder.iterdir())), "--json"])
    return 2 if status == 1 else status


def read_mpi_rules(folder: Path) -> int:
    """Findings are what the command is for: it returns 1."""
    status = run(["rules", "check", str(min(folder.iterdir()))])
    return 0 if status == 1 else status


def read_benchmark(folder: Path) -> int:
    """The page of a report takes seconds to draw: it is drawn for one in 50 of the files that are read."""
    from convene.base import console
    from convene.bench import files

    path = min(folder.iterdir())
    try:
        files.read(path)
    except RequestError as error:
        console.complain(str(error))
        return 2
    return run(["report", str(path), "-o", os.devnull]) if next(drawn) % 50 == 0 else 0


drawn = itertools.count()
PLACE = ("-p", "4", "--platform")
READERS = {
    "recording": command("trace", "FOLDER", "--json"),
    "profile": Reader(read_profiles),
    "benchmark": Reader(read_benchmark),
    "schedule": Reader(read_schedule),
    "mpi_rules": Reader(read_mpi_rules),
    "skeleton": command("simulate", "program", "FILE", *PLACE, "tryton", "--json"),
    "wisdom": command("wisdom", "show", "--file", "FILE"),
    "simulation_platform": command(
        *(
            "simulate",
            "sweep",
            "allgather",
            *PLACE,
            "FILE",
            "--algorithms",
            "ring",
            "--sizes",
            "64",
            "--json",
        ),
        shipped="machines",
    ),
    "prediction_platform": command(
        *("predict", "allgather", *PLACE, "FILE", "--algorithms", "ring", "--json"), shipped="platforms"
    ),
    "arrivals": command(
        *("simulate", "sweep", "allgather", *PLACE, "tryton", "--arrivals", "FILE", "--algorithms", "ring"),
        *("--sizes", "64", "--json"),
    ),
}


def stop_long_work(_number: int, _frame: Any) -> None:
    raise TooLongError


def problem_of(reader: Reader, folder: Path, longest: float) -> str | None:
    """What is wrong with what an input led to; None if nothing is, or it took longer than so many seconds."""
    said = io.StringIO()
    signal.setitimer(signal.ITIMER_REAL, longest)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            status = reader.call(folder)
    except TooLongError:
        return None
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    lines = said.getvalue().splitlines()
    if status == 0:
        return None
    if len(lines) != 1 or not lines[0].startswith("convene: "):
        return f"status {status} with {len(lines)} lines on stderr: {said.getvalue()[:2000]!r}"
    if status != 2 and "memory" not in lines[0]:
        return f"status {status}: {lines[0]}"
    return None


def cases(name: str) -> list[dict[str, bytes]]:
    """Files by name, of each case of the corpus: one file, or a folder of several."""
    shipped = READERS[name].shipped
    found = sorted((CORPUS / name).glob("*"))
    found += sorted((ROOT / "python" / "convene" / shipped).glob("*.json")) if shipped else []
    return [
        {path.name: path.read_bytes() for path in (sorted(each.iterdir()) if each.is_dir() else [each])}
        for each in found
    ]


def inputs(name: str, choose: random.Random) -> Iterator[dict[str, bytes]]:
    """The corpus as it is, then mutations of it without end."""
    known = cases(name)
    yield from known
    while True:
        files = dict(choose.choice(known))
        victim = choose.choice(sorted(files))
        files[victim] = mutate(files[victim], choose)
        yield files


def fuzz(name: str, seconds: float, seed: int) -> int:
    """Tries inputs for some time. Returns the number of findings."""
    folder, kept = FOUND / name / "input", FOUND / name
    shutil.rmtree(kept, ignore_errors=True)
    end, tried, problems = time.monotonic() + seconds, 0, dict[str, str]()
    unlimited = len(cases(name))  # the corpus: an import that is interrupted would leave half a module
    for files in itertools.takewhile(lambda _: time.monotonic() < end, inputs(name, random.Random(seed))):
        tried += 1
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file, data in files.items():
            (folder / file).write_bytes(data)
        longest = 0 if tried <= unlimited else LONGEST
        if problem := problem_of(READERS[name], folder, longest):
            where = problem.strip().splitlines()[-1][:160]
            if where not in problems:
                problems[where] = problem
                shutil.copytree(folder, kept / f"found-{len(problems)}", dirs_exist_ok=True)
    print(f"{name}: {tried} inputs, {len(problems)} findings (seed {seed})")
    for number, problem in enumerate(problems.values(), start=1):
        print(f"-- input {kept / f'found-{number}'}:\n{problem.strip()}")
    return len(problems)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", choices=list(READERS))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    signal.signal(signal.SIGALRM, stop_long_work)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.exit(1 if fuzz(options.reader, options.seconds, options.seed) else 0)


if __name__ == "__main__":
    main()
