# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks share: their options, their results and how they end."""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from convene import _core
from convene.base import console
from convene.mpi import processes

ROOT = Path(__file__).resolve().parent.parent.parent


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


def keep(options: argparse.Namespace, name: str, results: Any, table: str) -> None:
    """Writes NAME.json and NAME.inc (Markdown, for the documentation), and prints the latter."""
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / f"{name}.json").write_text(console.json_text(results) + "\n")
    (options.output / f"{name}.inc").write_text(table)
    print(table)


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
