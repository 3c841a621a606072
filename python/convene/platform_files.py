# SPDX-License-Identifier: BSD-3-Clause
"""Platform files: those that come with Convene, by name, and others, by path."""

from dataclasses import dataclass
from pathlib import Path

from convene import _core, shapes
from convene._core import RequestError

FOLDER = Path(__file__).parent / "platforms"


@dataclass(frozen=True)
class PlatformFile:
    """A platform as text, with where it comes from: that is how it crosses to the models."""

    text: str
    origin: str

    @property
    def facts(self) -> shapes.Platform:
        return _core.platform(self.text, self.origin)


NONE = PlatformFile("", "")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def complete(incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


def load(wanted: str) -> PlatformFile:
    """A file where one of this name is, else the platform of that name."""
    path = Path(wanted)
    if not path.is_file():
        if wanted not in names():
            hint = f"{_core.no_such('platform', wanted, names())}; or give a file"
            raise RequestError(hint)
        path = FOLDER / f"{wanted}.json"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read: {getattr(error, 'strerror', 'it is no text')}") from None
    return PlatformFile(text, wanted)
