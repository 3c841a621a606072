# SPDX-License-Identifier: BSD-3-Clause
"""JSON with the line of every value. (The reader of all other files has no lines.)"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from convene.base import jsons

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


@dataclass
class Node:
    """A value: the members of an object in order, with repeated names; items of a list; or a plain value."""

    line: int
    kind: str  # object, list, text, number, other
    value: Any = None
    members: list[tuple[str, "Node"]] = field(default_factory=list)
    items: list["Node"] = field(default_factory=list)

    def find(self, name: str) -> "Node | None":
        """The last member of this name, as in most readers."""
        return next((node for key, node in reversed(self.members) if key == name), None)


class _Tokens:
    def __init__(self, text: str) -> None:
        self.line = 1
        self.text = text
        self.at = 0

    def next(self) -> str:
        found = TOKEN.search(self.text, self.at)
        assert found is not None  # the text is JSON
        self.line += self.text.count("\n", self.at, found.start())
        self.at = found.end()
        return found[0]


def parse(text: str, origin: str) -> Node:
    """Raises RequestError if the text is not JSON."""
    jsons.parse(text, origin)
    tokens = _Tokens(text)
    return _value(tokens, tokens.next())


def _value(tokens: _Tokens, token: str) -> Node:
    line = tokens.line
    if token == "{":
        return _object(tokens, line)
    if token == "[":
        node, token = Node(line, "list"), tokens.next()
        while token != "]":
            node.items.append(_value(tokens, token))
            token = tokens.next()
            token = tokens.next() if token == "," else token
        return node
    plain = json.loads(token)
    is_number = isinstance(plain, int | float) and not isinstance(plain, bool)
    kind = "text" if isinstance(plain, str) else "number" if is_number else "other"
    return Node(line, kind, jsons.printable(plain) if isinstance(plain, str) else plain)


def _object(tokens: _Tokens, line: int) -> Node:
    node, token = Node(line, "object"), tokens.next()
    while token != "}":
        name = jsons.printable(json.loads(token))
        tokens.next()  # the colon
        node.members.append((name, _value(tokens, tokens.next())))
        token = tokens.next()
        token = tokens.next() if token == "," else token
    return node
