# SPDX-License-Identifier: BSD-3-Clause
"""The sources' experiments on this machine, scaled to it or in full, beside what they published."""

from convene import _core
from convene._core import RequestError
from convene.studies.clairvoyant import measured as clairvoyant_measured
from convene.studies.measured import Study
from convene.studies.mini_benchmark import measured as mini_benchmark_measured
from convene.studies.scatter_gather import measured as scatter_gather_measured
from convene.studies.sparbit import measured as sparbit_measured

STUDIES = {
    study.name: study
    for study in (
        sparbit_measured.ALLGATHER,
        sparbit_measured.ALLGATHERV,
        mini_benchmark_measured.STUDY,
        clairvoyant_measured.STUDY,
        scatter_gather_measured.STUDY,
    )
}


def find_study(name: str) -> Study:
    if name not in STUDIES:
        raise RequestError(_core.no_such("study", name, list(STUDIES)))
    return STUDIES[name]


__all__ = ["STUDIES", "Study", "find_study"]
