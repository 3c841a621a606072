# SPDX-License-Identifier: BSD-3-Clause
"""Measurements: what is to be measured, and the MPI program that does it (tools/bench.cpp)."""

import ctypes
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convene import _core, paths, stacks
from convene._core import RequestError
from convene.stacks import Launcher

NATIVE = "native"
INTERCEPTED = "intercepted"
# What an algorithm can be told of arrivals, behind an @.
FORECASTS = {
    "truth": "the delays that come",
    "average": "the mean of each rank's last five",
    "mirrored": "those of the opposite ranks, so a wrong one",
}
OWN = "mpi:"  # before the name of one of the MPI's own algorithms

MOST_SIZE = (1 << 31) - 1

# What sizes are of: a rank's block, or, of these, the whole vector. A barrier has none.
OF_VECTORS = ("bcast", "reduce", "allreduce", "scan", "exscan")
WITHOUT_SIZES = ("barrier",)

# Which of them combine items, and which have blocks of unequal size.
REDUCTIONS = ("reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan")
IRREGULAR = ("allgatherv", "gatherv", "scatterv", "alltoallv", "reduce_scatter", "neighbor_allgatherv")

TYPES = ("byte", "int", "long", "float", "double")
OPERATIONS = ("sum", "max", "min")
DISTRIBUTIONS = ("regular", "broadcast", "spike", "half_full", "linear", "geometric")
CHECKS = ("every", "once", "never")
SYNCS = ("barrier", "window")
CACHES = ("hot", "cold")
BALANCED = "none"  # the arrival pattern in which all come at once

# What the program and the library in it say begins with one of these.
VOICES = ("convene-bench: ", "convene-measure: ", "convene: ")

PROGRESS = "progress "

# Launchers of a stack, the usual ones first; those of a checkout are in .stacks.
STACKS = paths.CHECKOUT / ".stacks"
LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "mpirun", f"{STACKS}/openmpi5/bin/mpirun"),
    "mpich": ("mpiexec.mpich", "mpiexec", "mpirun", f"{STACKS}/mpich5/bin/mpiexec"),
    "abi": (f"{STACKS}/mpich5/bin/mpiexec", "mpiexec", "mpirun", f"{STACKS}/impi/bin/mpiexec"),
}

# All MPIs that a checkout knows, for benchmarks that look at each of them.
MPIS = (
    ("mpirun.openmpi", "openmpi"),
    (f"{STACKS}/openmpi5/bin/mpirun", "openmpi"),
    ("mpiexec.mpich", "mpich"),
    (f"{STACKS}/mpich5/bin/mpiexec", "abi"),
    (f"{STACKS}/impi/bin/mpiexec", "abi"),
)

# As root, or with more ranks than cores, launchers start only when told; idle ranks must then give way.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OVERSUBSCRIBED = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
}

# Before version 5 this has to be said at the start. As long as no algorithm is chosen, it changes nothing.
SELECTABLE = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}


class RunError(Exception):
    """The measurement ran and failed."""


@dataclass(frozen=True)
class Request:
    """What is to be measured. Contenders: algorithms of Convene's, native, mpi:NAME, intercepted."""

    collective: str
    procs: int
    sizes: list[int]
    contenders: list[str]
    repetitions: int = 50
    least: int = 10  # observations, where time or precision end it earlier
    seconds: float = 0.0  # for one size; 0: no limit
    precision: float = 0.0  # half the width of the medians' intervals, as a part of them; 0: no limit
    batch: float = 200e-6  # seconds that one observation should last
    group: int = 1  # so many neighbours among the contenders are measured one directly after the other
    order: str = "shuffled"
    check: str = "once"
    seed: int = 1
    type: str = "byte"
    op: str = "sum"
    distribution: str = "regular"
    root: int = 0
    arrivals: tuple[str, ...] = (BALANCED,)
    sync: str = "barrier"
    window: float = 200e-6  # seconds to the first deadline
    cache: str = "hot"
    footprint: bool = False  # also how much memory a communicator costs

    def arguments(self) -> list[str]:
        return [
            self.collective,
            *(["--sizes", ",".join(map(str, self.sizes))] if self.sizes else []),
            *(["--contenders", *self.contenders] if self.contenders else []),
            *(["--footprint"] if self.footprint else []),
            *("--arrivals", *self.arrivals),
            *(word for name in PASSED_ON for word in (f"--{name}", str(getattr(self, name)))),
        ]


# What the program takes under the name that it has in a request.
PASSED_ON = (
    *("repetitions", "least", "seconds", "precision", "batch", "group", "order", "check", "seed"),
    *("type", "op", "distribution", "root", "sync", "window", "cache"),
)


@dataclass(frozen=True)
class Setting:
    """Where it is measured: a launcher with its options, and the program built for its MPI."""

    launcher: Launcher
    options: list[str]
    stack: str
    program: Path
    variables: dict[str, str] = field(default_factory=dict)  # for the ranks, besides what the MPI needs
    preload: Path | None = None


def program_of(stack: str, tool: str = "bench") -> Path:
    name = f"convene-{tool}-{stack}"
    found = paths.find(name, paths.PROGRAMS)
    if found is None:
        places = " or ".join(str(place) for place in paths.PROGRAMS)
        raise RequestError(
            f"there is no {name} in {places}; build Convene where this MPI's compiler wrapper is installed"
        )
    return found


def find_setting(command: str | None, stack: str | None, tool: str = "bench") -> Setting:
    """The launcher that was named (with options, if need be), or the first one of the stack."""
    stacks.check_stack(stack)
    if command is None:
        launcher, options = usual_launcher(stack), list[str]()
    else:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise RequestError(f"--launcher '{command}' cannot be read: {error}") from None
        if not words:
            raise RequestError("--launcher needs the name of a launcher, such as mpirun")
        launcher, options = stacks.find_launcher(words[0], stack), words[1:]
    served = stacks.FAMILIES[launcher.family]
    if stack is None and launcher.family == stacks.SLURM:
        raise RequestError(f"{launcher.path} starts programs of every MPI; {stacks.SAY_STACK}")
    if stack is not None and stack not in served:
        raise RequestError(
            f"--stack {stack} does not fit {launcher.path}, which belongs to {launcher.family}; say --stack "
            + " or --stack ".join(served)
        )
    chosen = stack or served[0]
    return Setting(launcher, options, chosen, program_of(chosen, tool))


def usual_launcher(stack: str | None) -> Launcher:
    names = LAUNCHERS[stack] if stack else ("mpirun", "mpiexec", *LAUNCHERS["openmpi"], *LAUNCHERS["abi"])
    for name in names:
        if stacks.find_program(name) is None:
            continue
        launcher = stacks.find_launcher(name, stack)
        if stack is None or stack in stacks.FAMILIES[launcher.family]:
            return launcher
    raise RequestError(
        f"there is no launcher of {stacks.INTERFACES[stack] if stack else 'any MPI'} to be found; install an "
        "MPI (apt install openmpi-bin, or pip install mpich) or name one with --launcher"
    )


def mpi_variables(launcher: Launcher, procs: int) -> dict[str, str]:
    """What the MPI needs in the environment to run so many ranks here. What the user has set stays."""
    variables = dict(AS_ROOT) if os.geteuid() == 0 else {}
    if procs > (os.cpu_count() or 1) and launcher.family != stacks.SLURM:  # which gives each rank a core
        variables |= OVERSUBSCRIBED
    if launcher.family in ("Open MPI", stacks.SLURM):
        variables |= SELECTABLE
    wanted = {name: os.environ.get(name, value) for name, value in variables.items()}
    own = launcher.path.parent.parent / "lib"
    if any(own.glob("libmpi*.so*")):
        # The program may have been built with another version of this MPI.
        others = os.environ.get("LD_LIBRARY_PATH", "")
        wanted["LD_LIBRARY_PATH"] = f"{own}:{others}" if others else str(own)
    return wanted


def command_line(setting: Setting, procs: int, arguments: list[str], variables: dict[str, str]) -> list[str]:
    ranks = [*setting.options, "-n", str(procs), str(setting.program), *arguments]
    if setting.preload:
        return stacks.for_ranks(setting.launcher, ranks, setting.preload, variables)
    if setting.launcher.family == "Open MPI":
        # Other nodes don't have this environment.
        return [str(setting.launcher.path), *(word for name in variables for word in ("-x", name)), *ranks]
    return [str(setting.launcher.path), *ranks]


def measure(
    setting: Setting,
    request: Request,
    on_progress: Callable[[float, float], None] | None = None,
    lines: Path | None = None,
) -> dict[str, Any]:
    """Runs the program; its result, and how it was started. `lines` is where the program writes what it has,
    size by size; that file stays, whatever becomes of the run."""
    place = stacks.common_place(setting.launcher.path.name)
    with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as folder:
        output = lines or Path(folder) / "bench.jsonl"
        started = start(setting, request.procs, request.arguments(), output, on_progress)
        result = read_lines(output)
    if result is None:
        raise RunError(f"the MPI program has written nothing into {output}; is it on another machine?")
    return result | started


def start(
    setting: Setting,
    procs: int,
    arguments: list[str],
    output: Path,
    on_progress: Callable[[float, float], None] | None = None,
) -> dict[str, Any]:
    """Runs the setting's program, which writes into `output`, to its end; how it was started."""
    variables = {**mpi_variables(setting.launcher, procs), **setting.variables}
    library_path = {name: variables[name] for name in variables if name == "LD_LIBRARY_PATH"}
    command = command_line(
        setting, procs, [*arguments, "--output", str(output)], {**library_path, **setting.variables}
    )
    run(command, {**os.environ, **variables}, on_progress or (lambda done, of: None))
    return {"command": command[: command.index("--output")], "variables": variables}


def read_lines(path: Path) -> dict[str, Any] | None:
    """What the program has written so far; nothing where there is not even a head. A last line that was cut
    off is left out."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    whole = text[: text.rfind("\n") + 1].splitlines()
    if not whole:
        return None
    head: dict[str, Any] = json.loads(whole[0])
    return head | {"sizes": [json.loads(line) for line in whole[1:]]}


def run(command: list[str], environment: dict[str, str], on_progress: Callable[[float, float], None]) -> None:
    """Runs a command to its end. Raises RequestError or RunError where it says what is wrong."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                errors="replace",
                preexec_fn=end_with_parent,
            )
        except OSError as error:
            raise RequestError(f"{command[0]} cannot be started: {error.strerror}") from None
        with process:
            follow(process, on_progress)
        if process.returncode != 0:
            said.seek(0)
            explain(process.returncode, said.read())


def end_with_parent() -> None:
    """In the child: nobody measures on when the driver has been killed."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def follow(process: "subprocess.Popen[str]", on_progress: Callable[[float, float], None]) -> None:
    """Hands on what a process says about its progress, until it has ended."""
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith(PROGRESS):
                done, total = line.removeprefix(PROGRESS).split()
                on_progress(float(done), float(total))
    except BaseException:
        process.terminate()
        raise


def explain(status: int, said: str) -> None:
    """Raises what a run that failed has said. Launchers say much besides."""
    for line in said.splitlines():
        for voice in VOICES:
            if voice in line:
                sentence = line.partition(voice)[2]
                raise RequestError(sentence) if status == 2 else RunError(sentence)
    lines = [line.strip() for line in said.splitlines() if line.strip(" -")]
    why = " ".join(lines)[:600] if lines else "it said nothing"
    raise RunError(f"the MPI program ended with status {status}: {why}")


def split_names(text: str) -> list[str]:
    """Names between commas, but for commas within parentheses; each once."""
    names, depth, name = [], 0, ""
    for letter in text + ",":
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            names.append(name.strip())
            name = ""
        else:
            name += letter
    return list(dict.fromkeys(name for name in names if name))


def parse_sizes(text: str, option: str = "--sizes") -> list[int]:
    """Bytes per block from "8,64,4KiB", or from "8:1MiB": doublings; "8:1MiB:4" goes in steps of 4."""
    sizes: dict[int, None] = {}
    for part in text.split(","):
        ends = part.split(":")
        if len(ends) > 3:
            raise RequestError(
                f"{option} '{part}' is no range of sizes; write the first, the last and the factor: 8:1MiB:4"
            )
        first, last = _core.size(ends[0]), _core.size(ends[min(1, len(ends) - 1)])
        factor = parse_factor(ends[2], option) if len(ends) == 3 else 2
        if first > last:
            raise RequestError(f"{option} '{part}' is empty; write the smaller size first, as in 8:1MiB")
        if last > MOST_SIZE:
            raise RequestError(f"{option} '{part}' is too large: a block has less than 2 GiB here")
        while first <= last:
            sizes[first] = None
            first = first * factor if first else last + 1
    return list(sizes)


def parse_factor(text: str, option: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) < 2:
        raise RequestError(f"the factor '{text}' of {option} must be a whole number above 1, as in 8:1MiB:4")
    return int(text)


def choose_algorithms(collective: str, procs: int, text: str) -> list[str]:
    """Algorithms as contenders. "all" stands for those of Convene's that can run on so many ranks, wherever
    these are: without compositions, which need to know the nodes, and those that share memory."""
    chosen: dict[str, None] = {}
    for name in split_names(text):
        if name == "all":
            known = [
                algorithm["name"]
                for algorithm in _core.algorithms(collective)
                if not algorithm["native"] and not algorithm["parts"] and not algorithm["shares_memory"]
            ]
            chosen |= {each: None for each in known if not _core.unmet(collective, each, procs)}
        else:
            chosen[check_contender(collective, procs, name)] = None
    return list(chosen)


def check_contender(collective: str, procs: int, name: str) -> str:
    """The contender's name in its proper form. Which names follow "mpi:", only the MPI itself can say."""
    if name == INTERCEPTED or name.startswith(OWN):
        return name
    name, at, forecast = name.partition("@")
    spec = _core.spec(collective, name)
    if at:
        check_forecast(collective, spec, forecast)
    why = _core.unmet(collective, spec, procs)
    if why:
        raise RequestError(
            f"{collective} algorithm {spec} {why}, not {procs}; leave it out, or take another number"
        )
    return spec + at + forecast


def check_forecast(collective: str, spec: str, forecast: str) -> None:
    """Whether an algorithm can be given this forecast of arrivals."""
    if forecast not in FORECASTS:
        raise RequestError(
            _core.no_such("forecast", forecast, list(FORECASTS)) + f" (behind the @ of {collective}={spec}@…)"
        )
    if _core.learns(collective, spec) != "forecast":
        known = _core.algorithms(collective)
        users = ", ".join(each["name"] for each in known if each["learns"] == "forecast")
        raise RequestError(
            f"{collective}={spec} makes no use of a forecast; leave out @{forecast}, or take "
            + (f"one that does: {users}" if users else "another collective")
        )
