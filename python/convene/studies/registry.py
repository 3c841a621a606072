# SPDX-License-Identifier: BSD-3-Clause
"""All studies by name: each is one experiment, simulated in full, measured on this machine, or both."""

from typing import Any, Protocol

from convene.studies import measured, simulated
from convene.studies.clairvoyant import measured as clairvoyant_measured
from convene.studies.clairvoyant import simulated as clairvoyant_simulated
from convene.studies.forecast import simulated as forecast_simulated
from convene.studies.mini_benchmark import measured as mini_benchmark_measured
from convene.studies.mini_benchmark import simulated as mini_benchmark_simulated
from convene.studies.scatter_gather import measured as scatter_gather_measured
from convene.studies.scatter_gather import simulated as scatter_gather_simulated
from convene.studies.sparbit import measured as sparbit_measured
from convene.studies.sparbit import simulated as sparbit_simulated
from convene.studies.summa import measured as summa_measured
from convene.studies.summa import simulated as summa_simulated
from convene.studies.taulop import simulated as taulop_simulated


class Named(Protocol):
    """What both kinds of studies have."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str: ...


SIMULATED: dict[str, simulated.Study[Any]] = {
    study.name: study
    for study in (
        sparbit_simulated.ALLGATHER,
        sparbit_simulated.ALLGATHERV,
        mini_benchmark_simulated.STUDY,
        clairvoyant_simulated.STUDY,
        scatter_gather_simulated.STUDY,
        taulop_simulated.STUDY,
        summa_simulated.STUDY,
        forecast_simulated.STUDY,
    )
}

MEASURED: dict[str, measured.Study[Any]] = {
    study.name: study
    for study in (
        sparbit_measured.ALLGATHER,
        sparbit_measured.ALLGATHERV,
        mini_benchmark_measured.STUDY,
        clairvoyant_measured.STUDY,
        scatter_gather_measured.STUDY,
    )
}

# Programs whose messages are no collective; `convene bench study` measures them, too.
KERNELS: dict[str, Named] = {summa_measured.STUDY.name: summa_measured.STUDY}

RENAMED = {"pap": "mini-benchmark"}  # old names, which work for one more release
