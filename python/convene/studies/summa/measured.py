# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA as a program (examples/summa/summa.c) under real MPI, beside its prediction and its simulation."""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import TypedDict

from rich.table import Table

from convene import _core
from convene.base import console, paths
from convene.model import measured_machines
from convene.model.platform_files import PlatformFile
from convene.mpi import launchers, processes
from convene.mpi.settings import Setting
from convene.studies.summa.experiment import MEASURED_PARTITIONS, Partition, block_bytes

NAME = "summa"
SUMMARY = "SUMMA with irregular partitions, as a program (Rico-Gallego 2015, appendix A)"
BLOCK, FULL_BLOCK = 4, 16  # rows and columns of a block
USE = "bcast=binomial"  # the model's broadcast


@dataclass(frozen=True)
class KernelStudy:
    name: str
    summary: str


STUDY = KernelStudy(NAME, SUMMARY)


class Ran(TypedDict):
    """Output of the program: seconds by repetition."""

    communication: list[float]  # the messages alone
    in_messages: list[float]  # with the product: the most of a process
    seconds: list[float]
    nodes: list[int]
    wrong: int


class Row(TypedDict):
    """A partition. Seconds of communication alone, medians over the repetitions."""

    partition: str
    procs: int
    nodes: int
    predicted: float
    simulated: float
    measured: float
    native: float
    with_product: float  # seconds in messages of the complete program
    wrong: int  # elements of C that differ from the plain product


class Result(TypedDict):
    study: str
    platform: str
    block: int
    rows: list[Row]


@dataclass(frozen=True)
class Request:
    setting: Setting
    platform: PlatformFile
    block: int
    repetitions: int


def run(request: Request, on_row: Callable[[], None]) -> Result:
    """Measures each partition. Raises RequestError and RunError."""
    rows = []
    for partition in MEASURED_PARTITIONS:
        rows.append(row(partition, request))
        on_row()
    return {
        "study": NAME,
        "platform": request.platform.facts["name"],
        "block": request.block,
        "rows": rows,
    }


def row(partition: Partition, request: Request) -> Row:
    own, native = (execute(partition, request, convene=convene) for convene in (True, False))
    kernel, size = partition.request(own["nodes"]), block_bytes(request.block)
    machine = measured_machines.simulated_platform(request.platform)
    return {
        "partition": partition.name,
        "procs": partition.procs,
        "nodes": len(set(own["nodes"])),
        "predicted": _core.summa(kernel, size, request.platform.parsed, False)["by_iteration"],
        "simulated": _core.simulate_summa(kernel, size, machine.parsed, False)["seconds"],
        "measured": median(own["communication"]),
        "native": median(native["communication"]),
        "with_product": median(own["in_messages"]),
        "wrong": own["wrong"] + native["wrong"],
    }


def execute(partition: Partition, request: Request, *, convene: bool) -> Ran:
    """The program once, with Convene's library and the model's broadcast, or without."""
    setting = request.setting
    if convene:
        variables = {**setting.variables, "CONVENE_USE": USE, "CONVENE_WISDOM": "none"}
        setting = replace(setting, preload=paths.preload_library(setting.stack), variables=variables)
    words = [
        *("--partition", partition.text),
        *("--block", str(request.block)),
        *("--repetitions", str(request.repetitions)),
    ]
    place = launchers.common_place(setting.launcher.path.name)
    with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as folder:
        output = Path(folder) / "summa.json"
        processes.start(setting, partition.procs, words, output)
        found: Ran = json.loads(output.read_text(encoding="utf-8"))
    return found


def table(result: Result) -> Table:
    heads = (
        "predicted",
        "simulated",
        "measured",
        "predicted / measured",
        "simulated / measured",
        "native MPI",
    )
    found = console.table(
        f"SUMMA, matrices of order {256 * result['block']} in blocks of {result['block']}: "
        f"communication; prediction (τ-Lop) and simulation with {result['platform']}; measured with {USE}",
        "partition",
        "ranks, nodes",
        *heads,
        "C",
        numbers=heads,
    )
    for each in result["rows"]:
        found.add_row(
            each["partition"],
            f"{each['procs']}, {each['nodes']}",
            *(f"{1e3 * each[name]:.1f} ms" for name in ("predicted", "simulated", "measured")),
            *(f"{each[name] / each['measured']:.2f}" for name in ("predicted", "simulated")),
            f"{1e3 * each['native']:.1f} ms",
            f"{each['wrong']} wrong" if each["wrong"] else "right",
        )
    return found


def error(row: Row, name: str) -> float:
    """The proportional error of the τ-Lop thesis: the larger over the smaller."""
    pair = (row["predicted"] if name == "predicted" else row["simulated"], row["measured"])
    return max(pair) / min(pair)


def sentences(result: Result) -> list[str]:
    rows = result["rows"]
    errors = {name: fmean(error(each, name) for each in rows) for name in ("predicted", "simulated")}
    wrong = [each["partition"] for each in rows if each["wrong"]]
    return [
        f"Mean proportional error: prediction {errors['predicted']:.2f}, simulation "
        f"{errors['simulated']:.2f}.",
        f"C differs from the plain product with {', '.join(wrong)}."
        if wrong
        else "C equals the plain product with every partition.",
    ]
