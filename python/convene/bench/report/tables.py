# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a measurement's report."""

import base64
import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from convene.base.text import seconds_text
from convene.bench import metrics, requests
from convene.bench.report.measured import Measured
from convene.bench.summary import Case, Row
from convene.catalogue import selection
from convene.stats import inference


class Seconds(float):
    """A time in a table: with a unit for people, in plain seconds in CSV."""

    def __str__(self) -> str:
        return seconds_text(self)


Cell = str | Seconds


@dataclass(frozen=True)
class Table:
    name: str
    title: str
    heads: list[str]
    rows: Sequence[Sequence[Cell]]
    remark: str = ""

    @property
    def csv(self) -> str:
        """Plain numbers, with the unit in the head."""
        timed = [any(isinstance(cell, Seconds) for cell in column) for column in zip(*self.rows, strict=True)]
        heads = [
            f"{head} (s)" if is_timed else head
            for head, is_timed in zip(self.heads, timed or [False] * len(self.heads), strict=True)
        ]
        plain = [
            [repr(float(cell)) if isinstance(cell, Seconds) else cell for cell in row] for row in self.rows
        ]
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([heads, *plain])
        return text.getvalue()

    @property
    def link(self) -> str:
        return "data:text/csv;base64," + base64.b64encode(self.csv.encode()).decode()


CASE_HEADS = ["ranks", "bytes", "arrivals", "distribution"]


def case_cells(case: Case) -> list[str]:
    return [str(case.procs), str(case.size), case.arrivals, case.distribution]


def winners_table(measured: Measured) -> Table:
    remark = "Gain is 1 - t/t₂ (10 s → 5 s is 0.5)"
    if not measured.is_exact:
        remark += "; p is corrected for the number of cases"
    elif any(win.tied for win in measured.wins):
        remark += "; algorithms between = are equally fast, and second is the next one"
    return Table(
        "winners",
        "Who won, case by case",
        [*CASE_HEADS, "fastest", "second", "gain", *([] if measured.is_exact else ["p"])],
        [
            [
                *case_cells(win.case),
                " = ".join(win.tied or [win.winner]),
                win.second,
                (f"{win.gain:.3g}" if measured.is_exact else f"{win.gain:.3f}") if win.second else "",
                *([] if measured.is_exact else [f"{win.p_value:.4f}"]),
            ]
            for win in measured.wins
        ],
        remark + ".",
    )


def times_table(measured: Measured) -> Table:
    """Intervals only of several observations, ratios only to a native algorithm."""
    number = 3 if measured.is_repeated else 1
    heads = ["time", "low", "high"][:number]
    has_native = selection.NATIVE in measured.algorithms
    ratio_heads = ["of native", "low of ratio", "high of ratio"][:number] if has_native else []
    what = f"{measured.metric.by.capitalize()}s and 95 % bootstrap intervals; {measured.metric.summary}."
    return Table(
        "times",
        "All times",
        [*CASE_HEADS, "algorithm", *heads, *ratio_heads],
        [
            [
                *case_cells(row.case),
                row.name,
                *(Seconds(x) for x in (row.seconds.value, row.seconds.low, row.seconds.high)[:number]),
                *ratio_cells(row)[: len(ratio_heads)],
            ]
            for row in measured.rows
        ],
        what if measured.is_repeated else measured.sentence_of_metric,
    )


def ratio_cells(row: Row) -> list[str]:
    ratio = row.ratios.get(selection.NATIVE)
    return [f"{x:.3f}" for x in (ratio.value, ratio.low, ratio.high)] if ratio else ["", "", ""]


def study_table(measured: Measured) -> Table | None:
    """Published and measured results of a study."""
    study = measured.result.get("study")
    if study is None:
        return None
    title = f"Beside {study['source']}"
    heads = [head.strip() for head in study["heads"]]
    return Table("study", title, heads, study["table"], f"The source's machine: {study['machine']}.")


def wins_table(measured: Measured) -> Table | None:
    """Who wins depends on whom one asks: the first rank to be done, all of them, or the last one."""
    if not measured.tells_every_rank:
        return None
    winners = [metrics.winners_of_ranks(cell) for cell in measured.cells.values()]
    rows = [
        [
            name,
            *(str(sum(own[place] == name for own in winners)) for place in range(3)),
            str(sum(set(own) == {name} for own in winners)),
        ]
        for name in measured.algorithms
    ]
    return Table(
        "wins",
        "Wins by least, mean and greatest time of all ranks",
        ["algorithm", "least", "mean", "greatest", "all three"],
        rows,
        f"In how many of {len(winners)} cases each algorithm is best, by means over observations.",
    )


def quality_of_all(measured: Measured) -> dict[tuple[Case, str], inference.Quality]:
    return {
        (row.case, row.name): inference.quality(measured.values(row.case, row.name)) for row in measured.rows
    }


def quality_table(measured: Measured) -> Table | None:
    if not measured.is_repeated:
        return None
    return Table(
        "samples",
        "How good the samples are",
        [
            *CASE_HEADS,
            "algorithm",
            "n",
            "outliers",
            "variation",
            "runs p",
            "drift",
            "drift p",
            "correlation",
            "normal p",
        ],
        [
            [
                *case_cells(case),
                name,
                str(each.observations),
                str(each.outliers),
                f"{each.variation:.3f}",
                f"{each.runs:.3f}",
                f"{each.trend.change:+.3f}",
                f"{each.trend.p_value:.3f}",
                f"{each.correlation:+.2f}",
                f"{each.normal:.3f}",
            ]
            for (case, name), each in quality_of_all(measured).items()
        ],
        "Variation is the coefficient of variation; drift is that of the median from the first to the last "
        "repetition (Theil and Sen), correlation that with the next observation.",
    )


def usage_table(measured: Measured) -> Table | None:
    """Who suffers where cores are few."""
    rows: list[list[Cell]] = []
    for case, cell in measured.cells.items():
        for contender in cell["contenders"]:
            if "processor_seconds" not in contender:
                continue
            used = contender["processor_seconds"]
            rows.append(
                [
                    *case_cells(case),
                    contender["name"],
                    *(Seconds(x) for x in (min(used), float(np.mean(used)), max(used))),
                    f"{np.mean(contender['voluntary_switches']):.3g}",
                    f"{np.mean(contender['involuntary_switches']):.3g}",
                ]
            )
    heads = ["least", "mean", "most", "voluntary switches", "involuntary switches"]
    return (
        Table(
            "processor",
            "Processor time of a call",
            [*CASE_HEADS, "algorithm", *heads],
            rows,
            "Over ranks; switches are the mean of all ranks.",
        )
        if rows
        else None
    )


def error_table(measured: Measured) -> Table | None:
    """Whether injected delays arrived."""
    rows: list[list[Cell]] = []
    for case, cell in measured.cells.items():
        wanted = [each for each in cell["contenders"] if "wanted" in each]
        if case.arrivals == requests.BALANCED or not wanted:
            continue
        valid = metrics.valid_observations(cell)
        errors = np.concatenate([metrics.arrival_errors(each)[valid].ravel() for each in wanted])
        clock = cell.get("clock", {})
        used = [
            error
            for error, shared in zip(clock.get("error", []), clock.get("shared", []), strict=True)
            if not shared
        ]
        rows.append(
            [
                *case_cells(case),
                Seconds(np.median(errors)),
                Seconds(np.percentile(errors, 99)),
                Seconds(max(used)) if used else "",
            ]
        )
    return (
        Table(
            "arrivals",
            "Accuracy of injected delays",
            [*CASE_HEADS, "median lateness", "99th percentile", "error of clocks"],
            rows,
            "Measured minus wanted arrival, over all ranks and observations. No error of clocks: one clock.",
        )
        if rows
        else None
    )


TABLES = (study_table, winners_table, wins_table, times_table, error_table, usage_table, quality_table)
