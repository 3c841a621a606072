# SPDX-License-Identifier: BSD-3-Clause
"""Files of environment variables: NAME=value, export NAME="value", sections in brackets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

ASSIGNED = re.compile(r"\s*(?:export\s+|setenv\s+)?([A-Z][A-Z0-9_]*)\s*[=\s]\s*(.*)")


@dataclass(frozen=True)
class Variable:
    name: str
    value: str
    line: int


def variables(text: str) -> Iterator[Variable]:
    for at, line in enumerate(text.split("\n"), start=1):
        found = ASSIGNED.fullmatch(line.rstrip())
        if not found or line.lstrip().startswith(("#", "//")):
            continue
        value = found[2].strip()
        if value[:1] in ("'", '"'):
            value = value[1:].partition(value[0])[0]
        yield Variable(found[1], value, at)
