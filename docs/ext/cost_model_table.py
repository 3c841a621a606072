# SPDX-License-Identifier: BSD-3-Clause
"""The table of cost models, from their descriptors."""

from pathlib import Path

import pages
from convene import _core


def write(path: Path) -> None:
    heads = ("model", "a message of m bytes", "processor, sender and receiver", "port is kept for", "source")
    rows = [
        (f"`{model['name']}`", model["message"], model["processor"], model["port"], model["source"])
        for model in _core.cost_models()
    ]
    pages.write(path, pages.table(heads, rows))
