# SPDX-License-Identifier: BSD-3-Clause
"""Simulations on the command line: shared options, files, and runs with a progress bar."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing, progress
from convene.cli.options import check_output, choices, complete
from convene.simulate import estimates, platforms, sweeps
from convene.simulate.cases import Case
from convene.simulate.journal import Journal

CONTENTIONS = ("sharing", "maxmin")
ORDERS = ("any", "compiled")


def check_procs(procs: int) -> int:
    if not 1 <= procs <= parsing.MOST_PROCS:
        raise RequestError(f"-p {procs} is out of range; give 1 to {parsing.MOST_PROCS} ranks")
    return procs


def complete_platform(incomplete: str) -> list[str]:
    return complete(platforms.known_platforms())(incomplete)


PlatformName = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE",
        help="Platform, by its name in `convene simulate platforms`, or a file in the same format.",
        autocompletion=complete_platform,
    ),
]
MappingText = Annotated[
    str,
    typer.Option(metavar="sequential|cyclic|LIST", help="Mapping of ranks; a list has a node per rank."),
]


@dataclass(frozen=True)
class Place:
    """Platform: the machine, and the mapping of ranks."""

    platform: PlatformName
    procs: Annotated[int, typer.Option("-p", "--procs", metavar="N", help="Number of ranks.")]
    mapping: MappingText = "sequential"


@dataclass(frozen=True)
class Details:
    """Details: noise, contention, seed."""

    noise: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="Noise: lengthen each send, receive and copy by a random time: none, exponential:MEAN, "
            "pareto:MEAN:SHAPE, bernoulli:PROBABILITY:TIME, with times such as 1us.",
        ),
    ] = "none"
    contention: Annotated[
        str,
        typer.Option(
            metavar=choices(CONTENTIONS),
            help="How messages share links. sharing: equal shares, fast. maxmin: max-min fairness, exact.",
            autocompletion=complete(CONTENTIONS),
        ),
    ] = "sharing"
    seed: Annotated[
        int, typer.Option(min=0, max=parsing.MOST_SEED, help="Seed of random arrivals and noise.")
    ] = 1

    @property
    def is_exact(self) -> bool:
        if self.contention not in CONTENTIONS:
            raise RequestError(f"--contention must be sharing or maxmin, not '{self.contention}'")
        return self.contention == "maxmin"


@dataclass(frozen=True)
class Physics:
    """Physics: what delays messages besides links and processors; off unless the platform has it."""

    time_slice: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|\nPLATFORM=TIME",
            help="Ranks that share a core (of this platform only) run in turn for this time each, as if they "
            "polled; 0: they work alternately. Default: as in the platform.",
        ),
    ] = None
    incast: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE|\nPLATFORM=SIZE",
            help="Messages of several nodes to one node overflow a buffer of this size in the switch, and "
            "wait for TCP's timeout; 0: never. Default: as in the platform.",
        ),
    ] = None

    @property
    def is_given(self) -> bool:
        return self.time_slice is not None or self.incast is not None

    def on(self, platform: platforms.Platform) -> platforms.Platform:
        """The platform with the fields that are given for it."""
        return self.in_each([platform])[0]

    def in_each(self, given: list[platforms.Platform]) -> list[platforms.Platform]:
        """The platforms with the fields that are given for them."""
        names = [each.name for each in given]
        fields = [dict[str, Any]() for _ in given]
        if self.time_slice is not None:
            chosen, text = value_for(self.time_slice, names, "--time-slice")
            seconds = parsing.parse_seconds(text, "--time-slice")
            for i in chosen:
                fields[i]["time_slice"] = seconds
        if self.incast is not None:
            chosen, text = value_for(self.incast, names, "--incast")
            buffer = {"buffer": _core.size(text)}
            for i in chosen:
                fields[i]["incast"] = buffer
        return [each.with_fields(new) if new else each for each, new in zip(given, fields, strict=True)]

    def in_all(self, cases: list[Case]) -> list[Case]:
        """The cases on such platforms."""
        used = list(dict.fromkeys(each.platform for each in cases))
        changed = dict(zip(used, self.in_each(used), strict=True))
        return [replace(each, platform=changed[each.platform]) for each in cases]


def value_for(given: str, names: list[str], option: str) -> tuple[list[int], str]:
    """Of VALUE or PLATFORM=VALUE: which of the platforms it is for, and the value."""
    wanted, equals, value = given.rpartition("=")
    chosen = [i for i, name in enumerate(names) if not equals or name == wanted]
    if not chosen:
        used = ", ".join(dict.fromkeys(names))
        raise RequestError(
            f"{option} {given} is for the platform '{wanted}', which is not used; used: {used}"
        )
    return chosen, value


@dataclass(frozen=True)
class Files:
    """Files: output and resumption."""

    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE.json", help="Write all results to this file."),
    ] = None
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an interrupted simulation into the same file.")
    ] = False

    def open_journal(self) -> Journal | None:
        """FILE.json.part, which keeps completed results until all are complete."""
        check_output("-o", self.output, ".json")
        if self.output is None:
            if self.resume:
                raise RequestError("--resume needs -o with the output file of the interrupted simulation")
            return None
        journal = Journal(self.output.with_name(self.output.name + ".part"))
        if self.resume:
            journal.read()
        elif journal.path.exists() and journal.path.stat().st_size > 0:
            journal.read()
            raise RequestError(
                f"{journal.path} contains results of an interrupted simulation; add --resume to complete it, "
                "or remove the file"
            )
        return journal

    def write(self, result: Mapping[str, object], journal: Journal | None) -> None:
        if self.output:
            console.write_file(self.output, console.json_text(result) + "\n")
        if journal:
            journal.remove()


def check_order(word: str) -> str:
    if word not in ORDERS:
        raise RequestError(_core.no_such("order", word, ORDERS))
    return word


Order = Annotated[
    str,
    typer.Option(
        metavar=choices(ORDERS),
        help="any: start steps as soon as their dependencies are complete. compiled: use the order of a "
        "blocking call, in which a rank waits for one particular message.",
        autocompletion=complete(ORDERS),
    ),
]


def simulate(cases: list[Case], journal: Journal | None = None) -> list[Any]:
    """Simulates the cases: prints the expected time and progress; on interruption, the completed cases."""
    known = journal.known if journal else {}
    left = [case for case in cases if not known or Journal.key(case) not in known]
    if text := estimates.sentence(left):
        console.complain(text)
    try:
        with progress.shown("simulating", "runs") as show:
            return sweeps.simulate_all(cases, show, journal)
    except (KeyboardInterrupt, SystemExit):
        if journal and journal.known:
            console.complain(
                f"{len(journal.known)} of {len(cases)} algorithms are simulated and kept in {journal.path}; "
                "the same command with --resume simulates the others"
            )
        raise
