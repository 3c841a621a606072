# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks share: their options, their results and how they end."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from convene import _core
from convene.base import console
from convene.mpi import processes

from benchmarks.common import summaries
from benchmarks.common.summaries import ROOT, Report

__all__ = ["ROOT", "Report", "asked", "built", "chosen", "keep", "parser", "run", "run_google"]


def parser(documentation: str | None) -> argparse.ArgumentParser:
    """For a benchmark with this documentation; the option that all have is there."""
    made = argparse.ArgumentParser(
        prog=f"./dev bench {Path(sys.argv[0]).stem}", description=(documentation or "").partition("\n")[0]
    )
    made.add_argument(
        "-o",
        "--output",
        type=Path,
        default=ROOT / "build/benchmarks",
        help="folder of the results (default: build/benchmarks)",
    )
    return made


def asked(options: argparse.Namespace) -> dict[str, Any]:
    """The options that say what was measured, for the results."""
    return {name: value for name, value in vars(options).items() if name != "output"}


def chosen(text: str, known: Iterable[str], what: str) -> list[str]:
    """The names of a list, as in openmpi5,mpich5. RequestError: one is not known."""
    names, known = text.split(","), list(known)
    for name in names:
        if name not in known:
            raise _core.RequestError(_core.no_such(what, name, known))
    return names


def run_google(name: str, *options: str) -> list[dict[str, Any]]:
    """What a program of Google Benchmark (build/bin/benchmark_NAME) reports."""
    command = [str(built(f"bin/benchmark_{name}")), "--benchmark_format=json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    entries: list[dict[str, Any]] = json.loads(done.stdout)["benchmarks"]
    return entries


def built(path: str) -> Path:
    """A program of the build. RequestError: it is not there."""
    program = ROOT / "build" / path
    if not program.is_file():
        raise _core.RequestError(f"build/{path} is not built; run ./dev build")
    return program


def keep(options: argparse.Namespace, name: str, result: dict[str, Any], raw: Any = None) -> None:
    """Writes the raw results into build/benchmarks/results, the summary into NAME.json and what the
    benchmark's REPORT makes of it into NAME.inc (Markdown, for the documentation) and NAME.svg; prints the
    table. `raw`: the result itself if None."""
    summaries.write_raw(name, result if raw is None else raw)
    summaries.write(options.output, name, summaries.summary_of(Path(sys.argv[0]).stem, result))
    print((options.output / f"{name}.inc").read_text())


def run(main: Callable[[], None]) -> NoReturn:
    """Ends with status 2 where what is asked for cannot be had, and 1 where measuring failed."""
    try:
        main()
    except _core.RequestError as error:
        console.complain(str(error))
        sys.exit(2)
    except (processes.RunError, RuntimeError, subprocess.CalledProcessError) as error:
        console.complain(f"the benchmark failed: {error}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    sys.exit(0)
