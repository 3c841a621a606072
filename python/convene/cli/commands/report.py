# SPDX-License-Identifier: BSD-3-Clause
"""convene report: a page on one measurement, or two side by side."""

from pathlib import Path
from typing import Annotated

import typer

from convene._core import RequestError
from convene.base import console
from convene.bench import metrics
from convene.bench.files import read
from convene.run import left
from convene.run import report as run_report

HELP = """Writes an HTML report on one result of convene bench or simulate, or on two side by side; or \
reports on a run that was made without convene run.

Of such a run, name the directory of its profiles (CONVENE_PROFILE_DIR). The tables of convene run are \
printed; with -o, the page is written, too. Recordings (CONVENE_RECORD) in the same directory are part of \
the page.

The page is self-contained. It begins with a summary: what was measured, which algorithm was fastest, by how \
much, and with which certainty. Figures and tables follow.

[bold]Examples[/bold]

  convene report run.json -o run.html

  convene report before.json after.json -o both.html --files figures

  convene report run.json --metric osu -o osu.html

  convene report /scratch/profiles -o run.html
"""


def check_output(path: Path, files: Path | None) -> None:
    if path.suffix != ".html":
        raise RequestError(f"-o {path} must end in .html")
    console.check_file(path)
    if files and files.exists() and not files.is_dir():
        raise RequestError(f"--files {files} is not a directory; name another one")


def names_of(paths: list[Path]) -> list[str]:
    """Names of the measurements on the page: the shortest that differ."""
    stems = [path.stem for path in paths]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in paths]


def report_directory(given: list[Path], output: Path | None, metric: str | None, files: Path | None) -> None:
    """The tables of a run on standard output, and its page."""
    if len(given) > 1:
        raise RequestError(f"a report covers the directory of one run, not {len(given)}")
    if metric or files:
        raise RequestError(
            f"--metric and --files are for results of convene bench; {given[0]} is a directory"
        )
    if output:
        check_output(output, None)
    found = left.read(given[0], with_lateness=output is not None)
    run_report.print_tables(found)
    if output:
        from convene.run import pages  # imports Jinja, and Matplotlib for lateness

        console.write_file(output, pages.page(found))
        console.say(f"report: {output}")


def run(
    measurements: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.json [FILE2.json]",
            help="Files of convene bench or simulate with -o, or the directory of a run.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.html",
            help="Page to write. Default: beside the first file; none for a directory.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Value of an observation: {', '.join(metrics.METRICS)}. Default: that of the file.",
        ),
    ] = None,
    files: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Also write every figure as SVG and PDF, and every table as CSV, into this directory.",
        ),
    ] = None,
) -> None:
    if measurements[0].is_dir():
        report_directory(measurements, output, metric, files)
        return
    report_files(measurements, output, metric, files)


def report_files(
    measurements: list[Path], output: Path | None, metric: str | None, files: Path | None
) -> None:
    # Slow import of Matplotlib.
    from convene.bench.report import measured, pages

    if len(measurements) > 2:
        raise RequestError(f"a report compares one or two files, not {len(measurements)}")
    page = output or measurements[0].with_suffix(".html")
    check_output(page, files)
    results = [read(path) for path in measurements]
    if len({result["collective"] for result in results}) > 1:
        raise RequestError(
            "a report compares files of the same collective, not of "
            + " and ".join(str(result["collective"]) for result in results)
        )
    chosen = metrics.find_metric(metric or results[0].get("metric", "max"))
    parts = pages.make_parts(
        [
            measured.Measured(name, result, chosen)
            for name, result in zip(names_of(measurements), results, strict=True)
        ],
        with_pdf=files is not None,
    )
    if files:
        try:
            files.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RequestError(f"cannot create the directory --files {files}: {error.strerror}") from None
    console.write_file(page, pages.page(parts))
    said = f"report: {page}"
    if files:
        said += f"; {pages.write_files(parts, files)} files in {files}"
    for sentence in (said, *parts[0].sentences):
        console.say(sentence)


def register(app: typer.Typer) -> None:
    app.command("report", help=HELP)(run)
