# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx extension: writes the pages that are generated from the code before Sphinx reads pages."""

from pathlib import Path
from typing import Any

import algorithm_pages
import c_api_page
import command_line_page
import cost_model_table
import environment_check
import pages
from sphinx.application import Sphinx

# Pictures for other pages than the algorithms' own: name, then the arguments of convene show (of allgather,
# if they do not say).
PICTURES: dict[str, dict[str, Any]] = {
    "sparbit-8-rings": {"spec": "sparbit", "procs": 8, "rings": True},
    "sparbit-8-nodes": {"spec": "sparbit", "procs": 8, "machine": "node:2 core:4", "placement": "sequential"},
    "hier-8-nodes": {
        "spec": "hier(sparbit,linear;leaders=2)",
        "procs": 8,
        "machine": "node:2 core:4",
        "placement": "sequential",
    },
    "ring-8-cyclic": {"spec": "ring", "procs": 8, "machine": "node:2 core:4", "placement": "cyclic"},
    "remap-8-cyclic": {"spec": "remap(ring)", "procs": 8, "machine": "node:2 core:4", "placement": "cyclic"},
    "bcast-shared-5": {"collective": "bcast", "spec": "shared;segments=2", "procs": 5},
    "bruck-8-nodes": {"spec": "bruck", "procs": 8, "machine": "node:2 core:4", "placement": "sequential"},
}


def write_all(app: Sphinx) -> None:
    docs = Path(app.srcdir)
    for name, arguments in PICTURES.items():
        pages.write(
            docs / "pictures" / f"{name}.svg", pages.picture(**{"collective": "allgather"} | arguments)
        )
    algorithm_pages.write(docs / "algorithms")
    cost_model_table.write(docs / "reference" / "cost-models.inc")
    command_line_page.write(docs / "reference" / "command-line.md")
    header = docs.parent / "include" / "convene" / "convene.h"
    c_api_page.write(header, docs / "reference" / "c-api.md")
    environment_check.check(docs.parent / "src", docs / "reference" / "environment.md")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
