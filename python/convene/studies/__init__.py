# SPDX-License-Identifier: BSD-3-Clause
"""The sources' experiments in simulation, full size, beside what they published; and one of this
project's own."""

from convene.studies import clairvoyant, forecast, mini_benchmark, scatter_gather, sparbit
from convene.studies.study import Play, Study

STUDIES = {
    study.name: study
    for study in (
        sparbit.ALLGATHER,
        sparbit.ALLGATHERV,
        mini_benchmark.STUDY,
        clairvoyant.STUDY,
        scatter_gather.STUDY,
        forecast.STUDY,
    )
}

__all__ = ["STUDIES", "Play", "Study"]
