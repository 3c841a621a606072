# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate sweep: simulates algorithms of one collective at several sizes."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing, progress
from convene.base.result_types import Json
from convene.catalogue import collectives, schedule_files, selection
from convene.catalogue.schedule_files import ScheduleFile
from convene.catalogue.selection import INTERCEPTED, NATIVE
from convene.cli import completion, options, renamed, simulations, sweep_output
from convene.cli.groups import grouped
from convene.cli.options import Collective, complete, refuse
from convene.cli.simulations import Details, Files, Physics
from convene.simulate import cases, forecasts, inputs, platforms, smpi, sweeps
from convene.simulate.cases import Case
from convene.simulate.inputs import Pattern
from convene.simulate.platforms import Platform

HELP = """Simulates algorithms of a collective on a modelled platform, from their schedules.

A platform describes links, processors and nodes: one that convene simulate platforms lists, or a JSON file. \
"time" is from the first arrival to the last exit; "mean" is the mean over ranks of the time from arrival to \
exit.

With --engine smpi, Convene's executor runs in SimGrid's SMPI; --baselines adds SMPI's own algorithms.

[bold]Examples[/bold]

  convene simulate sweep allgather --platform yahoo -p 64 --sizes 8:1MiB:8

  convene simulate sweep allgather --platform yahoo -p 64,128,256 --sizes 1KiB -o sweep.json

  convene simulate sweep allgather --platform curie -p 128 --algorithms ring,sparbit --arrivals uniform:1ms

  convene simulate sweep allreduce --platform nvswitch -p 8 --arrivals late:7:2ms --forecast truth

  convene simulate sweep allgather --platform curie -p 128 --noise pareto:2us:1.5

  convene simulate sweep allgather --platform yahoo -p 8 --schedule mine.json --algorithms ring,sparbit

  convene simulate sweep allgather --platform tryton -p 32 --engine smpi --baselines ompi,mpich
"""

ENGINES = ("builtin", "smpi")
FORECASTS = ("none", *selection.FORECASTS)
FORMER_ENGINES = {"player": "builtin"}


@dataclass(frozen=True)
class Place:
    """Platform: the machine, and where ranks are."""

    platform: simulations.PlatformName
    procs: Annotated[
        str, typer.Option("-p", "--procs", metavar="LIST", help="Numbers of ranks: 64, or 64,128,256.")
    ]
    mapping: simulations.MappingText = "sequential"


@dataclass(frozen=True)
class Calls:
    """Calls: algorithms, sizes, arrivals."""

    algorithms: Annotated[
        str,
        typer.Option(
            metavar="all|LIST",
            help="Algorithms, as in ring,sparbit; all: Convene's algorithms that support this number of "
            "ranks. A suffix passes a forecast of --arrivals to one: stragglar@truth.",
            autocompletion=completion.complete_algorithms,
        ),
    ] = "all"
    schedules: options.Schedules = None
    sizes: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Bytes per block: a list 8,64,4KiB or a range 8:1MiB, which doubles; 8:1MiB:4 multiplies "
            "by 4.",
        ),
    ] = "8:1MiB:4"
    root: Annotated[int, typer.Option(min=0, help="Root rank of a rooted collective.")] = 0
    arrivals: Annotated[
        str,
        typer.Option(
            metavar="PATTERN|FILE",
            help=f"Arrival pattern: {completion.arrival_forms()}; or a file: a line for each call with a "
            "time for each rank.",
            autocompletion=completion.complete_arrivals,
        ),
    ] = "none"
    forecast: Annotated[
        str,
        typer.Option(
            metavar=options.choices(FORECASTS),
            help="Forecast that all algorithms receive that use one. truth: the real arrivals. average: the "
            "mean of the last five calls. mirrored: those of the opposite ranks, so a wrong one.",
            autocompletion=complete(FORECASTS),
        ),
    ] = "none"
    repetitions: Annotated[
        int, typer.Option(min=1, help="Number of calls with random arrivals or noise.")
    ] = 20


@dataclass(frozen=True)
class Engine:
    """Engine: the simulator."""

    engine: Annotated[
        str,
        typer.Option(
            metavar=options.choices(ENGINES),
            help="builtin: Convene's simulator evaluates schedules. smpi: Convene's executor runs in "
            "SimGrid.",
            autocompletion=complete(ENGINES),
        ),
    ] = "builtin"
    baselines: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help=f"With --engine smpi: add SMPI's selectors {', '.join(smpi.SELECTORS)}, or its algorithms "
            "by name.",
        ),
    ] = ""
    order: simulations.Order = "any"
    critical_path: Annotated[
        bool, typer.Option("--critical-path", help="Add the critical path of each run to the JSON output.")
    ] = False


@grouped
def sweep(
    context: typer.Context,
    collective: Collective,
    place: Place,
    calls: Calls,
    details: Details,
    physics: Physics,
    engine: Engine,
    written: Files,
    json: options.Json = False,
) -> None:
    engine = in_current_words(engine)
    numbers = parsing.parse_numbers(place.procs, "-p", 1, parsing.MOST_PROCS)
    journal = written.open_journal()
    name = collectives.check_collective(collective)
    refuse_idle(context, name, engine)
    if engine.critical_path and not (written.output or json):
        raise RequestError("--critical-path needs JSON output; add --json or -o FILE.json")
    machine = physics.on(platforms.load_platform(place.platform))
    if engine.engine == "smpi" and details.noise != "none":
        raise RequestError("--engine smpi supports no --noise; leave it out, or use --engine builtin")
    if engine.engine == "smpi" and engine.critical_path:
        raise RequestError("--engine smpi supports no --critical-path; leave it out, or use --engine builtin")
    sizes = [0] if name in collectives.WITHOUT_SIZES else parsing.parse_sizes(calls.sizes)
    schedules = load_schedules(calls, name, numbers, engine)
    asked: list[Case] = []
    options_of: list[Json] = []
    counts: list[int] = []
    for procs in numbers:
        patterns = make_patterns(procs, calls, details, physics)
        given = [each for each in schedules if each.call["procs"] == procs]
        cases = make_cases(name, procs, place, machine, calls, details, engine, patterns, sizes, given)
        cases, left_out = leave_impossible_out(cases) if calls.algorithms == "all" else (cases, {})
        asked += cases
        counts.append(len(cases))
        options_of.append(options_json(place, calls, details, engine, patterns, left_out))
    runs = iter(simulations.simulate(asked, journal))
    left = iter(asked)
    results = [
        sweeps.as_result(list(islice(left, count)), list(islice(runs, count)), options)
        for count, options in zip(counts, options_of, strict=True)
    ]
    result = results[0] if len(results) == 1 else sweeps.joined(results)
    written.write(result, journal)
    if json:
        console.print_json(result)
        return
    on = f"{machine.name} ({engine.engine}), {place.mapping}, arrivals {calls.arrivals}"
    for each in results:
        console.make().print(sweep_output.make_table(f"{name}, {each['procs']} ranks on {on}", each))


def in_current_words(engine: Engine) -> Engine:
    """Translates the former name of an engine, with a hint."""
    if engine.engine not in FORMER_ENGINES:
        return engine
    name = FORMER_ENGINES[engine.engine]
    renamed.hint(f"--engine {engine.engine}", f"--engine {name}")
    return replace(engine, engine=name)


def refuse_idle(context: typer.Context, collective: str, engine: Engine) -> None:
    """Refuses options without effect."""
    if not _core.is_rooted(collective):
        refuse(context, ["root"], f"{collective}, which has no root")
    if collective in collectives.WITHOUT_SIZES:
        refuse(context, ["sizes"], f"{collective}, which carries no data")
    simulations.check_order(engine.order)
    if engine.engine == "smpi":
        refuse(context, ["time_slice", "incast"], "--engine smpi")
        refuse(context, ["contention"], "--engine smpi, which is always exact")
        refuse(context, ["order"], "--engine smpi, which runs the executor")


def load_schedules(calls: Calls, collective: str, numbers: list[int], engine: Engine) -> list[ScheduleFile]:
    """The schedules from files; refuses those of other calls."""
    if calls.schedules and engine.engine == "smpi":
        raise RequestError(
            "--engine smpi simulates algorithms only; leave out --schedule, or use --engine builtin"
        )
    found = schedule_files.load_correct(calls.schedules, collective)
    for each in found:
        schedule_files.require_procs(each, numbers)
        schedule_files.require_root(each, calls.root)
    return found


def make_patterns(procs: int, calls: Calls, details: Details, physics: Physics) -> tuple[Pattern, ...]:
    """The arrival patterns; a single one is repeated if other times are random."""
    found = inputs.make_arrivals(calls.arrivals, procs, calls.repetitions, details.seed)
    is_random = details.noise != "none" or physics.is_given
    return found * calls.repetitions if len(found) == 1 and is_random else found


def make_cases(
    collective: str,
    procs: int,
    place: Place,
    machine: Platform,
    calls: Calls,
    details: Details,
    engine: Engine,
    patterns: tuple[Pattern, ...],
    sizes: list[int],
    schedules: list[ScheduleFile],
) -> list[Case]:
    make, others = choose_engine(engine, collective, procs, machine)
    specs = choose_algorithms(collective, procs, calls)
    if engine.engine == "smpi" and any("@" in spec for spec in specs):
        raise RequestError("--engine smpi supports no forecasts; leave them out, or use --engine builtin")
    if engine.engine == "smpi" and any(_core.shares_memory(collective, spec) for spec in specs):
        raise RequestError(
            "--engine smpi supports no shared memory between ranks; leave such algorithms out, or use "
            "--engine builtin"
        )
    named: list[tuple[str, ScheduleFile | None]] = [(spec, None) for spec in [*specs, *others]]
    found = [
        make(
            collective,
            spec,
            procs,
            tuple(sizes),
            machine,
            place.mapping,
            patterns,
            details.is_exact,
            engine.critical_path,
            calls.root,
            inputs.parse_noise(details.noise, details.seed),
            ordered=engine.order == "compiled",
            schedule=schedule,
        )
        for spec, schedule in [*named, *((each.file, each) for each in schedules)]
    ]
    return forecasts.give_forecasts(found)


def choose_engine(
    engine: Engine, collective: str, procs: int, machine: Platform
) -> tuple[type[Case], list[str]]:
    """The class of cases, and SMPI's baselines."""
    if engine.engine not in ENGINES:
        raise RequestError(_core.no_such("engine", engine.engine, ENGINES))
    if engine.engine == "builtin":
        if engine.baselines:
            raise RequestError("--baselines are SMPI's algorithms; add --engine smpi")
        return Case, []
    smpi.check(procs, machine)
    return smpi.SmpiCase, smpi.parse_baselines(engine.baselines, collective)


def choose_algorithms(collective: str, procs: int, calls: Calls) -> list[str]:
    """The algorithms that have a schedule for this number of ranks, with their forecasts."""
    if calls.forecast not in FORECASTS:
        raise RequestError(_core.no_such("forecast", calls.forecast, FORECASTS))
    chosen = selection.choose_algorithms(collective, procs, calls.algorithms)
    for name in chosen:
        if name.startswith(selection.OWN) or name in (NATIVE, INTERCEPTED):
            raise RequestError(f"{name} has no schedule to simulate; leave it out")
    if not chosen:
        raise RequestError("--algorithms is empty; name an algorithm")
    return list(dict.fromkeys(forecasts.with_forecast(name, collective, calls.forecast) for name in chosen))


def leave_impossible_out(asked: list[Case]) -> tuple[list[Case], dict[str, str]]:
    """The cases that fit into time and memory, and the reasons against the others."""
    refusals: dict[str, str] = {}
    with progress.shown("estimating", "algorithms") as show:
        for done, case in enumerate(asked):
            show(done, len(asked))
            if case.procs > cases.SMALL:
                refusals[case.name] = case.refusal()
    reasons = {spec: reason for spec, reason in refusals.items() if reason}
    if len(reasons) == len(asked):
        return asked, {}
    for spec, reason in reasons.items():
        console.complain(f"leaving out {spec}: {reason}")
    return [case for case in asked if case.name not in reasons], reasons


def options_json(
    place: Place,
    calls: Calls,
    details: Details,
    engine: Engine,
    patterns: tuple[Pattern, ...],
    left_out: dict[str, str],
) -> Json:
    is_builtin = engine.engine == "builtin"
    return {
        "engine": engine.engine,
        "mapping": place.mapping,
        "arrivals": calls.arrivals,
        **({"forecast": calls.forecast} if calls.forecast != "none" else {}),
        "noise": details.noise,
        "contention": details.contention if is_builtin else "SMPI's",
        "order": engine.order if is_builtin else "the executor's",
        "seed": details.seed,
        **({"left_out": left_out} if left_out else {}),
        "repetitions": len(patterns),
    }


def register(group: typer.Typer) -> None:
    group.command("sweep", help=HELP)(sweep)
