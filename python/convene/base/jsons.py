# SPDX-License-Identifier: BSD-3-Clause
"""JSON reader of every file that the command reads: one limit on nesting, one sentence for every fault."""

import json
import re
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

from convene._core import RequestError

DEPTH = 64  # as in src/base/json.hpp
MOST_NUMBER = 1e300
MOST_WHOLE = 1 << 64

Kind = TypeVar("Kind")

# What a file may contain only to change how a terminal shows it; line ends and tabs are text.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MAY_HAVE_CONTROL = re.compile(r"\\u00[01789]|\\[bfr]|[\x7f-\x9f]", re.IGNORECASE)
MAY_HAVE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(RequestError):
    """A text that is not JSON, and where."""

    def __init__(self, sentence: str, *, is_cut: bool = False) -> None:
        super().__init__(sentence)
        self.is_cut = is_cut  # it ends too early


def printable(text: str) -> str:
    """The text with control characters as \\x1b."""
    return CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def why_unreadable(error: OSError | UnicodeDecodeError) -> str:
    """What prevents reading a text, in words."""
    return str(error.strerror) if isinstance(error, OSError) else "it is not UTF-8"


def read_text(path: Path) -> str:
    """A file's text, which is UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {why_unreadable(error)}") from None


def read(path: Path) -> Any:
    """The value in a file. A text's control characters are escaped."""
    return parse(read_text(path), str(path))


def parse(text: str, origin: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg
        what = "is cut off" if is_cut else "is not JSON"
        raise JsonError(
            f"{origin} {what} (line {error.lineno}, column {error.colno})", is_cut=is_cut
        ) from None
    except ValueError as error:
        raise JsonError(f"{origin} is not JSON: {error}") from None
    except RecursionError:
        value = None
    if value is None or is_deeper(value, DEPTH):
        if text.strip() == "null":
            return None
        raise JsonError(f"{origin} is nested too deeply; at most {DEPTH} levels are read")
    if MAY_HAVE_SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise JsonError(f"{origin} has a text that is not UTF-8") from None
    return _escape(value) if MAY_HAVE_CONTROL.search(text) else value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def is_deeper(value: Any, limit: int) -> bool:
    """Whether lists and objects are nested deeper than this."""
    level = [value]
    for _ in range(limit):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
        level = [each for each in inner if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def _escape(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_escape(each) for each in value]
    if isinstance(value, dict):
        return {printable(name): _escape(each) for name, each in value.items()}
    return value


# ------------------------------------------------------------------------------------------------------ shape


def check(value: Any, kind: type[Kind], origin: str) -> Kind:
    """The value as a TypedDict or another type of JSON; throws RequestError with the field that differs.
    Fields that the type does not have are ignored."""
    if fault := fault_of(value, kind):
        raise RequestError(f"{origin}: {fault}")
    return cast(Kind, value)


def fault_of(value: Any, kind: Any, where: str = "") -> str:
    """Where a value is not of this type, and what it is; empty where it is."""
    if kind in (Any, object):
        return ""
    if is_typeddict(kind):
        return _fault_of_object(value, kind, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        found = [fault_of(value, each, where) for each in inner]
        return "" if "" in found else found[0]
    if origin is list:
        return _fault_of_list(value, inner[0], where)
    if origin is tuple:
        if not isinstance(value, list) or len(value) != len(inner):
            return f"{_named(where)} must be a list of {len(inner)}, not {described(value)}"
        pairs = zip(value, inner, strict=True)
        return _first(fault_of(each, kinds, f"{where}[{i}]") for i, (each, kinds) in enumerate(pairs))
    if origin is dict:
        if not isinstance(value, dict):
            return f"{_named(where)} must be an object, not {described(value)}"
        return _first(fault_of(each, inner[1], _below(where, name)) for name, each in value.items())
    return "" if _is_plain(value, kind) else f"{_named(where)} must be {WORDS[kind]}, not {described(value)}"


def _first(faults: Iterable[str]) -> str:
    return next(filter(None, faults), "")


def _fault_of_object(value: Any, kind: Any, where: str) -> str:
    if not isinstance(value, dict):
        return f"{_named(where)} must be an object, not {described(value)}"
    for name, hint in get_type_hints(kind).items():
        if name in value:
            if fault := fault_of(value[name], hint, _below(where, name)):
                return fault
        elif name in kind.__required_keys__:
            return f"{_below(where, name)} is missing"
    return ""


def _fault_of_list(value: Any, kind: Any, where: str) -> str:
    if not isinstance(value, list):
        return f"{_named(where)} must be a list, not {described(value)}"
    if kind in WORDS:  # the bulk of a measurement
        for i, each in enumerate(value):
            if not _is_plain(each, kind):
                return f"{where}[{i}] must be {WORDS[kind]}, not {described(each)}"
        return ""
    return _first(fault_of(each, kind, f"{where}[{i}]") for i, each in enumerate(value))


WORDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", type(None): "null"}


def _is_plain(value: Any, kind: Any) -> bool:
    if kind is float:
        return type(value) in (int, float) and -MOST_NUMBER < value < MOST_NUMBER
    if kind is int:
        return type(value) is int and -MOST_WHOLE < value < MOST_WHOLE
    return type(value) is kind


def _named(where: str) -> str:
    return where or "the file"


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def described(value: Any) -> str:
    """A value in messages."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"
