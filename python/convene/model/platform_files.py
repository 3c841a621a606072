# SPDX-License-Identifier: BSD-3-Clause
"""Model platforms: those that come with Convene, by name, and files, by path. A platform of convene simulate
gets its parameters from the hardware that it describes."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base import core_types, paths
from convene.model import machine_models
from convene.simulate import platforms

FOLDER = paths.PACKAGE / "platforms"


@dataclass(frozen=True)
class PlatformFile:
    """A platform as text, with its origin for messages."""

    text: str
    origin: str

    @cached_property
    def parsed(self) -> _core.ModelPlatform:
        """The platform as the models take it, read once."""
        return _core.ModelPlatform(self.text, self.origin)

    @property
    def if_given(self) -> _core.ModelPlatform | None:
        return self.parsed if self.text else None

    @cached_property
    def facts(self) -> core_types.Platform:
        return self.parsed.facts()


NONE = PlatformFile("", "")


def with_parameters() -> list[str]:
    """Those whose parameters are known."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def names() -> list[str]:
    return sorted({*with_parameters(), *platforms.known_platforms()})


def complete(incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


def load(wanted: str) -> PlatformFile:
    """A file where one of this name is, else the platform of that name."""
    path = Path(wanted)
    if not path.is_file():
        if wanted not in names():
            hint = f"{_core.no_such('platform', wanted, names())}; or give a file"
            raise RequestError(hint)
        if wanted not in with_parameters():
            return PlatformFile(machine_models.model_platform(platforms.load_platform(wanted).text), wanted)
        path = FOLDER / f"{wanted}.json"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"cannot read {path}: {getattr(error, 'strerror', 'not a text file')}") from None
    if platforms.is_platform(text):
        text = machine_models.model_platform(platforms.load_platform(wanted).text)
    return PlatformFile(text, wanted)
