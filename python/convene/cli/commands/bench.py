# SPDX-License-Identifier: BSD-3-Clause
"""convene bench: measures collectives by several algorithms, side by side."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.bench import files, metrics, sessions, terminal
from convene.bench.journal import Journal
from convene.bench.requests import BALANCED, CACHES, CHECKS, DISTRIBUTIONS, OPERATIONS, SYNCS, TYPES, Request
from convene.catalogue import collectives, selection
from convene.cli import completion, options
from convene.mpi import settings
from convene.studies import bench_registry
from convene.studies.measured import Study

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

  convene bench reduce -n 8 --sizes 2MiB --arrivals late:7:5ms --algorithms clairvoyant@truth,binomial

  convene bench --study allgatherv -o allgatherv.json

  convene bench allgatherv -n 6 --distributions regular,spike --launcher 'mpirun --hostfile hosts' --json
"""

MOST_PROCS = 1 << 16

# What a study settles itself.
OF_MEASUREMENTS = (
    *("sizes", "algorithms", "against", "metric", "arrivals", "distributions"),
    *("item_type", "operation", "root"),
)


def complete_contenders(context: typer.Context, incomplete: str) -> list[str]:
    """The last name of a list, and behind its @ what an algorithm that uses forecasts can be told."""
    begun, at, _ = incomplete.rpartition("@")
    if not at or "," in incomplete[len(begun) :]:
        return completion.complete_algorithms(context, incomplete)
    return [f"{begun}@{kind}" for kind in selection.FORECASTS if f"{begun}@{kind}".startswith(incomplete)]


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


def parse_distributions(collective: str, text: str) -> list[str]:
    names = [check_word("a distribution", part.strip(), DISTRIBUTIONS) for part in text.split(",")]
    if collective not in collectives.IRREGULAR and names != ["regular"]:
        raise RequestError(
            f"{collective} has blocks of equal size; only {', '.join(collectives.IRREGULAR)} have "
            "--distributions"
        )
    return list(dict.fromkeys(names))


def choose_type(collective: str, given: str | None) -> str:
    """Bytes, but for reductions, which do not combine them."""
    if given is None:
        return "double" if collective in collectives.REDUCTIONS else "byte"
    if check_word("--type", given, TYPES) == "byte" and collective in collectives.REDUCTIONS:
        raise RequestError(f"{collective} does not combine bytes; say --type int, long, float or double")
    return given


def refuse_idle(context: typer.Context, collective: str, arrivals: str, sync: str, cache: str) -> None:
    """Refuses what would change nothing here."""
    if not _core.is_rooted(collective):
        options.refuse(context, ["root"], f"{collective}, which has no root")
    if collective not in collectives.REDUCTIONS:
        options.refuse(context, ["operation"], f"{collective}, which does not combine items")
    if collective in collectives.WITHOUT_SIZES:
        options.refuse(context, ["sizes", "item_type"], f"{collective}, which carries no data")
    if arrivals != BALANCED:
        options.refuse(context, ["batch"], "--arrivals, where one call is one observation")
    for is_single, what in ((sync == "window", "--sync window"), (cache == "cold", "--cache cold")):
        if is_single:
            options.refuse(context, ["batch"], f"{what}, where one call is one observation")
    if sync == "barrier":
        options.refuse(context, ["window"], "--sync barrier, which has no deadlines")


def check_procs(text: str) -> list[int]:
    return parsing.parse_numbers(text, "-n", 1, MOST_PROCS)


def run(
    context: typer.Context,
    collective: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLLECTIVE]",
            help="Such as allgather or bcast; not with --study.",
            autocompletion=completion.complete_collective,
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
            help="Such as ring,sparbit; all are Convene's that can run on so many ranks. One that uses "
            "forecasts can be told of the --arrivals: clairvoyant@truth, @average (of the last five) or "
            "@mirrored (a wrong one).",
            autocompletion=complete_contenders,
        ),
    ] = "all",
    against: Annotated[
        str,
        typer.Option(metavar="LIST", help="To which the others are compared, such as native,mpi:ring."),
    ] = selection.NATIVE,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(bench_registry.STUDIES),
            help="A source's experiment, made small enough for one machine, beside what was published.",
            autocompletion=lambda incomplete: [
                name for name in bench_registry.STUDIES if name.startswith(incomplete)
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
            help=f"What an observation is worth: {', '.join(metrics.METRICS)}. Default: max, the "
            "slowest rank's time; with --arrivals elapsed, the time from arrival to exit, mean of all ranks.",
            autocompletion=lambda incomplete: [
                (each.name, each.summary)
                for each in metrics.METRICS.values()
                if each.name.startswith(incomplete)
            ],
        ),
    ] = None,
    arrivals: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help=f"How late ranks come: {completion.arrival_forms()}.",
            autocompletion=completion.complete_arrivals,
        ),
    ] = BALANCED,
    sync: Annotated[
        str,
        typer.Option(
            metavar="|".join(SYNCS),
            help="What ranks start from: two barriers, or a deadline on clocks whose offsets are estimated.",
        ),
    ] = "barrier",
    window: Annotated[
        float, typer.Option(min=1, help="Microseconds to the first deadline; grows where ranks miss it.")
    ] = 200.0,
    distributions: Annotated[
        str,
        typer.Option(metavar="LIST", help=f"Sizes of unequal blocks: {', '.join(DISTRIBUTIONS)}."),
    ] = "regular",
    item_type: Annotated[
        str | None,
        typer.Option("--type", metavar="|".join(TYPES), help="Of the items; byte, or double for reductions."),
    ] = None,
    operation: Annotated[
        str,
        typer.Option("--op", metavar="|".join(OPERATIONS), help="How reductions combine items."),
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
            metavar="|".join(CACHES),
            help="cold: caches are filled with other data before each call.",
        ),
    ] = "hot",
    check: Annotated[
        str,
        typer.Option(
            metavar="|".join(CHECKS),
            help="How often results are looked at: after every observation, once a size, or never.",
        ),
    ] = "every",
    seed: Annotated[int, typer.Option(min=0, help="For the random order and random arrivals.")] = 1,
    launcher: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="The MPI's launcher, with options if need be; default: mpirun."),
    ] = None,
    stack: Annotated[
        str | None, options.stack_option("Whose MPI, where the launcher serves several or none is given.")
    ] = None,
    json: options.Json = False,
) -> None:
    if output:
        check_output(output)
    elif resume:
        raise RequestError("--resume needs -o FILE.json, the file that the measurement was to write")
    chosen_study = bench_registry.find_study(study) if study else None
    if chosen_study:
        options.refuse(context, OF_MEASUREMENTS, "--study")
    name = check_subject(collective, procs, chosen_study, full=full)
    if name:
        refuse_idle(context, name, arrivals, sync, cache)
    course: dict[str, Any] = {
        "type": choose_type(name, item_type) if name else "",
        "op": check_word("--op", operation, OPERATIONS),
        "root": root,
        "repetitions": repetitions,
        "seconds": seconds,
        "precision": precision / 100,
        "batch": batch * 1e-6,
        "order": check_word("--order", order, ("shuffled", "fixed")),
        "check": check_word("--check", check, CHECKS),
        "sync": check_word("--sync", sync, SYNCS),
        "window": window * 1e-6,
        "cache": check_word("--cache", cache, CACHES),
        "seed": seed,
    }
    setting = settings.find_setting(launcher, stack)
    if chosen_study:
        run_study(chosen_study, procs, course, setting, output, full=full, resume=resume, json=json)
        return
    requests, references = sessions.make_requests(
        name,
        check_procs(procs or ""),
        [0] if name in collectives.WITHOUT_SIZES else parsing.parse_sizes(sizes),
        parse_distributions(name, distributions),
        algorithms,
        against,
        arrivals,
        **course,
    )
    patterns = [pattern for request in requests for pattern in request.arrivals]
    chosen = metrics.find_metric(metric) if metric else metrics.default_metric(patterns)
    result, rows = measure(
        setting,
        requests,
        output,
        lambda runs: sessions.finish(name, references, runs, chosen),
        resume=resume,
    )
    if json:
        console.print_json({key: value for key, value in result.items() if key != "runs"})
        return
    terminal.show(result, rows, references)


def measure(
    setting: settings.Setting,
    requests: list[Request],
    output: Path | None,
    finish: Callable[[list[dict[str, Any]]], sessions.Finished],
    *,
    resume: bool,
) -> sessions.Finished:
    """What was measured, now or before an interruption, and written."""
    with tempfile.TemporaryDirectory(prefix="convene-") as folder:
        place = files.journal_of(output) if output else Path(folder) / "part"
        asked = {"launcher": str(setting.launcher.path), "requests": [asdict(each) for each in requests]}
        journal = Journal(place, asked, resume=resume)
        runs = sessions.measure_or_tell(setting, requests, journal, output)
        finished = finish(runs)
        if output:
            files.write(output, finished[0])
            journal.remove()
    return finished


def run_study(
    study: Study,
    procs: str | None,
    course: dict[str, Any],
    setting: settings.Setting,
    output: Path | None,
    *,
    full: bool,
    resume: bool,
    json: bool,
) -> None:
    """Measures each part of a study, a collective; a part that is already written is only read. Ends
    with the pages of the report."""
    numbers = check_procs(procs) if procs else None
    results = {}
    parts = study.parts(full=full)
    for part in parts:
        path = part_path(output, study, part.collective)
        is_begun = path is not None and files.journal_of(path).exists()
        if resume and path and path.is_file() and not is_begun:
            results[part.collective] = files.read(path)
            continue
        own = course | {"type": choose_type(part.collective, part.type or None)}
        requests = [request for number in numbers or part.procs for request in part.requests(number, own)]
        metric = metrics.find_metric(part.metric)
        result, rows = measure(
            setting,
            requests,
            path,
            lambda runs, of=part.collective, metric=metric: sessions.finish(of, [], runs, metric),  # type: ignore[misc]
            resume=resume and (is_begun or len(parts) == 1),
        )
        results[part.collective] = result
        if not json:
            terminal.show(result, rows, [])
    judged = study.judge(results)
    if json:
        console.print_json({"study": judged})
    else:
        console.make().print(study.table(judged))
        for sentence in judged["sentences"]:
            console.make().print(sentence, soft_wrap=True)
    for collective, result in results.items():
        path = part_path(output, study, collective)
        if path:
            files.write(path, result | {"study": judged})
            write_page(path, quiet=json)


def part_path(output: Path | None, study: Study, collective: str) -> Path | None:
    """A study of several collectives writes a file for each."""
    if output is None or len(study.parts(full=False)) == 1:
        return output
    return output.with_stem(f"{output.stem}-{collective}")


def write_page(path: Path, *, quiet: bool) -> None:
    from convene.bench.report import pages
    from convene.bench.report.measured import (
        Measured,  # Matplotlib takes longer to load than other commands to run
    )

    page = path.with_suffix(".html")
    result = files.read(path)
    measured = Measured(path.stem, result, metrics.find_metric(result["metric"]))
    console.write_file(page, pages.page(pages.make_parts([measured], with_pdf=False)))
    if not quiet:
        console.make().print(f"report: {page}", markup=False, soft_wrap=True)


def check_subject(collective: str | None, procs: str | None, study: Study | None, *, full: bool) -> str:
    """The collective, given by name or by a study."""
    if study:
        if collective:
            of = ", ".join(part.collective for part in study.parts(full=False))
            raise RequestError(f"the study {study.name} is of {of}; leave out '{collective}'")
        return ""
    if full:
        raise RequestError("--full needs a --study")
    if collective is None:
        raise RequestError("name a collective, such as allgather, or a --study")
    name = collectives.check_collective(collective)
    if procs is None:
        raise RequestError("say how many ranks, as in -n 8 or -n 2,4,8")
    return name


def register(app: typer.Typer) -> None:
    app.command("bench", help=HELP)(run)
