# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate: plays algorithms on a platform that need not exist."""

from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.progress import Progress
from rich.table import Table

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.base.text import seconds_text
from convene.catalogue import collectives, selection
from convene.cli import completion
from convene.cli.commands.bench import check_output
from convene.cli.options import Json, refuse
from convene.simulate import inputs, platforms, skeletons, smpi, sweeps
from convene.simulate.cases import SMALL, Case
from convene.simulate.journal import Journal
from convene.simulate.programs import Setting
from convene.simulate.programs import programs as make_programs
from convene.studies import registry, simulated

HELP = """Simulates a collective on a platform: the same schedules, played event by event.

A platform says what its links, processors and nodes are like; Convene brings some, and reads others \
from JSON. Times are from the first arrival to the last exit; "mean" is that of all ranks, from \
arrival to exit.

With --engine smpi the code that runs real programs runs in SimGrid's SMPI, and so do SMPI's own algorithms.

[bold]Examples[/bold]

  convene simulate allgather --platform yahoo -p 64 --sizes 8:1MiB:8

  convene simulate allgather --platform curie -p 128 --algorithms ring,sparbit --arrivals uniform:1ms

  convene simulate allgather --platform curie -p 128 --noise pareto:2us:1.5

  convene simulate allgather --platform tryton -p 32 --engine smpi --rivals ompi,mpich

  convene simulate --platform yahoo -p 64 --export yahoo.xml

  convene simulate --skeleton program.json --platform curie -p 64 --use allgather=ring --use allgather=bdr

  convene simulate --study sparbit -o sparbit.json          (and --resume, if it was interrupted)
"""

ENGINES = ("player", "smpi")
ORDERS = ("any", "compiled")


def complete_platform(incomplete: str) -> list[str]:
    return [name for name in platforms.known_platforms() if name.startswith(incomplete)]


def choose_algorithms(collective: str, procs: int, text: str) -> list[str]:
    """Algorithms that have a schedule for so many ranks."""
    chosen = selection.choose_algorithms(collective, procs, text)
    for name in chosen:
        if name.startswith(selection.OWN) or name in (selection.NATIVE, selection.INTERCEPTED):
            raise RequestError(f"{name} is the MPI's own: Convene has no schedule of it; leave it out")
    if not chosen:
        raise RequestError("there is nothing to simulate: --algorithms names no algorithm")
    return chosen


def play(cases: list[Case], journal: Journal | None = None) -> list[Any]:
    """Plays them, with a bar on a terminal."""
    output = console.make(error=True)
    with Progress(console=output, transient=True, disable=not output.is_terminal) as progress:
        task = progress.add_task("simulating", total=None)
        return sweeps.play_all(
            cases, lambda done, total: progress.update(task, completed=done, total=total), journal
        )


def leave_impossible_out(cases: list[Case]) -> tuple[list[Case], dict[str, str]]:
    """Who asks for all algorithms gets those that so many ranks leave time and memory for, and is told of the
    others, with the reasons."""
    reasons = {case.spec: case.refusal() for case in cases if case.procs > SMALL}
    reasons = {spec: reason for spec, reason in reasons.items() if reason}
    if len(reasons) == len(cases):
        return cases, {}
    for spec, reason in reasons.items():
        console.complain(f"{spec} is left out: {reason}")
    return [case for case in cases if case.spec not in reasons], reasons


def check_contention(word: str) -> str:
    if word not in ("sharing", "maxmin"):
        raise RequestError(f"--contention must be sharing or maxmin, not '{word}'")
    return word


def check_order(word: str) -> str:
    if word not in ORDERS:
        raise RequestError(_core.no_such("order", word, ORDERS))
    return word


def journal_of(output: Path | None, resume: bool) -> Journal | None:
    """What is done goes to FILE.json.part until all is."""
    if output is None:
        if resume:
            raise RequestError("--resume goes on with what -o FILE.json was begun with: name that file, too")
        return None
    journal = Journal(output.with_name(output.name + ".part"))
    if resume:
        journal.read()
    elif journal.path.exists() and journal.path.stat().st_size > 0:
        raise RequestError(
            f"{journal.path} has what an interrupted simulation left; add --resume to go on with it, or "
            "remove it"
        )
    return journal


def make_table(title: str, result: dict[str, Any]) -> Table:
    is_told_all = "waiting" in result["sizes"][0]["contenders"][0]
    heads = ["bytes/block", "algorithm", "time", "of the best", "mean"]
    heads += ["waiting", "busiest channel"] if is_told_all else []
    table = console.table(title, *heads, numbers=("bytes/block", "time", "of the best", "mean", "waiting"))
    for size in result["sizes"]:
        best = min(median(contender["seconds"]) for contender in size["contenders"])
        for i, contender in enumerate(size["contenders"]):
            seconds = median(contender["seconds"])
            ratio = f"{seconds / best:.2f}" if best > 0 else ""
            table.add_row(
                "" if i else _core.format_size(size["bytes"]),
                contender["name"],
                seconds_text(seconds),
                f"[green]{ratio}[/green]" if seconds == best else ratio,
                seconds_text(median(contender["mean"])),
                *(told(contender) if is_told_all else ()),
            )
        table.add_section()
    return table


def told(contender: dict[str, Any]) -> tuple[str, str]:
    """What the player says besides times."""
    return seconds_text(median(contender["waiting"])), busiest_text(contender["channels"])


def busiest_text(channels: dict[str, float]) -> str:
    if not channels:
        return ""
    kind = max(channels, key=lambda name: channels[name])
    return f"{kind} {100 * channels[kind]:.0f} %"


# What a study settles itself.
OF_SWEEPS = (
    *("collective", "platform", "sizes", "algorithms", "root", "mapping", "arrivals", "noise", "repetitions"),
    *("seed", "contention", "critical_path", "engine", "rivals", "export", "skeleton", "use"),
)


def show_study(
    name: str,
    json: bool,
    output: Path | None,
    journal: Journal | None,
    figure: Path | None,
    procs: int | None,
    order: str,
) -> None:
    if name not in registry.STUDIES:
        raise RequestError(_core.no_such("study", name, list(registry.STUDIES)))
    study = registry.STUDIES[name]
    if procs and not study.run_on:
        raise RequestError(f"the study {name} has its source's numbers of ranks; leave out -p")
    if procs == 1:
        raise RequestError(f"the study {name} needs at least two ranks: -p 2")

    def played(cases: list[Case]) -> list[Any]:
        if order == "any":
            return play(cases, journal)
        if any(type(case) is not Case for case in cases):
            raise RequestError(f"in the study {name} ranks begin before they arrive; leave out --order")
        return play([replace(case, ordered=True) for case in cases], journal)

    result = study.run_on(played, procs) if procs and study.run_on else study.run(played)
    write(result, output, journal)
    if figure:
        draw(study, result, figure)
    if json:
        console.print_json({key: value for key, value in result.items() if key != "cells"})
        return
    for table in study.tables(result):
        console.make().print(table)
    for sentence in study.sentences(result):
        console.make().print(sentence, soft_wrap=True)


def draw(study: simulated.Study, result: dict[str, Any], path: Path) -> None:
    try:
        study.draw(result).savefig(path, bbox_inches="tight", metadata={"Date": None})
    except OSError as error:
        raise RequestError(f"{path} cannot be written: {error.strerror}") from None


def write(result: dict[str, Any], output: Path | None, journal: Journal | None) -> None:
    if output:
        console.write_file(output, console.json_text(result) + "\n")
    if journal:
        journal.remove()


def choose_engine(
    engine: str, collective: str, procs: int, machine: platforms.Platform, rivals: str
) -> tuple[type[Case], list[str]]:
    """The class of cases, and those of SMPI's own contenders."""
    if engine not in ENGINES:
        raise RequestError(_core.no_such("engine", engine, ENGINES))
    if engine == "player":
        if rivals:
            raise RequestError("--rivals are SMPI's own algorithms: say --engine smpi, too")
        return Case, []
    smpi.check(procs, machine)
    return smpi.SmpiCase, smpi.parse_rivals(rivals, collective)


# What a skeleton says itself, and what is for single collectives.
OF_CALLS = (
    *("collective", "sizes", "algorithms", "root", "arrivals", "repetitions", "critical_path", "engine"),
    *("order", "rivals", "export", "figure"),
)


def show_program(
    path: Path,
    uses: list[str],
    setting: Setting,
    journal: Journal | None,
    output: Path | None,
    options: dict[str, Any],
    *,
    json: bool,
) -> None:
    skeleton = skeletons.read(path)
    programs = make_programs(skeleton, uses, setting, play)
    runs = play(list(programs), journal)
    result = sweeps.as_result(programs, runs, {**options, "arrivals": "as the skeleton says"})
    result["skeleton"] = {"name": skeleton.name, "iterations": skeleton.iterations}
    write(result, output, journal)
    if json:
        console.print_json(result)
        return
    title = (
        f"{skeleton.name}, {skeleton.iterations} iterations, {setting.procs} ranks on {setting.platform.name}"
    )
    heads = ("time", "of the best", "in collectives", "waiting")
    table = console.table(title, "program", *heads, numbers=heads)
    contenders = result["sizes"][0]["contenders"]
    totals = [sum(contender["seconds"]) for contender in contenders]
    for contender, total in zip(contenders, totals, strict=True):
        ratio = f"{total / min(totals):.3f}" if min(totals) else ""
        shares = [f"{100 * sum(contender[name]) / (total or 1):.0f} %" for name in ("mean", "waiting")]
        is_best = total == min(totals)
        table.add_row(
            contender["name"],
            seconds_text(total),
            f"[green]{ratio}[/green]" if is_best else ratio,
            *shares,
        )
    console.make().print(table)
    said = {call.collective: spec for call, spec in zip(skeleton.calls, programs[0].specs, strict=True)}
    others = [f"{name}={spec}" for name, spec in said.items() if f"{name}=" not in programs[0].spec]
    if others:
        console.make().print(f"in all of them {', '.join(others)}", markup=False, soft_wrap=True)


# What is exported is the platform with its ranks, and nothing that runs on it.
NOT_OF_EXPORTS = (
    *("collective", "sizes", "algorithms", "root", "arrivals", "noise", "repetitions", "seed", "contention"),
    *("order", "critical_path", "engine", "rivals", "output", "resume", "json"),
)


def export_platform(path: Path, platform: str, mapping: str, procs: int) -> None:
    machine = platforms.load_platform(platform)
    console.write_file(path, _core.simgrid_platform(machine.text, machine.file, mapping, procs))


def run(
    context: typer.Context,
    collective: Annotated[
        str | None,
        typer.Argument(
            metavar="[COLLECTIVE]", help="Such as allgather.", autocompletion=completion.complete_collective
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help=f"{', '.join(platforms.known_platforms())}, or a file in the same format.",
            autocompletion=complete_platform,
        ),
    ] = None,
    procs: Annotated[int | None, typer.Option("-p", "--procs", metavar="N", help="How many ranks.")] = None,
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
            autocompletion=completion.complete_algorithms,
        ),
    ] = "all",
    root: Annotated[int, typer.Option(min=0, help="For collectives that have a root.")] = 0,
    mapping: Annotated[
        str,
        typer.Option(metavar="sequential|cyclic|LIST", help="Who sits where; a list: a node per rank."),
    ] = "sequential",
    arrivals: Annotated[
        str,
        typer.Option(
            metavar="PATTERN|FILE",
            help=f"How late ranks come: {completion.arrival_forms()}; or a file, each line a time per rank.",
            autocompletion=completion.complete_arrivals,
        ),
    ] = "none",
    noise: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="What holds up processors, each time that they work: none, exponential:SECONDS, "
            "pareto:SECONDS:SHAPE, bernoulli:PROBABILITY:SECONDS.",
        ),
    ] = "none",
    repetitions: Annotated[
        int, typer.Option(min=1, help="How many random patterns of arrival, or of noise.")
    ] = 20,
    seed: Annotated[
        int, typer.Option(min=0, max=parsing.MOST_SEED, help="For random arrivals and noise.")
    ] = 1,
    contention: Annotated[
        str,
        typer.Option(metavar="sharing|maxmin", help="How messages share links: fast, or exact."),
    ] = "sharing",
    order: Annotated[
        str,
        typer.Option(
            metavar="|".join(ORDERS),
            help="When ranks begin steps: as soon as they can, or in the executor's order, in which it waits "
            "for one message even where another one has come.",
            autocompletion=lambda incomplete: [name for name in ORDERS if name.startswith(incomplete)],
        ),
    ] = "any",
    critical_path: Annotated[
        bool, typer.Option("--critical-path", help="Write the critical path of each run into the JSON.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            metavar="player|smpi",
            help="What simulates: Convene's own, or SimGrid, in which the executor itself runs.",
            autocompletion=lambda incomplete: [name for name in ENGINES if name.startswith(incomplete)],
        ),
    ] = "player",
    rivals: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help=f"With smpi: its selectors {', '.join(smpi.SELECTORS)}, or algorithms such as ring.",
        ),
    ] = "",
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE.xml", help="Write the platform with -p ranks for SimGrid, and stop."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"A source's experiment, with what was published beside it: {', '.join(registry.STUDIES)}",
            autocompletion=lambda incomplete: [
                (each.name, each.summary)
                for each in registry.STUDIES.values()
                if each.name.startswith(incomplete)
            ],
        ),
    ] = None,
    skeleton: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Play a whole program: a loop of computation and collectives."
        ),
    ] = None,
    use: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLLECTIVE=ALGORITHM",
            help="With --skeleton: a program with these algorithms; several times to compare several.",
            autocompletion=completion.complete_use,
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Of a study: write its figure.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE.json", help="Write everything.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a simulation into -o FILE.json that was interrupted.")
    ] = False,
    json: Json = False,
) -> None:
    if study:
        refuse(context, OF_SWEEPS, "--study")
        if figure and figure.suffix != ".svg":
            raise RequestError(f"--figure {figure} must end in .svg")
        if figure and not figure.parent.is_dir():
            raise RequestError(f"{figure} cannot be written: there is no directory {figure.parent}")
    if output:
        check_output(output)
    if procs is not None and not 1 <= procs <= parsing.MOST_PROCS:
        raise RequestError(f"-p must be from 1 to {parsing.MOST_PROCS}, not {procs}")
    journal = journal_of(output, resume)
    if study:
        show_study(study, json, output, journal, figure, procs, check_order(order))
        return
    if skeleton:
        refuse(context, OF_CALLS, "--skeleton")
        if platform is None or procs is None:
            raise RequestError("--skeleton needs --platform and -p")
        machine = platforms.load_platform(platform)
        kinds = inputs.parse_noise(noise, seed)
        exact = check_contention(contention) == "maxmin"
        setting = Setting(machine, procs, mapping, exact, kinds, seed)
        told = {
            "engine": "player",
            "mapping": mapping,
            "noise": noise,
            "contention": contention,
            "seed": seed,
        }
        show_program(skeleton, use or [], setting, journal, output, told, json=json)
        return
    if use:
        raise RequestError("--use needs a --skeleton; algorithms of one collective are --algorithms")
    if figure:
        raise RequestError("--figure needs a --study")
    if export:
        refuse(context, NOT_OF_EXPORTS, "--export")
        if platform is None or procs is None:
            raise RequestError("--export needs --platform and -p: a host for each rank is written")
        export_platform(export, platform, mapping, procs)
        return
    if collective is None or platform is None or procs is None:
        raise RequestError("a simulation needs COLLECTIVE, --platform and -p (or --study NAME)")
    name = collectives.check_collective(collective)
    if not _core.is_rooted(name):
        refuse(context, ["root"], f"{name}, which has no root")
    check_contention(contention)
    check_order(order)
    if name in collectives.WITHOUT_SIZES:
        refuse(context, ["sizes"], f"{name}, which carries no data")
        sizes = "0"
    if critical_path and not (output or json):
        raise RequestError("--critical-path goes into the JSON: say --json, or -o FILE.json")
    machine = platforms.load_platform(platform)
    patterns = tuple(map(tuple, inputs.make_arrivals(arrivals, procs, repetitions, seed)))
    quiet = noise == "none"
    if len(patterns) == 1 and not quiet:
        patterns *= repetitions
    if not quiet and engine == "smpi":
        raise RequestError("SMPI knows no noise: leave out --noise, or take --engine player")
    if engine == "smpi":
        refuse(context, ["contention"], "--engine smpi, where shares are always exact")
        refuse(context, ["order"], "--engine smpi, where the executor itself runs")
    if critical_path and engine == "smpi":
        raise RequestError("SMPI does not say what the critical path is: leave out --critical-path")
    make, others = choose_engine(engine, name, procs, machine, rivals)
    specs = [*choose_algorithms(name, procs, algorithms), *others]
    if engine == "smpi" and any(_core.shares_memory(name, spec) for spec in specs if spec not in others):
        raise RequestError(
            "ranks share no memory in SMPI: leave such algorithms out, or take --engine player"
        )
    cases = [
        make(
            name,
            spec,
            procs,
            tuple(parsing.parse_sizes(sizes)),
            machine,
            mapping,
            patterns,
            contention == "maxmin",
            critical_path,
            root,
            inputs.parse_noise(noise, seed),
            ordered=order == "compiled",
        )
        for spec in specs
    ]
    left_out: dict[str, str] = {}
    if algorithms == "all":
        cases, left_out = leave_impossible_out(cases)
    options = {
        "engine": engine,
        "mapping": mapping,
        "arrivals": arrivals,
        "noise": noise,
        "contention": contention if engine == "player" else "SMPI's",
        "order": order if engine == "player" else "the executor's",
        "seed": seed,
    } | ({"left_out": left_out} if left_out else {})
    runs = play(cases, journal)
    result = sweeps.as_result(cases, runs, {**options, "repetitions": len(patterns)})
    write(result, output, journal)
    if json:
        console.print_json(result)
        return
    title = f"{name}, {procs} ranks on {machine.name} ({engine}), {mapping}, arrivals {arrivals}"
    console.make().print(make_table(title, result))


def register(app: typer.Typer) -> None:
    app.command("simulate", help=HELP)(run)
