# SPDX-License-Identifier: BSD-3-Clause
"""What several commands take: collectives, algorithms, their parameters, numbers of processes.
Derived from the catalogue, with completion."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from convene import _core, shapes, stacks
from convene._core import RequestError

PARAMETERS_PANEL = "Parameters of algorithms"


def refuse(context: typer.Context, names: Iterable[str], what: str) -> None:
    """Refuses parameters of these names that were given, since they do not go with `what`."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in names and source and source.name == "COMMANDLINE":
            written = parameter.opts[-1] if parameter.param_type_name == "option" else name.upper()
            raise RequestError(f"{written} does not go with {what}; leave it out")


MOST_PROCS = 1 << 20
MOST_SEED = 2**64 - 1


def complete_collective(incomplete: str) -> list[str]:
    return [name for name in _core.collectives() if name.startswith(incomplete)]


def family(collective: str) -> str:
    """A collective's form with equal blocks: allgather of allgatherv. Both have the same algorithms."""
    equal = collective.removesuffix("v")
    return equal if equal in _core.collectives() else collective


def families(collectives: Iterable[str]) -> dict[str, list[str]]:
    """The collectives by their families, in the catalogue's order."""
    found: dict[str, list[str]] = {}
    for name in collectives:
        found.setdefault(family(name), []).append(name)
    return found


def known_algorithms(collectives: Iterable[str]) -> list[shapes.Algorithm]:
    """The algorithms of these collectives, each once, in the catalogue's order. Those of different families
    may have the same name."""
    found = {
        (algorithm["name"], *algorithm["collectives"]): algorithm
        for name in collectives
        for algorithm in _core.algorithms(name)
    }
    return list(found.values())


def is_composed(collective: str, spec: str) -> bool:
    """Whether an algorithm runs others, by the nodes of ranks."""
    name = spec.partition("(")[0].partition(";")[0]
    return any(known["parts"] for known in _core.algorithms(collective) if known["name"] == name)


def minds_nodes(collective: str, spec: str) -> bool:
    """Whether a plan may depend on which ranks share a node."""
    name = spec.partition("(")[0].partition(";")[0]
    known = {algorithm["name"]: algorithm for algorithm in _core.algorithms(collective)}
    return is_composed(collective, spec) or known[name]["needs_whole_graph"] or known[name]["shares_memory"]


def complete_algorithm(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    # Behind an option that still lacks its value, arguments are words that have no name yet.
    words = [context.params.get("collective"), *context.args]
    given = [str(word).replace("-", "_") for word in words if word]
    collectives = [word for word in given if word in _core.collectives()][:1] or _core.collectives()
    found: dict[str, str] = {}
    for known in known_algorithms(collectives):
        if known["name"].startswith(incomplete):
            found.setdefault(known["name"], known["summary"])
    return list(found.items())


def complete_algorithms(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the last name of a list."""
    done, comma, last = incomplete.rpartition(",")
    names = ["all", *(name for name, _ in complete_algorithm(context, last))]
    return [done + comma + name for name in names if name.startswith(last)]


def beginnings_of_arrivals() -> list[tuple[str, shapes.ArrivalKind]]:
    """What patterns of arrival begin with: their names, and a colon where parameters follow."""
    return [(kind["name"] + (":" if kind["parameters"] else ""), kind) for kind in _core.arrival_kinds()]


def arrival_forms() -> str:
    """How patterns of arrival are written."""
    return ", ".join(begun + kind["parameters"] for begun, kind in beginnings_of_arrivals())


def complete_arrivals(incomplete: str) -> list[str]:
    done, comma, last = incomplete.rpartition(",")
    return [done + comma + text for text, _ in beginnings_of_arrivals() if text.startswith(last)]


def complete_use(incomplete: str) -> list[str]:
    """Completes the last part of allgather=sparbit,allgatherv=…"""
    done, comma, last = incomplete.rpartition(",")
    collective, equals, algorithm = last.partition("=")
    if not equals:
        candidates = [f"{name}=" for name in complete_collective(collective)]
    elif collective in _core.collectives():
        names = [known["name"] for known in _core.algorithms(collective)]
        candidates = [f"{collective}={name}" for name in names if name.startswith(algorithm)]
    else:
        candidates = []
    return [done + comma + candidate for candidate in candidates]


Collective = Annotated[
    str,
    typer.Argument(
        metavar="COLLECTIVE", help="Such as allgather or bcast.", autocompletion=complete_collective
    ),
]
Algorithm = Annotated[
    str,
    typer.Argument(
        metavar="ALGORITHM",
        help="Such as sparbit, or with parameters 'sparbit;send=packed'.",
        autocompletion=complete_algorithm,
    ),
]


def stack_option(meaning: str) -> Any:
    """The option --stack, with a help of its own."""
    return typer.Option(
        metavar="|".join(stacks.STACKS),
        help=meaning,
        autocompletion=lambda incomplete: [name for name in stacks.STACKS if name.startswith(incomplete)],
    )


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _parameter_options() -> dict[str, inspect.Parameter]:
    """An option for every name that a parameter of some algorithm has."""
    owners: dict[str, list[tuple[str, shapes.Parameter]]] = {}
    for algorithm in known_algorithms(_core.collectives()):
        for parameter in algorithm["parameters"]:
            owner = f"{family(algorithm['collectives'][0])} {algorithm['name']}"
            owners.setdefault(parameter["name"], []).append((owner, parameter))
    return {name: _option(name, users) for name, users in owners.items()}


def _option(name: str, users: list[tuple[str, shapes.Parameter]]) -> inspect.Parameter:
    summaries = {parameter["summary"]: [] for _, parameter in users}  # type: dict[str, list[str]]
    for owner, parameter in users:
        summaries[parameter["summary"]].append(owner)
    text = "; ".join(f"{', '.join(owners)}: {summary}" for summary, owners in summaries.items())
    words = list(dict.fromkeys(word for _, parameter in users for word in parameter["words"]))
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        metavar="|".join(words) if words else "N",
        help=text,
        rich_help_panel=PARAMETERS_PANEL,
        autocompletion=lambda incomplete: [word for word in words if word.startswith(incomplete)],
        show_default=False,
    )
    return inspect.Parameter(
        f"parameter_{name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[str | None, option],
    )


def with_parameters(function: Callable[..., None]) -> Callable[..., None]:
    """Gives a command one option for each parameter in the catalogue. The command takes those that were given
    as `options`: names and values."""
    options = _parameter_options()
    signature = inspect.signature(function)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "options"]

    @functools.wraps(function)
    def command(**arguments: Any) -> None:
        given = {name: arguments.pop(option.name) for name, option in options.items()}
        function(options=[(name, value) for name, value in given.items() if value is not None], **arguments)

    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    command.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*keyword_only, *options.values()]
    )
    command.__annotations__ = {
        **{name: value for name, value in function.__annotations__.items() if name != "options"},
        **{option.name: option.annotation for option in options.values()},
    }
    return command


def parse_number(text: str, what: str, least: int, most: int, written: str | None = None) -> int:
    """One number, such as the value of an option; an error quotes what was `written`."""
    plain = text.strip()
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 20 else None
    if number is None or not least <= number <= most:
        raise RequestError(f"{what} must be a whole number from {least} to {most}, not '{written or text}'")
    return number


def parse_numbers(text: str, what: str, least: int, most: int) -> list[int]:
    """Numbers from "8", "1-64" or "2,4,8-16", each once, in order."""
    numbers: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-") if "-" in part else (part, "", part)
        ends = tuple(parse_number(end, what, least, most, part or text) for end in (first, last))
        if ends[0] > ends[1]:
            raise RequestError(f"{what} '{part}' is empty; write the smaller number first, as in 1-64")
        numbers.update(range(ends[0], ends[1] + 1))
    return sorted(numbers)


MOST_ROUNDS = (1 << 31) - 1


def parse_arrivals(text: str, procs: int) -> list[int]:
    """A forecast: for each rank, in how many rounds after the earliest it comes."""
    arrivals = [parse_number(part, "an arrival in --arrivals", 0, MOST_ROUNDS) for part in text.split(",")]
    if len(arrivals) != procs:
        raise RequestError(
            f"--arrivals needs one number for each of the {procs} processes, as in "
            f"{','.join(['2', *['0'] * min(procs - 1, 3)])}; '{text}' has {len(arrivals)}"
        )
    return arrivals


def check_collective(name: str) -> str:
    """The collective's name in its proper form."""
    proper = name.replace("-", "_")
    if proper not in _core.collectives():
        raise RequestError(_core.no_such("collective", name, _core.collectives()))
    return proper
