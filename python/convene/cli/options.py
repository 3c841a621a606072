# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from convene import _core
from convene._core import RequestError
from convene.base import console, parsing
from convene.cli import completion
from convene.mpi import stacks

CHOICES_WIDTH = 20  # of the column of values in --help


def refuse(context: typer.Context, names: Iterable[str], what: str) -> None:
    """Refuses parameters of these names if they were given: they cannot be combined with `what`."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in names and source and source.name == "COMMANDLINE":
            written = parameter.opts[-1] if parameter.param_type_name == "option" else name.upper()
            raise RequestError(f"{written} cannot be combined with {what}; leave it out")


def given(context: typer.Context, name: str) -> Any:
    """The value of this parameter on the command line; None if it has its default."""
    source = context.get_parameter_source(name)
    return context.params[name] if source and source.name == "COMMANDLINE" else None


Collective = Annotated[
    str,
    typer.Argument(
        metavar="COLLECTIVE",
        help="Collective, such as allgather or bcast.",
        autocompletion=completion.complete_collective,
    ),
]

Algorithm = Annotated[
    str,
    typer.Argument(
        metavar="ALGORITHM",
        help="Algorithm, such as sparbit, or with parameters 'sparbit;send=packed'.",
        autocompletion=completion.complete_algorithm,
    ),
]


def complete(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Completion with one of these words."""
    return lambda incomplete: [name for name in known if name.startswith(incomplete)]


def refuse_empty(option: str, text: str | None, example: str) -> None:
    """Refuses an empty value, such as a shell variable that is not set."""
    if text is not None and not text.strip():
        raise RequestError(f"{option} is empty; give a value, as in {option} {example}, or leave it out")


def check_word(option: str, word: str, known: Sequence[str]) -> str:
    if word not in known:
        raise RequestError(f"unknown value '{word}' of {option}; choose {', '.join(known)}")
    return word


def check_root(collective: str, root: str | None, procs: int) -> int:
    """The root of a collective that has one; 0 by default."""
    if root is None:
        return 0
    if not _core.is_rooted(collective):
        raise RequestError(f"{collective} has no root; leave out --root {root}")
    return parsing.parse_number(root, "--root", 0, procs - 1)


def check_output(option: str, path: Path | None, suffix: str) -> None:
    """Refuses a file that cannot be written, before the work starts."""
    if path is None:
        return
    if suffix and path.suffix != suffix:
        raise RequestError(f"{option} {path} must end in {suffix}")
    console.check_file(path)


def choices(words: Iterable[str]) -> str:
    """Values of an option in its help: broken between words where the help's column would break one."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > CHOICES_WIDTH:
            lines.append("")
        lines[-1] += f"{word}|"
    return "\n".join(lines).removesuffix("|")


def stack_option(meaning: str) -> Any:
    """The option --stack with a specific help text."""
    return typer.Option(
        metavar=choices(stacks.STACKS),
        help=meaning,
        autocompletion=complete(stacks.STACKS),
    )


Schedules = Annotated[
    list[Path] | None,
    typer.Option(
        "--schedule",
        metavar="FILE",
        help="Schedule in the JSON of `convene show --format json`; once for each file.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@dataclass(frozen=True)
class Launch:
    """Launch: the MPI that runs the measuring program."""

    launcher: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Launcher of the MPI, with its options. Default: mpirun."),
    ] = None
    stack: Annotated[
        str | None, stack_option("MPI of the program, if the launcher does not determine it.")
    ] = None
