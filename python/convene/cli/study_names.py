# SPDX-License-Identifier: BSD-3-Clause
"""Names of studies on the command line."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from convene import _core
from convene._core import RequestError
from convene.cli import renamed
from convene.studies import registry

AnyStudy = TypeVar("AnyStudy", bound=registry.Named)


def complete(known: Mapping[str, registry.Named]) -> Callable[[str], list[tuple[str, str]]]:
    return lambda incomplete: [
        (name, study.summary) for name, study in known.items() if name.startswith(incomplete)
    ]


def find(known: Mapping[str, AnyStudy], name: str) -> AnyStudy:
    """The study of this name, which may be an old one."""
    if new := registry.RENAMED.get(name):
        renamed.hint(name, new)
        name = new
    if name not in known:
        raise RequestError(_core.no_such("study", name, list(known)))
    return known[name]
