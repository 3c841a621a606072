# SPDX-License-Identifier: BSD-3-Clause
"""What a measurement is told as: plain sentences, figures and tables, on one page that needs no network."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from scipy import stats

from convene import (
    __version__,
    _core,
    bench,
    bench_figures,
    bench_inference,
    bench_metrics,
    bench_upset,
    console,
)
from convene.bench_metrics import Metric
from convene.bench_statistics import Case, Row, cases, summarize_all
from convene.bench_tables import CASE_HEADS, TABLES, Table, case_cells, quality_of_all
from convene.report import seconds_text

SURE = 0.05  # of the false discovery rate


@dataclass(frozen=True)
class Win:
    """Who was fastest in one case, and by how much of the second one's time."""

    case: Case
    winner: str
    second: str
    gain: float
    p_value: float  # corrected for the number of cases

    @property
    def is_sure(self) -> bool:
        return self.p_value < SURE


@dataclass(frozen=True)
class Measured:
    """A measurement that was read."""

    name: str
    result: dict[str, Any]
    metric: Metric

    @property
    def collective(self) -> str:
        return str(self.result["collective"])

    @cached_property
    def cells(self) -> dict[Case, dict[str, Any]]:
        return cases(self.result)

    @cached_property
    def rows(self) -> list[Row]:
        return summarize_all(self.result, [bench.NATIVE], self.metric)

    @cached_property
    def algorithms(self) -> list[str]:
        return list(dict.fromkeys(row.name for row in self.rows))

    @cached_property
    def wins(self) -> list[Win]:
        return find_wins(self)

    @property
    def is_repeated(self) -> bool:
        """Whether there are several observations of everything."""
        return min(row.observations for row in self.rows) > 1

    @property
    def tells_every_rank(self) -> bool:
        """Whether the file says when each rank came and left."""
        return all("arrival" in each for cell in self.cells.values() for each in cell["contenders"])

    def different(self, name: str) -> list[Any]:
        """All values of procs, size, arrivals or distribution; numbers in their order."""
        values = list(dict.fromkeys(getattr(case, name) for case in self.cells))
        return sorted(values) if name in ("procs", "size") else values

    def values(self, case: Case, algorithm: str) -> bench_metrics.Array:
        cell = self.cells[case]
        names = [contender["name"] for contender in cell["contenders"]]
        found: bench_metrics.Array = bench_metrics.values(cell, self.metric)[names.index(algorithm)]
        return found


def corrected(p_values: list[float]) -> list[float]:
    """For the number of tests, after Benjamini and Hochberg."""
    return [float(p) for p in stats.false_discovery_control(p_values)] if p_values else []


def gain_of(seconds: float, of: float) -> float:
    """What part of the other's time is saved; of nothing, nothing."""
    return 1 - seconds / of if of else 0.0


def p_value_of_win(first: bench_metrics.Array, second: bench_metrics.Array) -> float:
    """The test is one of medians: where these say that the second is the faster one (as they may against a
    mean, with a few late observations), the first has not won."""
    if not (first > 0).all() or not (second > 0).all() or np.median(np.log(first / second)) >= 0:
        return 1.0
    return bench_inference.p_value_of_pairs(first, second)


def find_wins(measured: Measured) -> list[Win]:
    by_case: dict[Case, list[Row]] = {}
    for row in measured.rows:
        by_case.setdefault(row.case, []).append(row)
    found = []
    for case, rows in by_case.items():
        if len(rows) < 2:
            continue
        first, second = sorted(rows, key=lambda row: row.seconds.value)[:2]
        gain = gain_of(first.seconds.value, second.seconds.value)
        p_value = p_value_of_win(measured.values(case, first.name), measured.values(case, second.name))
        found.append(Win(case, first.name, second.name, gain, p_value))
    p_values = corrected([win.p_value for win in found])
    return [
        Win(win.case, win.winner, win.second, win.gain, p) for win, p in zip(found, p_values, strict=True)
    ]


# ------------------------------------------------------------------------------------------------ sentences


def percent(part: float) -> str:
    return f"{100 * part:.0f} %" if part >= 0.0995 or part in (0, SURE) else f"{100 * part:.1f} %"


def listed(words: Iterable[Any], last: str = "and") -> str:
    texts = [str(word) for word in words]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def size_text(size: int) -> str:
    text = _core.format_size(size)
    return text if text.endswith("B") else f"{text} B"


def range_text(sizes: list[int]) -> str:
    return size_text(sizes[0]) if len(sizes) == 1 else f"{size_text(min(sizes))} to {size_text(max(sizes))}"


def between(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def what_was_measured(measured: Measured) -> str:
    environment = measured.result["runs"][0]["environment"]
    sizes = [] if measured.collective in bench.WITHOUT_SIZES else measured.different("size")
    what = f"{measured.collective}"
    if sizes:
        unit = "vectors" if measured.collective in bench.OF_VECTORS else "blocks"
        what += f" with {unit} of {range_text(sizes)} ({len(sizes)} size{'s' if len(sizes) > 1 else ''})"
    late = [pattern for pattern in measured.different("arrivals") if pattern != bench.BALANCED]
    if late and bench.BALANCED in measured.different("arrivals"):
        what += f", with all ranks at once and with late ones ({listed(late)})"
    elif late:
        what += f", with late ranks ({listed(late)})"
    unequal = measured.different("distribution")
    if unequal != ["regular"]:
        what += f", with {listed(unequal)} block sizes"
    observations = [row.observations for row in measured.rows]
    return (
        f"{what[0].upper()}{what[1:]}, on {listed(measured.different('procs'))} ranks, by "
        f"{len(measured.algorithms)} algorithms; "
        f"{between(min(observations), max(observations))} observation"
        f"{'' if max(observations) == 1 else 's'} of each. "
        f"{environment['mpi'].split(',')[0]}, {environment.get('processor') or 'processor unknown'}, "
        f"{environment['cores']} cores on {listed(environment['hosts'])}, "
        f"{environment.get('started', 'at a time unknown')}."
    )


def who_won(measured: Measured) -> list[str]:
    said = []
    for pattern in measured.different("arrivals"):
        wins = [win for win in measured.wins if win.case.arrivals == pattern]
        if not wins:
            continue
        if len(measured.different("arrivals")) == 1:
            when = ""
        else:
            when = "All at once: " if pattern == bench.BALANCED else f"Late by {pattern}: "
        name, number = Counter(win.winner for win in wins).most_common(1)[0]
        own = [win.gain for win in wins if win.winner == name]
        others = Counter(win.winner for win in wins if win.winner != name)
        ahead = f"there ahead of the second by {percent(float(np.median(own)))} of its time"
        if len(own) > 1:
            ahead += f" (median; at most {percent(max(own))})"
        rest = f"; {listed(f'{other} in {times}' for other, times in others.most_common())}" if others else ""
        said.append(f"{when}{name} was the fastest in {number} of {len(wins)} cases, {ahead}{rest}.")
    return said


def what_native_misses(measured: Measured) -> str | None:
    """What the best choice would save against the MPI's own."""
    if bench.NATIVE not in measured.algorithms:
        return None
    gains = []
    for case in measured.cells:
        rows = {row.name: row.seconds.value for row in measured.rows if row.case == case}
        if bench.NATIVE in rows:
            gains.append(gain_of(min(rows.values()), rows[bench.NATIVE]))
    return (
        f"Against what the MPI itself does, the best algorithm of each case saves "
        f"{percent(max(gains))} of the time at most, {percent(float(np.median(gains)))} in the median."
    )


def how_sure(measured: Measured) -> list[str]:
    if not measured.is_repeated:
        return ["There is one observation of each, so nothing tells differences from chance."]
    wins = measured.wins
    said = []
    if wins:
        sure = [win for win in wins if win.is_sure]
        said.append(
            f"In {len(sure)} of {len(wins)} cases the first is faster than the second beyond chance "
            f"(permutation test, {bench_inference.RESAMPLES:,} resamples, false discovery rate "
            f"{percent(SURE)}); in the others the two may as well be equal."
        )
    return said


def warnings(measured: Measured) -> list[str]:
    runs, said = measured.result["runs"], []
    environment = runs[0]["environment"]
    cores = int(environment["cores"]) * len(environment["hosts"])
    most = max(measured.different("procs"))
    if most > cores:
        said.append(
            f"Up to {most} ranks shared {cores} cores. Such numbers say how algorithms do in a crowd, not "
            "how they would do with a core each."
        )
    qualities = list(quality_of_all(measured).values())
    dependent = sum(not each.is_independent for each in qualities)
    drifting = sum(not each.is_stationary for each in qualities)
    expected = bench_inference.LEVEL * len(qualities)
    if max(dependent, drifting) > max(2.0, 2 * expected):
        said.append(
            f"Of {len(qualities)} samples, {dependent} do not look like independent draws (runs test) and "
            f"{drifting} drift (Kendall's tau), where {expected:.1f} of each would by chance: their "
            "intervals are too narrow."
        )
    if any(run.get("options", {}).get("check") == "never" for run in runs):
        said.append("Nobody looked at whether the results were right (--check never).")
    invalid = sum(int((~bench_metrics.valid_observations(cell)).sum()) for cell in measured.cells.values())
    if invalid:
        said.append(f"{invalid} repetitions are left out, since a rank missed the common deadline.")
    return said


# ------------------------------------------------------------------------------------------- two measurements


@dataclass(frozen=True)
class Compared:
    """One algorithm in one case, in two measurements: the second's time as a part of the first's."""

    case: Case
    name: str
    first: float
    second: float
    ratio: float
    low: float
    high: float
    p_value: float

    @property
    def verdict(self) -> str:
        if self.p_value >= SURE:
            return "no difference to be seen"
        return "faster" if self.ratio < 1 else "slower"


def compare(first: Measured, second: Measured) -> list[Compared]:
    """What both have. The observations have nothing to do with each other."""
    there = {(row.case, row.name): row.seconds.value for row in second.rows}
    found = []
    for row in first.rows:
        if (row.case, row.name) not in there:
            continue
        one, other = first.values(row.case, row.name), second.values(row.case, row.name)
        low, high = bench_inference.ratio_interval(other, one)
        p_value = bench_inference.p_value_of_groups(one, other)
        ratio = float(np.median(other) / np.median(one))
        found.append(
            Compared(
                row.case, row.name, float(np.median(one)), float(np.median(other)), ratio, low, high, p_value
            )
        )
    p_values = corrected([each.p_value for each in found])
    return [Compared(**{**vars(each), "p_value": p}) for each, p in zip(found, p_values, strict=True)]


def comparison_sentences(first: Measured, second: Measured, compared: list[Compared]) -> list[str]:
    if not compared:
        return [f"{first.name} and {second.name} have no case and algorithm in common."]
    verdicts = Counter(each.verdict for each in compared)
    middle = float(np.exp(np.mean([np.log(each.ratio) for each in compared])))
    return [
        f"Of {len(compared)} pairs (case and algorithm), {second.name} is faster than {first.name} in "
        f"{verdicts['faster']} and slower in {verdicts['slower']} beyond chance (permutation test, "
        f"{bench_inference.RESAMPLES:,} resamples, false discovery rate {percent(SURE)}); in "
        f"{verdicts['no difference to be seen']} no difference is to be seen.",
        f"The geometric mean of the ratios of medians is {middle:.3f} (below 1: {second.name} is faster).",
        "The two were not measured at the same time: what else the machines did then is part of it.",
    ]


def comparison_table(first: Measured, second: Measured, compared: list[Compared]) -> Table:
    return Table(
        "comparison",
        f"{second.name} against {first.name}",
        [*CASE_HEADS, "algorithm", first.name, second.name, "ratio", "low", "high", "p", "second is"],
        [
            [
                *case_cells(each.case),
                each.name,
                seconds_text(each.first),
                seconds_text(each.second),
                *(f"{x:.3f}" for x in (each.ratio, each.low, each.high)),
                f"{each.p_value:.4f}",
                each.verdict,
            ]
            for each in compared
        ],
        "Medians, the ratio's 95 % bootstrap interval, and p corrected for the number of pairs.",
    )


# ----------------------------------------------------------------------------------------------------- page


@dataclass
class Part:
    """A measurement's share of the page, or the comparison's."""

    title: str
    sentences: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    figures: list[bench_figures.Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    environment: list[tuple[str, str]] = field(default_factory=list)


def environment_rows(measured: Measured) -> list[tuple[str, str]]:
    run = measured.result["runs"][0]
    environment = {**run["environment"], **{f"option {key}": value for key, value in run["options"].items()}}
    environment["command"] = " ".join(run.get("command", []))
    environment["load before and after"] = "; ".join(
        f"{cell['load'][0].split()[0]}, {cell['load'][1].split()[0]}"
        for cell in measured.cells.values()
        if "load" in cell
    )
    return [
        (key.replace("_", " "), listed(value) if isinstance(value, list) else str(value))
        for key, value in environment.items()
        if value not in ("", [])
    ]


def make_part(measured: Measured, prefix: str, with_pdf: bool) -> Part:
    native = what_native_misses(measured)
    made = [table(measured) for table in TABLES]
    return Part(
        f"{measured.collective}: {measured.name}",
        [
            what_was_measured(measured),
            *measured.result.get("study", {}).get("sentences", []),
            *who_won(measured),
            *([native] if native else []),
            *how_sure(measured),
        ],
        warnings(measured),
        bench_figures.all_figures(measured, prefix, with_pdf, [bench_upset.upset]),
        [table for table in made if table and table.rows],
        environment_rows(measured),
    )


def make_parts(measurements: list[Measured], *, with_pdf: bool) -> list[Part]:
    parts = [make_part(each, f"{number}-", with_pdf) for number, each in enumerate(measurements, 1)]
    if len(measurements) == 2:
        first, second = measurements
        compared = compare(first, second)
        side_by_side = Part(
            f"{second.name} against {first.name}", comparison_sentences(first, second, compared)
        )
        if compared:
            side_by_side.tables = [comparison_table(first, second, compared)]
            side_by_side.figures = [bench_figures.comparison(compared, first.name, second.name, with_pdf)]
        parts.insert(0, side_by_side)
    return parts


def page(parts: list[Part]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("convene"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.get_template("bench.html.j2")
    return template.render(parts=parts, version=__version__)


def write_files(parts: list[Part], folder: Path) -> int:
    """Every figure as SVG and PDF, every table as CSV; how many files these are."""
    number = 0
    for place, part in enumerate(parts, 1):
        for figure in part.figures:
            console.write_file(folder / f"{figure.name}.svg", figure.svg)
            (folder / f"{figure.name}.pdf").write_bytes(figure.pdf)
            number += 2
        for table in part.tables:
            name = table.name if len(parts) == 1 else f"{place}-{table.name}"
            console.write_file(folder / f"{name}.csv", table.csv)
            number += 1
    return number
