# SPDX-License-Identifier: BSD-3-Clause
"""Mutations of a file's bytes: of the JSON value in it, or of the bytes as they are."""

import copy
import json
import random
from typing import Any

ODD_VALUES: list[Any] = [
    *(None, True, False, "", "x", "1", "ä\n", [], {}, [[]], {"": None}, [None]),
    *(0, -1, 1, 3, 1.5, -0.5, 2**31, 2**63, 2**64, -(2**63), 10**30, 1e308, -1e308, 1e-320),
    *(float("nan"), float("inf"), -float("inf"), "1e999", "NaN", "9" * 400, "a" * 5000),
]


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every container with a key or index in it."""
    found: list[tuple[Any, Any]] = []
    inside: list[Any] = [value]
    while inside:
        each = inside.pop()
        items = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, list) else ()
        for key, item in items:
            found.append((each, key))
            inside.append(item)
    return found


def mutate_value(value: Any, choose: random.Random) -> Any:
    """A JSON value with one thing replaced, removed, repeated or moved."""
    value = copy.deepcopy(value)
    places = nodes(value)
    if not places or choose.random() < 0.02:
        return choose.choice(ODD_VALUES)
    parent, key = choose.choice(places)
    other, other_key = choose.choice(places)
    way = choose.randrange(6)
    if way <= 2:
        parent[key] = choose.choice(ODD_VALUES)
    elif way == 3:
        del parent[key]
    elif way == 4:
        parent[key] = copy.deepcopy(other[other_key])
    elif isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    else:
        parent[f"{key}_"] = parent.pop(key)
    return value


def mutate_bytes(data: bytes, choose: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(choose.choice((1, 1, 2, 8))):
        at = choose.randrange(len(changed) + 1)
        way = choose.randrange(5)
        if way == 0:
            del changed[at:]
        elif way == 1:
            del changed[at : at + choose.choice((1, 2, 8, 24))]
        elif way == 2:
            changed[at:at] = choose.choice(
                (b"\0", b"\xff", b"\n", b'"', b"{", b"[", b"-", b"9" * 30, b"\xef\xbb\xbf")
            )
        elif at < len(changed):
            changed[at] = choose.randrange(256) if way == 3 else changed[at] ^ (1 << choose.randrange(8))
    return bytes(changed)


def mutate(data: bytes, choose: random.Random) -> bytes:
    """One to three mutations. A first line of JSON may have other bytes behind it."""
    head, line_end, rest = data.partition(b"\n")
    for text, tail in ((data, b""), (head, line_end + rest)):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        if choose.random() < 0.25:
            break
        for _ in range(choose.choice((1, 1, 2, 3))):
            value = mutate_value(value, choose)
        return json.dumps(value).encode() + tail
    return mutate_bytes(data, choose)
