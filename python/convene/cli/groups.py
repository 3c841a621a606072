# SPDX-License-Identifier: BSD-3-Clause
"""Option groups: dataclasses whose fields are options of a command."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any, get_args, get_type_hints

from typer.models import OptionInfo


def grouped(function: Callable[..., None]) -> Callable[..., None]:
    """Expands parameters whose type is a dataclass into one option per field, each `Annotated` with
    `typer.Option`. Help has a panel for each group; its title is the docstring up to a colon or period."""
    signature = inspect.signature(function, eval_str=True)
    parameters = signature.parameters.values()
    groups: dict[str, Any] = {
        each.name: each.annotation for each in parameters if dataclasses.is_dataclass(each.annotation)
    }
    flat: list[inspect.Parameter] = []
    for each in parameters:
        flat += options_of(groups[each.name]) if each.name in groups else [as_keyword(each)]

    @functools.wraps(function)
    def command(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        function(**given, **made)

    command.__signature__ = inspect.Signature(flat)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in flat}
    return command


def as_keyword(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def title_of(group: Any) -> str:
    return str(group.__doc__).partition(":")[0].partition(".")[0].strip()


def options_of(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=in_panel(hints[field.name], title_of(group)),
        )
        for field in dataclasses.fields(group)
    ]


def in_panel(annotation: Any, title: str) -> Any:
    """The same option, in the panel of this title unless it names another one."""
    kind, option = get_args(annotation)
    if isinstance(option, OptionInfo) and option.rich_help_panel is None:
        option = copy(option)
        option.rich_help_panel = title
    return Annotated[kind, option]
