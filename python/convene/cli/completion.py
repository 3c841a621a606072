# SPDX-License-Identifier: BSD-3-Clause
"""Completion of collectives, algorithms and arrival patterns on the command line."""

import typer

from convene import _core
from convene.base import core_types
from convene.catalogue import algorithms


def complete_collective(incomplete: str) -> list[str]:
    return [name for name in _core.collectives() if name.startswith(incomplete)]


def complete_algorithm(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    # Behind an option that still lacks its value, arguments are words that have no name yet.
    words = [context.params.get("collective"), *context.args]
    given = [str(word).replace("-", "_") for word in words if word]
    collectives = [word for word in given if word in _core.collectives()][:1] or _core.collectives()
    found: dict[str, str] = {}
    for known in algorithms.known_algorithms(collectives):
        if known["name"].startswith(incomplete):
            found.setdefault(known["name"], known["summary"])
    return list(found.items())


def complete_algorithms(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the last name of a list."""
    done, comma, last = incomplete.rpartition(",")
    names = ["all", *(name for name, _ in complete_algorithm(context, last))]
    return [done + comma + name for name in names if name.startswith(last)]


def beginnings_of_arrivals() -> list[tuple[str, core_types.ArrivalKind]]:
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
