# SPDX-License-Identifier: BSD-3-Clause
"""The sources' experiments in simulation, full size, beside what they published; and one of this
project's own."""

from convene.studies.clairvoyant import simulated as clairvoyant_simulated
from convene.studies.forecast import simulated as forecast_simulated
from convene.studies.mini_benchmark import simulated as mini_benchmark_simulated
from convene.studies.scatter_gather import simulated as scatter_gather_simulated
from convene.studies.simulated import Play, Study
from convene.studies.sparbit import simulated as sparbit_simulated

STUDIES = {
    study.name: study
    for study in (
        sparbit_simulated.ALLGATHER,
        sparbit_simulated.ALLGATHERV,
        mini_benchmark_simulated.STUDY,
        clairvoyant_simulated.STUDY,
        scatter_gather_simulated.STUDY,
        forecast_simulated.STUDY,
    )
}

__all__ = ["STUDIES", "Play", "Study"]
