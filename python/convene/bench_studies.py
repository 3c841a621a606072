# SPDX-License-Identifier: BSD-3-Clause
"""The sources' experiments on this machine, beside what they published."""

from dataclasses import dataclass
from statistics import mean
from typing import Any

from rich.table import Table

from convene import _core, bench_metrics, console
from convene._core import RequestError
from convene.bench_statistics import Case, cases

SPARBIT = "sparbit"
RIVALS = ("ring", "neighbor_exchange", "recursive_doubling", "bruck")


@dataclass(frozen=True)
class Published:
    """In percent; what the source does not say is nothing."""

    best: float
    gain: float | None = None
    highest: float | None = None


@dataclass(frozen=True)
class Study:
    """Sparbit against the algorithms of Open MPI of that time, by the average time of all ranks."""

    name: str
    source: str
    machine: str
    collective: str
    distributions: tuple[str, ...]
    procs: str
    sizes: str
    full_procs: str
    full_sizes: str
    published: dict[str, Published]  # by distribution

    metric = "osu"

    def algorithms(self, procs: int) -> str:
        specs = [each for each in (SPARBIT, *RIVALS) if not _core.unmet(self.collective, each, procs)]
        return ",".join(specs)


STUDIES = {
    study.name: study
    for study in (
        Study(
            name="sparbit",
            source="Loch 2021, table 6, sequential mapping, average time",
            machine="Yahoo: 16 nodes of 8 cores, up to 256 processes",
            collective="allgather",
            distributions=("regular",),
            procs="3-8",
            sizes="1:1MiB:16",
            full_procs="5-256",
            full_sizes="1:1MiB",
            published={"regular": Published(46.43, 34.7, 84.16)},
        ),
        Study(
            name="allgatherv",
            source="Loch 2021, section 6.3, both mappings united, average time",
            machine="4 machines of Cervino, 32 cores each",
            collective="allgatherv",
            distributions=("broadcast", "spike", "half_full", "linear", "geometric"),
            procs="3,4,6,8",
            sizes="16:256KiB:16",
            full_procs="5-256",
            full_sizes="1:1MiB",
            published={
                "broadcast": Published(78.6),
                "spike": Published(25.0),
                "half_full": Published(18.9),
                "linear": Published(14.6),
                "geometric": Published(35.6),
            },
        ),
    )
}


def find_study(name: str) -> Study:
    if name not in STUDIES:
        raise RequestError(_core.no_such("study", name, list(STUDIES)))
    return STUDIES[name]


def gains(found: dict[Case, dict[str, Any]], distribution: str) -> list[float | None]:
    """By case: how much of the best other time Sparbit saves, nothing where it is not the best."""
    metric = bench_metrics.METRICS[Study.metric]
    result = []
    for case, cell in found.items():
        if case.distribution != distribution:
            continue
        names = [contender["name"] for contender in cell["contenders"]]
        times = dict(zip(names, bench_metrics.values(cell, metric).mean(axis=1), strict=True))
        own = times.pop(SPARBIT)
        gain = float(1 - own / min(times.values()))
        result.append(gain if gain > 0 else None)
    return result


def judge(study: Study, result: dict[str, Any]) -> list[dict[str, Any]]:
    """In how many cases Sparbit is best and by how much, here and in the source, in percent."""
    found = cases(result)
    rows = []
    for distribution, published in study.published.items():
        by_case = gains(found, distribution)
        won = [gain for gain in by_case if gain is not None]
        rows.append(
            {
                "distribution": distribution,
                "cases": len(by_case),
                "best": 100 * len(won) / len(by_case),
                "gain": 100 * mean(won) if won else None,
                "highest": 100 * max(won) if won else None,
                "published": vars(published),
            }
        )
    return rows


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"


def make_table(study: Study, rows: list[dict[str, Any]]) -> Table:
    heads = ("best in", "published", "mean gain", "published", "highest gain", "published")
    table = console.table(
        f"Sparbit against {', '.join(RIVALS)}: here, and in {study.source} ({study.machine})",
        "blocks",
        "cases",
        *heads,
        numbers=("cases", *heads),
    )
    for row in rows:
        values = [percent(of[key]) for key in ("best", "gain", "highest") for of in (row, row["published"])]
        table.add_row(row["distribution"], str(row["cases"]), *values)
    return table


def sentence(study: Study, rows: list[dict[str, Any]]) -> str:
    """What agrees and what does not."""
    near = [row["distribution"] for row in rows if abs(row["best"] - row["published"]["best"]) <= 10]
    here = ", ".join(f"{row['best']:.0f} % ({row['distribution']})" for row in rows)
    there = ", ".join(f"{row['published']['best']:.0f} %" for row in rows)
    verdict = (
        f"within 10 points of the source's for {', '.join(near)} blocks"
        if near
        else "nowhere within 10 points of the source's"
    )
    return (
        f"Sparbit is the best here in {here} of the cases, in the source in {there}: {verdict}. Where it "
        f"wins depends on the distance between nodes; the source's machine was {study.machine}."
    )
