# SPDX-License-Identifier: BSD-3-Clause
"""SUMMA on Fermi, simulated in full: 256 iterations with blocks of 64 by 64 doubles, on both networks."""

import json
from typing import TYPE_CHECKING, TypedDict

from rich.table import Table

from convene import _core
from convene.base import console
from convene.model import machine_models
from convene.simulate import platforms
from convene.simulate.platforms import Platform
from convene.studies.simulated import Simulate, Study
from convene.studies.summa.experiment import BLOCK, SOURCE, SOURCE_PARTITIONS, block_bytes
from convene.studies.taulop.experiment import SUMMA

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Fermi's second network. Assumed: latency, costs of the processor and eager limit, as on Yahoo.
ETHERNET = {
    "network": {"shape": "one_switch", "node": {"latency": 12e-6, "bandwidth": 125e6}},
    "processor": {"send": 2e-6, "recv": 2e-6, "copy": 3e-10},
    "eager": "64KiB",
}
NETWORKS = ("Ethernet", "InfiniBand")


class Row(TypedDict):
    """Seconds of communication; `predicted`: by τ-Lop with parameters from the platform's links."""

    config: str
    network: str
    published: float
    simulated: float
    predicted: float
    megabytes: float


class Result(TypedDict):
    study: str
    source: str
    rows: list[Row]


def fermi(network: str) -> Platform:
    found = platforms.load_platform("fermi")
    if network == "InfiniBand":
        return found
    return Platform(json.dumps({**json.loads(found.text), **ETHERNET}), "fermi with Ethernet")


def row(number: int, network: str) -> Row:
    partition, published = SOURCE_PARTITIONS[number], SUMMA[number].measured
    platform = fermi(network)
    model = _core.ModelPlatform(machine_models.model_platform(platform.text), platform.file)
    size = block_bytes(BLOCK)
    run = _core.simulate_summa(partition.request(), size, platform.parsed, False)
    return {
        "config": partition.name,
        "network": network,
        "published": published[NETWORKS.index(network)],
        "simulated": run["seconds"],
        "predicted": _core.summa(partition.request(), size, model, False)["by_iteration"],
        "megabytes": run["bytes"] / 2**20,
    }


def run(simulate: Simulate) -> Result:
    """`simulate` is not used: the kernel is no collective."""
    found = [row(number, network) for network in NETWORKS for number in range(len(SOURCE_PARTITIONS))]
    return {"study": "summa", "source": SOURCE, "rows": found}


def first_of(rows: list[Row], network: str) -> Row:
    return next(each for each in rows if each["network"] == network)


def table(result: Result) -> Table:
    heads = ("predicted", "simulated", "published", "of Config1: predicted", "simulated ", "published ")
    found = console.table(
        "SUMMA on Fermi, matrices of order 16,384 on 6 processes: seconds of communication, and their ratio "
        f"to Config1's on the same network (published: {SOURCE})",
        "configuration",
        "network",
        *heads,
        numbers=heads,
        keys=2,
    )
    for each in result["rows"]:
        first = first_of(result["rows"], each["network"])
        found.add_row(
            each["config"],
            each["network"],
            *(f"{each[name]:.1f} s" for name in ("predicted", "simulated", "published")),
            *(f"{each[name] / first[name]:.2f}" for name in ("predicted", "simulated", "published")),
        )
    return found


def sentences(result: Result) -> list[str]:
    rows = result["rows"]
    times = [each["published"] / each["simulated"] for each in rows]
    apart = max(
        max(each["predicted"], each["simulated"]) / min(each["predicted"], each["simulated"]) for each in rows
    )
    volumes = ", ".join(f"{each['megabytes']:.0f}" for each in rows[: len(SOURCE_PARTITIONS)])
    return [
        f"τ-Lop's prediction and the simulation differ by a factor of {apart:.2f} at most.",
        f"The published times are {min(times):.1f} to {max(times):.1f} times the simulated ones. They are "
        "those of a program that computes, on GPUs too; the source does not say what they include.",
        f"Bytes of all messages: {volumes} MiB; published: 4952, 6144, 6144. (4952 counts two messages for "
        "the broadcast among four processes, which needs three.)",
    ]


def draw(result: Result) -> "Figure":
    from convene.studies.summa import figure  # imports Matplotlib

    return figure.bars(
        [(f"{each['config']}\n{each['network']}", each) for each in result["rows"]],
        ("predicted", "simulated", "published"),
    )


STUDY = Study[Result](
    "summa",
    "matrix multiplication with irregular partitions (Rico-Gallego 2015, appendix A)",
    run,
    lambda result: [table(result)],
    sentences,
    draw,
)
