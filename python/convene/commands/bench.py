# SPDX-License-Identifier: BSD-3-Clause
"""convene bench: measures allgather and allgatherv by several algorithms, side by side."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from convene import _core, arguments, bench, console, report, stacks
from convene._core import RequestError
from convene.bench_statistics import Estimate, Row, summarize_all

HELP = """Measures allgather or allgatherv: Convene's algorithms and the MPI's own, interleaved in one run.

One observation is a batch of calls after two barriers and lasts as long as on the slowest rank; every \
repetition takes one observation of each algorithm, in random order. Results are compared with what should \
arrive.

The table has medians with 95 % confidence intervals (bootstrap), and ratios of medians: below 1 is faster \
than the reference. What the MPI itself would do is called native; one of its own algorithms is mpi:NAME, \
where the MPI lets it be chosen.

[bold]Examples[/bold]

  convene bench allgather -n 8 --sizes 8:1MiB:8

  convene bench allgather -n 4 --algorithms 'ring,sparbit;send=packed' --against native,mpi:ring -o run.json

  convene bench allgatherv -n 6 --launcher 'mpirun --hostfile hosts' --repetitions 200 --json
"""

MOST_PROCS = 1 << 16


def complete_algorithms(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the last name of a list."""
    done, comma, last = incomplete.rpartition(",")
    names = ["all", *(name for name, _ in arguments.complete_algorithm(context, last))]
    return [done + comma + name for name in names if name.startswith(last)]


def check_output(path: Path) -> None:
    """Nobody wants to hear after the measurement that there is no place for it."""
    if path.suffix != ".json":
        raise RequestError(f"measurements are written as .json, and '{path.name}' is none")
    if not path.parent.is_dir():
        raise RequestError(f"{path} cannot be written: there is no directory {path.parent}")


def make_request(
    collective: str, procs: int, sizes: str, algorithms: str, against: str, **others: Any
) -> tuple[bench.Request, list[str]]:
    """What is to be measured, and the references among it."""
    if not 1 <= procs <= MOST_PROCS:
        raise RequestError(f"-n must be from 1 to {MOST_PROCS}, not {procs}")
    name = arguments.check_collective(collective)
    if name not in bench.MEASURED:
        raise RequestError(
            f"there is no benchmark of {name} yet, only of {' and '.join(bench.MEASURED)}; convene run times "
            "the calls of a program"
        )
    references = bench.choose_algorithms(name, procs, against)
    chosen = bench.choose_algorithms(name, procs, algorithms)
    contenders = list(dict.fromkeys([*references, *chosen]))
    if not contenders:
        raise RequestError("there is nothing to measure: --algorithms and --against name no algorithm")
    return bench.Request(name, procs, bench.parse_sizes(sizes), contenders, **others), references


def measure(setting: bench.Setting, request: bench.Request) -> dict[str, Any]:
    """Measures, with a bar on a terminal."""
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        task = progress.add_task("measuring", total=len(request.sizes))
        return bench.measure(
            setting, request, lambda done, total: progress.update(task, completed=done, total=total)
        )


def interval_text(low: str, high: str) -> str:
    return f"{low} … {high}"


def ratio_text(ratio: Estimate | None) -> str:
    if ratio is None:
        return ""
    text = f"{ratio.value:.3f} ({interval_text(f'{ratio.low:.3f}', f'{ratio.high:.3f}')})"
    colour = "green" if ratio.high < 1 else "red" if ratio.low > 1 else ""
    return f"[{colour}]{text}[/{colour}]" if colour else text


def make_table(title: str, rows: list[Row], references: list[str]) -> Table:
    heads = ["bytes/block", "algorithm", "median", "95 % interval", *(f"of {name}" for name in references)]
    table = console.table(title, *heads, numbers=("bytes/block", "median"))
    last = None
    for row in rows:
        if last not in (None, row.size):
            table.add_section()
        seconds = row.seconds
        table.add_row(
            _core.format_size(row.size) if row.size != last else "",
            row.name,
            report.seconds_text(seconds.value),
            interval_text(report.seconds_text(seconds.low), report.seconds_text(seconds.high)),
            *(ratio_text(row.ratios.get(name)) for name in references),
        )
        last = row.size
    return table


def remarks(result: dict[str, Any]) -> list[str]:
    """What one should know about the circumstances."""
    said = []
    environment = result["environment"]
    cores = int(environment["cores"]) * len(environment["hosts"])
    load = float(result["sizes"][0]["load"][0].split()[0])
    if load > cores / 2:
        said.append(
            f"the machine was not quiet: its load was {load:g} on {cores} cores before the first size; the "
            "intervals tell how much that matters"
        )
    if int(result["procs"]) > cores:
        said.append(
            f"{result['procs']} ranks shared {cores} cores: the numbers say how algorithms do in such a crowd"
        )
    return said


def run(
    collective: arguments.Collective,
    procs: Annotated[int, typer.Option("-n", "--procs", metavar="N", help="How many ranks.")],
    sizes: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Bytes per block: 8,64,4KiB or, doubling, 8:1MiB; 8:1MiB:4 goes in steps of 4.",
        ),
    ] = "8:1MiB:4",
    algorithms: Annotated[
        str,
        typer.Option(
            metavar="all|LIST",
            help="Such as ring,sparbit; all are Convene's that can run on so many ranks.",
            autocompletion=complete_algorithms,
        ),
    ] = "all",
    against: Annotated[
        str,
        typer.Option(metavar="LIST", help="To which the others are compared, such as native,mpi:ring."),
    ] = bench.NATIVE,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.json", help="Write every observation, and the summary."),
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=2, help="Observations of each algorithm at each size.")
    ] = 50,
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Stop a size after this time, but not before 10 observations; 0: never."),
    ] = 0.0,
    batch: Annotated[
        float, typer.Option(min=1, help="Microseconds that one observation should last.")
    ] = 200.0,
    check_all: Annotated[
        bool, typer.Option("--check-all", help="Look at the results of every observation, not once a size.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="For the random order.")] = 1,
    launcher: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="The MPI's launcher, with options if need be; default: mpirun."),
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(stacks.STACKS),
            help="Whose MPI, where the launcher serves several or none is given.",
            autocompletion=lambda incomplete: [name for name in stacks.STACKS if name.startswith(incomplete)],
        ),
    ] = None,
    json: arguments.Json = False,
) -> None:
    if output:
        check_output(output)
    request, references = make_request(
        collective,
        procs,
        sizes,
        algorithms,
        against,
        repetitions=repetitions,
        seconds=seconds,
        batch=batch * 1e-6,
        check="every" if check_all else "once",
        seed=seed,
    )
    try:
        result = measure(bench.find_setting(launcher, stack), request)
    except bench.RunError as error:
        console.complain(str(error))
        raise typer.Exit(1) from None
    rows = summarize_all(result, references)
    result |= {"against": references, "summary": [row.as_json() for row in rows]}
    if output:
        console.write_file(output, console.json_text(result) + "\n")
    if json:
        console.print_json({name: value for name, value in result.items() if name != "sizes"})
        return
    title = f"{request.collective}, {procs} ranks, {result['environment']['mpi'].split(',')[0]}"
    console.make().print(make_table(title, rows, references))
    for sentence in remarks(result):
        console.complain(sentence)


def register(app: typer.Typer) -> None:
    app.command("bench", help=HELP)(run)
