# SPDX-License-Identifier: BSD-3-Clause
"""The sources' experiments on this machine, scaled to it or in full, beside what they published."""

from convene import _core
from convene._core import RequestError
from convene.bench_studies import clairvoyant, pap, scatter_gather, sparbit
from convene.bench_studies.study import Study

STUDIES = {
    study.name: study
    for study in (
        sparbit.ALLGATHER,
        sparbit.ALLGATHERV,
        pap.STUDY,
        clairvoyant.STUDY,
        scatter_gather.STUDY,
    )
}


def find_study(name: str) -> Study:
    if name not in STUDIES:
        raise RequestError(_core.no_such("study", name, list(STUDIES)))
    return STUDIES[name]


__all__ = ["STUDIES", "Study", "find_study"]
