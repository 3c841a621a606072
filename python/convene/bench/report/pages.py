# SPDX-License-Identifier: BSD-3-Clause
"""The report page: sentences, figures and tables in one HTML file that needs no network."""

from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from convene import __version__
from convene.base import console
from convene.bench.report import comparison, figures, sentences, sketches, upset
from convene.bench.report.measured import Measured
from convene.bench.report.tables import TABLES, Table


@dataclass
class Part:
    """A measurement's share of the page, or the comparison's."""

    title: str
    sentences: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    figures: list[sketches.Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    environment: list[tuple[str, str]] = field(default_factory=list)


def text_of(value: object) -> str:
    if isinstance(value, list):
        return sentences.listed(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


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
        (key.replace("_", " "), text_of(value)) for key, value in environment.items() if value not in ("", [])
    ]


def make_part(measured: Measured, prefix: str, with_pdf: bool) -> Part:
    native = sentences.what_native_misses(measured)
    made = [table(measured) for table in TABLES]
    return Part(
        f"{measured.collective}: {measured.name}",
        [
            sentences.what_was_measured(measured),
            *measured.result.get("study", {}).get("sentences", []),
            *sentences.who_won(measured),
            *([native] if native else []),
            *sentences.how_sure(measured),
        ],
        sentences.warnings(measured),
        figures.all_figures(measured, prefix, with_pdf, [upset.upset]),
        [table for table in made if table and table.rows],
        environment_rows(measured),
    )


def make_parts(measurements: list[Measured], *, with_pdf: bool) -> list[Part]:
    parts = [make_part(each, f"{number}-", with_pdf) for number, each in enumerate(measurements, 1)]
    if len(measurements) == 2:
        first, second = measurements
        compared = comparison.compare(first, second)
        side_by_side = Part(
            f"{second.name} against {first.name}", comparison.comparison_sentences(first, second, compared)
        )
        if compared:
            side_by_side.tables = [comparison.comparison_table(first, second, compared)]
            side_by_side.figures = [figures.comparison(compared, first.name, second.name, with_pdf)]
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
            console.write_file(folder / f"{figure.name}.pdf", figure.pdf)
            number += 2
        for table in part.tables:
            name = table.name if len(parts) == 1 else f"{place}-{table.name}"
            console.write_file(folder / f"{name}.csv", table.csv)
            number += 1
    return number
