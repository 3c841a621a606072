# SPDX-License-Identifier: BSD-3-Clause
"""The page of a run's report: tables, schedules and lateness in one HTML file."""

from typing import TypedDict

import jinja2

from convene import __version__, _core
from convene._core import RequestError
from convene.base.text import seconds_text
from convene.run.report import HEADS, Run, cells, forecast_sentences, remarks
from convene.trace import tables
from convene.trace.lateness import Summary

MOST_DRAWN = 16  # processes of a picture in a page
WIDE, NARROW = 760, 360  # pixels of a picture in a page, and in a narrow window


class Section(TypedDict):
    """Lateness on the page; a table is its title, heads and rows, a picture its title and SVG."""

    sentences: list[str]
    tables: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]
    pictures: list[tuple[str, str]]


def pictures(run: Run) -> list[tuple[str, str, str]]:
    """Title, wide and narrow picture of each schedule that ran, for as many processes as can be drawn
    well."""
    wanted = {(row.collective, row.algorithm, row.procs) for row in run.profiles.rows if not row.is_native}
    found = []
    for collective, algorithm, procs in sorted(wanted):
        try:
            request = _core.ScheduleRequest(
                collective=collective, spec=algorithm, procs=min(procs, MOST_DRAWN)
            )
            drawn = (_core.svg(request, width=WIDE), _core.svg(request, width=NARROW))
        except RequestError:
            continue  # too large to be drawn, or one that cannot run with fewer processes
        found.append((f"{collective} by {algorithm}, {min(procs, MOST_DRAWN)} processes", *drawn))
    return found


def lateness_section(summary: Summary) -> Section:
    from convene.trace.pictures import lateness_map, timeline  # imports Matplotlib

    if not summary.kinds:
        return {"sentences": tables.sentences(summary), "tables": [], "pictures": []}
    kinds = [tables.kind_cells(number, calls) for number, calls in enumerate(summary.kinds, 1)]
    ranks = [tables.rank_cells(row) for row in summary.ranks]
    return {
        "sentences": tables.sentences(summary),
        "tables": [
            ("Call sites, those with the most waiting first", tables.KIND_HEADS, kinds),
            ("Ranks", tables.RANK_HEADS, ranks),
        ],
        "pictures": [
            ("Lateness over time", lateness_map(summary)),
            ("The latest calls", timeline(summary)),
        ],
    }


def page(run: Run) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("convene"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("run.html.j2").render(
        run=run,
        heads=HEADS,
        rows=[(row, cells(row)) for row in run.profiles.rows],
        sentences=[*forecast_sentences(run), *run.profiles.messages, *remarks(run)],
        pictures=pictures(run),
        late=lateness_section(run.lateness) if run.lateness else None,
        seconds=seconds_text(run.seconds),
        version=__version__,
    )
