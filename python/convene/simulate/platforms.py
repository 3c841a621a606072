# SPDX-License-Identifier: BSD-3-Clause
"""Platforms of simulations: those shipped with Convene, and files."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from convene import _core
from convene._core import RequestError
from convene.base import jsons, paths
from convene.base.core_types import SimulatedMachine

PLATFORMS = paths.PACKAGE / "machines"


@dataclass(frozen=True)
class Platform:
    """A platform's text and its file."""

    text: str
    file: str

    @cached_property
    def parsed(self) -> _core.SimulatedPlatform:
        """The platform as the simulator takes it, read once."""
        return _core.SimulatedPlatform(self.text, self.file)

    @cached_property
    def machine(self) -> SimulatedMachine:
        return self.parsed.facts()

    @property
    def name(self) -> str:
        return self.machine["name"]

    @property
    def description(self) -> str:
        return str(json.loads(self.text).get("description", ""))

    @property
    def nodes(self) -> int:
        return self.machine["nodes"]

    @property
    def cores(self) -> int:
        return self.machine["cores"]

    def with_fields(self, fields: dict[str, Any]) -> "Platform":
        """The same with other values of these fields."""
        named = ", ".join(f"{name} {value}" for name, value in fields.items())
        return Platform(json.dumps({**json.loads(self.text), **fields}), f"{self.file} with {named}")

    def with_nodes(self, nodes: int) -> "Platform":
        """The same with another number of nodes on one switch."""
        changed = json.loads(self.text)
        levels = changed["machine"].replace(",", " ").split()
        changed["machine"] = " ".join(
            f"node:{nodes}" if level.startswith("node:") else level for level in levels
        )
        return Platform(json.dumps(changed), f"{self.file} with {nodes} nodes")


def known_platforms() -> list[str]:
    return sorted(path.stem for path in PLATFORMS.glob("*.json"))


def load_platform(name: str) -> Platform:
    """Loads a platform: one shipped with Convene, or a file."""
    path = PLATFORMS / f"{name}.json" if name in known_platforms() else Path(name)
    if path.suffix != ".json" and not path.is_file():
        raise RequestError(_core.no_such("platform", name, known_platforms()) + "; or name a .json file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise RequestError(f"cannot read {path}: {why}") from None
    if '"model"' in text and not is_platform(text):
        raise RequestError(
            f"{path} is a platform for convene predict: it has model parameters, but no links and processors"
        )
    platform = Platform(text, str(path))
    _ = platform.machine  # raises an error for an invalid one
    return platform


def is_platform(text: str) -> bool:
    """Whether a file is meant as a platform of simulations; those of the models are another kind."""
    try:
        value = jsons.parse(text, "")
    except RequestError:
        return False
    return isinstance(value, dict) and "convene_platform" in value
