# SPDX-License-Identifier: BSD-3-Clause
"""SimGrid's SMPI as the engine of a simulation: Convene's executor itself runs there, and SMPI's own
collectives."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import ClassVar

from convene._core import RequestError
from convene.base import paths
from convene.base.core_types import Simulated
from convene.simulate import cases, platforms

PROGRAM = "convene-smpi.so"
MOST_PROCS = 512  # SimGrid's platform has a route for each pair

# What SMPI calls by these names are ways to choose; all others are algorithms.
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
OWN = ("allgather", "gather", "scatter", "alltoall", "bcast", "reduce", "allreduce", "barrier")
SMPI = "smpi:"


def find_launcher() -> tuple[str, Path]:
    """smpirun and the program that it loads. Throws RequestError where one of them is missing."""
    launcher = shutil.which("smpirun")
    program = paths.find(PROGRAM, paths.PROGRAMS)
    if launcher is None:
        raise RequestError(
            "--engine smpi needs SimGrid, but smpirun is not in PATH; install SimGrid (apt install "
            "libsimgrid-dev) and rebuild Convene, or use --engine builtin"
        )
    if program is None:
        raise RequestError(
            f"{PROGRAM} not found: Convene was built without SimGrid; rebuild it with SimGrid installed, or "
            "use --engine builtin"
        )
    return launcher, program


def check(procs: int, platform: platforms.Platform) -> None:
    """Throws RequestError if SMPI cannot simulate this number of ranks on the platform."""
    find_launcher()
    if procs > MOST_PROCS:
        raise RequestError(
            f"--engine smpi supports at most {MOST_PROCS} ranks, not {procs}; use --engine builtin"
        )
    cores = platform.cores
    if procs > cores:
        raise RequestError(
            f"--engine smpi needs a core for each rank, and {platform.name} has {cores} cores; use fewer "
            "ranks, or --engine builtin"
        )


def parse_baselines(text: str, collective: str) -> list[str]:
    """SMPI's algorithms of a collective, named as in results: smpi:ompi, …"""
    names = [name.strip().removeprefix(SMPI) for name in text.split(",") if name.strip()]
    if names and collective not in OWN:
        raise RequestError(f"--baselines are not supported for {collective}; choose {', '.join(OWN)}")
    for name in names:
        if not re.fullmatch(r"\w+", name):
            raise RequestError(
                f"invalid name '{name}' in --baselines; try {', '.join(SELECTORS)}, or an algorithm such "
                "as ring"
            )
    return [SMPI + name for name in dict.fromkeys(names)]


@dataclass(frozen=True)
class SmpiCase(cases.Case):
    """A case for SMPI. Its algorithm may be one of SMPI: smpi:NAME."""

    engine: ClassVar[str] = "SMPI with the executor"
    running: ClassVar[set["subprocess.Popen[str]"]] = set()
    stopped: ClassVar[bool] = False

    def extent(self) -> tuple[str, int]:
        return "", 0  # each process builds one schedule only

    def simulate(self, _on_part: Callable[[], None] | None = None) -> list[list[Simulated]]:
        launcher, program = find_launcher()
        with tempfile.TemporaryDirectory(prefix="convene-smpi-") as folder:
            where = Path(folder)
            result = where / "result.json"
            self.write_job(where)
            command = [
                launcher,
                *("-np", str(self.procs)),
                *("-platform", str(where / "platform.xml")),
                *("-hostfile", str(where / "hosts")),
                *settings(self),
                str(program),
                str(where / "job.json"),
                str(result),
            ]
            status, said = self.run(command, where)
            if status != 0 or not result.is_file():
                raise RequestError(f"SMPI could not run {self.spec}: {reason(said)}")
            sizes = json.loads(result.read_text())["sizes"]
        return [
            [self.summarize(*run) for run in zip(size["exits"], self.arrivals, strict=True)] for size in sizes
        ]

    @classmethod
    def run(cls, command: list[str], where: Path) -> tuple[int, str]:
        """Returns its exit status and messages."""
        with subprocess.Popen(
            command,
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # smpirun is a script; its children end with it
        ) as process:
            cls.running.add(process)
            if cls.stopped:
                cls.end(process)
            try:
                _, said = process.communicate()
            finally:
                cls.running.discard(process)
        return process.returncode, said

    @staticmethod
    def end(process: "subprocess.Popen[str]") -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)

    @classmethod
    def stop(cls, *, stop: bool) -> None:
        cls.stopped = stop
        for process in tuple(cls.running) if stop else ():
            cls.end(process)

    def write_job(self, where: Path) -> None:
        platform = self.platform.parsed.simgrid(self.mapping, self.procs)
        (where / "platform.xml").write_text(platform)
        (where / "hosts").write_text("".join(f"r{rank}\n" for rank in range(self.procs)))
        job = {
            "collective": self.collective,
            "algorithm": "" if self.spec.startswith(SMPI) else self.spec,
            "root": self.root,
            "nodes": self.platform.parsed.nodes_of_ranks(self.mapping, self.procs),
            "sizes": self.sizes,
            "arrivals": self.arrivals,
        }
        (where / "job.json").write_text(json.dumps(job))

    @staticmethod
    def summarize(exits: list[float], arrivals: tuple[float, ...]) -> Simulated:
        return {
            "seconds": max(exits) - min(arrivals),
            "mean": fmean(done - arrival for done, arrival in zip(exits, arrivals, strict=True)),
        }


def settings(case: SmpiCase) -> list[str]:
    """SMPI's options: the platform's costs of processors and eager limit, a network without corrections."""
    machine = case.platform.machine
    eager = min(machine["eager"], 2**31 - 2)
    options = {
        "smpi/simulate-computation": "no",
        "smpi/privatization": "no",
        "smpi/wtime": "0",
        "smpi/os": f"0:{machine['send']:.12g}:0",
        "smpi/ois": f"0:{machine['send']:.12g}:0",
        "smpi/or": f"0:{machine['recv']:.12g}:0",
        "smpi/send-is-detached-thresh": f"{math.floor(eager) + 1}",
        "smpi/async-small-thresh": f"{math.floor(eager) + 1}",
        # Testing for messages costs nothing (only online algorithms test).
        "smpi/test": "1e-9",
        "smpi/grow-injected-times": "no",
        # Bandwidths and latencies as they are written, and shared without regard to the other direction.
        "network/model": "CM02",
        "network/TCP-gamma": "0",
        "network/crosstraffic": "no",
        # SimGrid's lazy updates of shares are wrong for routes with a link that is not shared (FATPIPE):
        # exchanges between nodes took up to 1.5 times as long.
        "network/optim": "Full",
        "network/latency-factor": "1",
        "network/bandwidth-factor": "1",
        "surf/precision": "1e-12",
        # Large buffers are one block of memory again and again. Larger blocks than the usual 1 MiB, since a
        # process may have 65,530 mappings only: 256 ranks with 256 MiB each were too many.
        "smpi/shared-malloc-blocksize": f"{16 << 20}",
    }
    if case.spec.startswith(SMPI):
        name = case.spec.removeprefix(SMPI)
        options["smpi/coll-selector" if name in SELECTORS else f"smpi/{case.collective}"] = name
    return [f"--cfg={name}:{value}" for name, value in options.items()] + ["--log=root.thres:error"]


def reason(said: str) -> str:
    """The first error message, without SimGrid's marks."""
    lines = [line.rpartition("CRITICAL] ")[2].strip() for line in said.splitlines() if "CRITICAL]" in line]
    rest = [line.strip() for line in said.splitlines() if line.strip()]
    return next(iter(lines or rest), "no message")
