# SPDX-License-Identifier: BSD-3-Clause
"""convene bench: measures collectives by several algorithms, side by side."""

import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from convene import (
    _core,
    arguments,
    bench,
    bench_files,
    bench_metrics,
    bench_studies,
    console,
    report,
    stacks,
)
from convene._core import RequestError
from convene.bench_statistics import Estimate, Row, summarize_all

HELP = """Measures a collective: Convene's algorithms and the MPI's own, interleaved in one run.

One observation is a batch of calls after two barriers and lasts as long as on the slowest rank; every \
repetition takes one observation of each algorithm, in random order. Results are compared with what should \
arrive.

With --arrivals, an observation is one call that the ranks enter as late as the pattern says; the balanced \
case is always measured beside it.

The table has medians (or means, as the --metric wants it) with 95 % confidence intervals (bootstrap), and \
ratios of them: below 1 is faster than the reference. What the MPI itself would do is called native; one of \
its own algorithms is mpi:NAME, where the MPI lets it be chosen.

[bold]Examples[/bold]

  convene bench allgather -n 8 --sizes 8:1MiB:8

  convene bench bcast -n 4,8 --algorithms 'binomial,chain;segments=8' --against native -o run.json

  convene bench allreduce -n 8 --algorithms ring,rabenseifner --against native,mpi:ring --op max

  convene bench allgather -n 8 --sizes 64KiB --arrivals uniform:5ms,late:any:10ms --metric elapsed

  convene bench --study allgatherv -o allgatherv.json

  convene bench allgatherv -n 6 --distributions regular,spike --launcher 'mpirun --hostfile hosts' --json
"""

MOST_PROCS = 1 << 16


def complete_algorithms(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the last name of a list."""
    done, comma, last = incomplete.rpartition(",")
    names = ["all", *(name for name, _ in arguments.complete_algorithm(context, last))]
    return [done + comma + name for name in names if name.startswith(last)]


def complete_arrivals(incomplete: str) -> list[str]:
    done, comma, last = incomplete.rpartition(",")
    texts = [f"{kind['name']}:" if kind["parameters"] else kind["name"] for kind in _core.arrival_kinds()]
    return [done + comma + text for text in texts if text.startswith(last)]


def check_output(path: Path) -> None:
    """Nobody wants to hear after the measurement that there is no place for it."""
    if path.suffix != ".json":
        raise RequestError(f"measurements are written as .json, and '{path.name}' is none")
    if not path.parent.is_dir():
        raise RequestError(f"{path} cannot be written: there is no directory {path.parent}")


def check_word(option: str, word: str, known: tuple[str, ...]) -> str:
    if word not in known:
        raise RequestError(f"{option} is one of {', '.join(known)}, not '{word}'")
    return word


def parse_patterns(text: str, procs: int) -> tuple[str, ...]:
    """The arrival patterns. The balanced one is always among them, since the others are compared to it."""
    patterns = [_core.arrival_pattern(part, procs) for part in text.split(",")]
    return tuple(dict.fromkeys([bench.BALANCED, *patterns]))


def parse_distributions(collective: str, text: str) -> list[str]:
    names = [check_word("a distribution", part.strip(), bench.DISTRIBUTIONS) for part in text.split(",")]
    if collective not in bench.IRREGULAR and names != ["regular"]:
        raise RequestError(
            f"{collective} has blocks of equal size; only {', '.join(bench.IRREGULAR)} have --distributions"
        )
    return list(dict.fromkeys(names))


def choose_type(collective: str, given: str | None) -> str:
    """Bytes, but for reductions, which do not combine them."""
    if given is None:
        return "double" if collective in bench.REDUCTIONS else "byte"
    if check_word("--type", given, bench.TYPES) == "byte" and collective in bench.REDUCTIONS:
        raise RequestError(f"{collective} does not combine bytes; say --type int, long, float or double")
    return given


def check_procs(text: str) -> list[int]:
    return arguments.parse_numbers(text, "-n", 1, MOST_PROCS)


def make_requests(
    collective: str,
    procs: list[int],
    sizes: list[int],
    distributions: list[str],
    algorithms: str,
    against: str,
    arrivals: str,
    **others: Any,
) -> tuple[list[bench.Request], list[str]]:
    """What is to be measured, one request for each start of the program, and the references among it."""
    requests, references = [], []
    for number in procs:
        references = bench.choose_algorithms(collective, number, against)
        chosen = bench.choose_algorithms(collective, number, algorithms)
        contenders = list(dict.fromkeys([*references, *chosen]))
        if not contenders:
            raise RequestError("there is nothing to measure: --algorithms and --against name no algorithm")
        patterns = parse_patterns(arrivals, number)
        requests += [
            bench.Request(
                collective,
                number,
                sizes,
                contenders,
                distribution=distribution,
                arrivals=patterns,
                **others,
            )
            for distribution in distributions
        ]
    if others["root"] >= min(procs):
        raise RequestError(f"there is no rank {others['root']} to be the root among {min(procs)} ranks")
    return requests, references


def measure(
    setting: bench.Setting, requests: list[bench.Request], journal: bench_files.Journal
) -> list[dict[str, Any]]:
    """Measures what is not there yet, with a bar on a terminal; all runs."""
    output = console.make(error=True)
    there = journal.runs()
    left = [replace(each, sizes=bench_files.left_over(each, there)) for each in requests]
    commands = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(
        *columns, TimeRemainingColumn(), console=output, transient=True, disable=not output.is_terminal
    ) as progress:
        total = sum(len(each.sizes) for each in left)
        task = progress.add_task("measuring", total=total)
        before = 0
        for request in left:
            if not request.sizes:
                continue

            def advance(done: float, _: float, before: int = before) -> None:
                progress.update(task, completed=before + done)

            result = bench.measure(setting, request, advance, journal.next_file())
            commands[request.procs, request.distribution] = {
                name: result[name] for name in ("command", "variables")
            }
            before += len(request.sizes)
    runs = journal.runs()
    return [run | commands.get((run["procs"], run["options"]["distribution"]), {}) for run in runs]


def interval_text(low: str, high: str) -> str:
    return f"{low} … {high}"


def ratio_text(ratio: Estimate | None) -> str:
    if ratio is None:
        return ""
    text = f"{ratio.value:.3f} ({interval_text(f'{ratio.low:.3f}', f'{ratio.high:.3f}')})"
    colour = "green" if ratio.high < 1 else "red" if ratio.low > 1 else ""
    return f"[{colour}]{text}[/{colour}]" if colour else text


def case_columns(collective: str, rows: list[Row]) -> dict[str, Any]:
    """What has to be said of a case: its size, and what else is not the same in all of them."""
    columns: dict[str, Any] = {
        "ranks": lambda row: str(row.case.procs),
        "distribution": lambda row: row.case.distribution,
        "arrivals": lambda row: row.case.arrivals,
    }
    columns = {head: text for head, text in columns.items() if len({text(row) for row in rows}) > 1}
    if collective not in bench.WITHOUT_SIZES:
        head = "bytes" if collective in bench.OF_VECTORS else "bytes/block"
        columns[head] = lambda row: _core.format_size(row.size)
    return columns


def make_table(title: str, collective: str, rows: list[Row], references: list[str]) -> Table:
    columns = case_columns(collective, rows)
    has_absorption = any(row.absorption is not None for row in rows)
    heads = [
        *columns,
        "algorithm",
        rows[0].metric.by,
        "95 % interval",
        *(f"of {name}" for name in references),
        *(["absorption"] if has_absorption else []),
    ]
    numbers = ("ranks", "bytes", "bytes/block", rows[0].metric.by, "absorption")
    table = console.table(title, *heads, numbers=numbers)
    last = None
    for row in rows:
        if last not in (None, row.case):
            table.add_section()
        seconds = row.seconds
        table.add_row(
            *(text(row) if row.case != last else "" for text in columns.values()),
            row.name,
            report.seconds_text(seconds.value),
            interval_text(report.seconds_text(seconds.low), report.seconds_text(seconds.high)),
            *(ratio_text(row.ratios.get(name)) for name in references),
            *([f"{row.absorption:.2f}" if row.absorption is not None else ""] if has_absorption else []),
        )
        last = row.case
    return table


def remarks(runs: list[dict[str, Any]]) -> list[str]:
    """What one should know about the circumstances."""
    said = []
    environment = runs[0]["environment"]
    cores = int(environment["cores"]) * len(environment["hosts"])
    load = float(runs[0]["sizes"][0]["load"][0].split()[0])
    if load > cores / 2:
        said.append(
            f"the machine was not quiet: its load was {load:g} on {cores} cores before the first size; the "
            "intervals tell how much that matters"
        )
    most = max(int(run["procs"]) for run in runs)
    if most > cores:
        said.append(f"{most} ranks shared {cores} cores: the numbers say how algorithms do in such a crowd")
    if runs[0].get("options", {}).get("check") == "never":
        said.append("nobody looked at the results (--check never)")
    invalid = total = 0
    for run in runs:
        for cell in run["sizes"]:
            valid = bench_metrics.valid_observations(cell)
            invalid, total = invalid + int((~valid).sum()), total + len(valid)
    if invalid:
        said.append(
            f"{invalid} of {total} repetitions are left out: a rank heard of the deadline too late; more "
            "time (--window) or --sync barrier helps"
        )
    return said


def finish(
    collective: str, references: list[str], runs: list[dict[str, Any]], metric: bench_metrics.Metric
) -> tuple[dict[str, Any], list[Row]]:
    """The whole result, and what it says."""
    result: dict[str, Any] = {
        "format": bench_files.FORMAT,
        "collective": collective,
        "against": references,
        "metric": metric.name,
        "runs": runs,
    }
    rows = summarize_all(result, references, metric)
    return result | {"summary": [row.as_json() for row in rows]}, rows


def make_study_requests(
    study: bench_studies.Study, procs: str | None, *, full: bool, **others: Any
) -> list[bench.Request]:
    """A study says itself what is measured; how often and how long is up to the user."""
    sizes = bench.parse_sizes(study.full_sizes if full else study.sizes)
    requests = []
    for number in check_procs(procs or (study.full_procs if full else study.procs)):
        made, _ = make_requests(
            study.collective,
            [number],
            sizes,
            list(study.distributions),
            study.algorithms(number),
            "",
            bench.BALANCED,
            **others,
        )
        requests += made
    return requests


def run(
    collective: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLLECTIVE]",
            help="Such as allgather or bcast; not with --study.",
            autocompletion=arguments.complete_collective,
        ),
    ] = None,
    procs: Annotated[
        str | None, typer.Option("-n", "--procs", metavar="LIST", help="How many ranks: 8, or 2,4,8.")
    ] = None,
    sizes: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Bytes per block, or of the vector (bcast, reductions): 8,64,4KiB or, doubling, 8:1MiB; "
            "8:1MiB:4 goes in steps of 4.",
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
    study: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(bench_studies.STUDIES),
            help="A source's experiment, made small enough for one machine, beside what was published.",
            autocompletion=lambda incomplete: [
                name for name in bench_studies.STUDIES if name.startswith(incomplete)
            ],
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The study with all the source's sizes and ranks.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.json", help="Write every observation, and the summary."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with an interrupted measurement into the same file."),
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"What an observation is worth: {', '.join(bench_metrics.METRICS)}. Default: max, the "
            "slowest rank's time; with --arrivals elapsed, the time from arrival to exit, mean of all ranks.",
            autocompletion=lambda incomplete: [
                (each.name, each.summary)
                for each in bench_metrics.METRICS.values()
                if each.name.startswith(incomplete)
            ],
        ),
    ] = None,
    arrivals: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="How late ranks come: "
            + ", ".join(
                f"{kind['name']}:{kind['parameters']}" if kind["parameters"] else kind["name"]
                for kind in _core.arrival_kinds()
            )
            + ".",
            autocompletion=complete_arrivals,
        ),
    ] = bench.BALANCED,
    sync: Annotated[
        str,
        typer.Option(
            metavar="|".join(bench.SYNCS),
            help="What ranks start from: two barriers, or a deadline on clocks whose offsets are estimated.",
        ),
    ] = "barrier",
    window: Annotated[
        float, typer.Option(min=1, help="Microseconds to the first deadline; grows where ranks miss it.")
    ] = 200.0,
    distributions: Annotated[
        str,
        typer.Option(metavar="LIST", help=f"Sizes of unequal blocks: {', '.join(bench.DISTRIBUTIONS)}."),
    ] = "regular",
    item_type: Annotated[
        str | None,
        typer.Option(
            "--type", metavar="|".join(bench.TYPES), help="Of the items; byte, or double for reductions."
        ),
    ] = None,
    operation: Annotated[
        str,
        typer.Option("--op", metavar="|".join(bench.OPERATIONS), help="How reductions combine items."),
    ] = "sum",
    root: Annotated[int, typer.Option(min=0, help="Where the collective has one.")] = 0,
    repetitions: Annotated[
        int, typer.Option(min=2, help="Observations of each algorithm at each size, at most.")
    ] = 50,
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Stop a size after this time, but not before 10 observations; 0: never."),
    ] = 0.0,
    precision: Annotated[
        float,
        typer.Option(
            min=0,
            max=100,
            help="Stop a size when the interval of every median reaches no further than so many per cent to "
            "each side; 0: never.",
        ),
    ] = 0.0,
    batch: Annotated[
        float, typer.Option(min=1, help="Microseconds that one observation should last.")
    ] = 200.0,
    order: Annotated[
        str,
        typer.Option(metavar="shuffled|fixed", help="In which order algorithms take turns in a repetition."),
    ] = "shuffled",
    cache: Annotated[
        str,
        typer.Option(
            metavar="|".join(bench.CACHES),
            help="cold: caches are filled with other data before each call.",
        ),
    ] = "hot",
    check: Annotated[
        str,
        typer.Option(
            metavar="|".join(bench.CHECKS),
            help="How often results are looked at: after every observation, once a size, or never.",
        ),
    ] = "every",
    seed: Annotated[int, typer.Option(min=0, help="For the random order and random arrivals.")] = 1,
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
    elif resume:
        raise RequestError("--resume needs -o FILE.json, the file that the measurement was to write")
    chosen_study = bench_studies.find_study(study) if study else None
    name = check_subject(collective, procs, chosen_study, full=full)
    course: dict[str, Any] = {
        "type": choose_type(name, item_type),
        "op": check_word("--op", operation, bench.OPERATIONS),
        "root": root,
        "repetitions": repetitions,
        "seconds": seconds,
        "precision": precision / 100,
        "batch": batch * 1e-6,
        "order": check_word("--order", order, ("shuffled", "fixed")),
        "check": check_word("--check", check, bench.CHECKS),
        "sync": check_word("--sync", sync, bench.SYNCS),
        "window": window * 1e-6,
        "cache": check_word("--cache", cache, bench.CACHES),
        "seed": seed,
    }
    references: list[str] = []
    if chosen_study:
        requests = make_study_requests(chosen_study, procs, full=full, **course)
        metric = chosen_study.metric
    else:
        requests, references = make_requests(
            name,
            check_procs(procs or ""),
            [0] if name in bench.WITHOUT_SIZES else bench.parse_sizes(sizes),
            parse_distributions(name, distributions),
            algorithms,
            against,
            arrivals,
            **course,
        )
    patterns = [pattern for request in requests for pattern in request.arrivals]
    chosen = bench_metrics.find_metric(metric) if metric else bench_metrics.default_metric(patterns)
    setting = bench.find_setting(launcher, stack)
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        place = bench_files.journal_of(output) if output else Path(folder) / "part"
        asked = {"launcher": str(setting.launcher.path), "requests": [asdict(each) for each in requests]}
        journal = bench_files.Journal(place, asked, resume=resume)
        runs = measure_or_tell(setting, requests, journal, output)
    result, rows = finish(name, references, runs, chosen)
    if chosen_study:
        result["study"] = {"name": chosen_study.name, "rows": bench_studies.judge(chosen_study, result)}
    if output:
        bench_files.write(output, result)
        journal.remove()
    if json:
        console.print_json({key: value for key, value in result.items() if key != "runs"})
        return
    show(result, rows, references)
    if chosen_study:
        judged = result["study"]["rows"]
        console.make().print(bench_studies.make_table(chosen_study, judged))
        console.make().print(bench_studies.sentence(chosen_study, judged), soft_wrap=True)


def check_subject(
    collective: str | None, procs: str | None, study: bench_studies.Study | None, *, full: bool
) -> str:
    """The collective, given by name or by a study."""
    if study:
        if collective:
            raise RequestError(f"the study {study.name} is of {study.collective}; leave out '{collective}'")
        return study.collective
    if full:
        raise RequestError("--full needs a --study")
    if collective is None:
        raise RequestError("name a collective, such as allgather, or a --study")
    name = arguments.check_collective(collective)
    if procs is None:
        raise RequestError("say how many ranks, as in -n 8 or -n 2,4,8")
    return name


def measure_or_tell(
    setting: bench.Setting, requests: list[bench.Request], journal: bench_files.Journal, output: Path | None
) -> list[dict[str, Any]]:
    """Measures; where that ends early, says what is kept."""
    try:
        return measure(setting, requests, journal)
    except (bench.RunError, KeyboardInterrupt) as error:
        if isinstance(error, bench.RunError):
            console.complain(str(error))
        left = sum(len(bench_files.left_over(each, journal.runs())) for each in requests)
        there = sum(len(each.sizes) for each in requests) - left
        if output and there:
            console.complain(
                f"{there} of {there + left} sizes are measured and kept in {journal.folder}; the same "
                "command with --resume measures the others"
            )
        elif output:
            journal.remove()
        raise typer.Exit(1 if isinstance(error, bench.RunError) else 130) from None
    except RequestError:
        if not journal.runs():
            journal.remove()
        raise


def show(result: dict[str, Any], rows: list[Row], references: list[str]) -> None:
    numbers = ", ".join(str(number) for number in dict.fromkeys(run["procs"] for run in result["runs"]))
    mpi = result["runs"][0]["environment"]["mpi"].split(",")[0]
    patterns = {row.case.arrivals for row in rows}
    title = f"{result['collective']}, {numbers} ranks, {mpi}"
    if patterns != {bench.BALANCED} or rows[0].metric.name != "max":
        title += f"; {rows[0].metric.summary}"
    console.make().print(make_table(title, result["collective"], rows, references))
    for sentence in remarks(result["runs"]):
        console.complain(sentence)


def register(app: typer.Typer) -> None:
    app.command("bench", help=HELP)(run)
