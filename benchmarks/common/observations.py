# SPDX-License-Identifier: BSD-3-Clause
"""Observations of a benchmark that can be resumed."""

import json
from pathlib import Path
from typing import Any


class Observations:
    """All runs so far, in a file: a later run with the same key (options, libraries) continues it."""

    def __init__(self, path: Path, key: str) -> None:
        self.path = path
        kept = json.loads(path.read_text()) if path.is_file() else {}
        same = kept.get("key") == key
        self.data: dict[str, Any] = kept if same else {"key": key, "runs": {}}

    def runs(self, name: str) -> list[Any]:
        """Those of one program. The list may be appended to."""
        own: list[Any] = self.data["runs"].setdefault(name, [])
        return own

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.data))
        part.rename(self.path)
