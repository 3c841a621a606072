# SPDX-License-Identifier: BSD-3-Clause
"""Tables and figures of the documentation, made again from the summaries in docs/benchmarks."""

import argparse
import tempfile
from pathlib import Path

from convene import _core

from benchmarks import common
from benchmarks.common import summaries


def outdated(names: list[str]) -> list[str]:
    """The summaries whose table differs from the one in the documentation."""
    found = []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="convene-") as folder:
            copy = Path(folder) / f"{name}.json"
            copy.write_bytes((summaries.DOCS / copy.name).read_bytes())
            summaries.render(copy.parent, name)
            if copy.with_suffix(".inc").read_text() != (summaries.DOCS / f"{name}.inc").read_text():
                found.append(name)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev bench tables", description=(__doc__ or "").strip())
    known = sorted(path.stem for path in summaries.DOCS.glob("*.json"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of them (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a table is outdated")
    options = parser.parse_args()
    names = options.names or known
    for name in names:
        if name not in known:
            raise _core.RequestError(_core.no_such("summary", name, known))
    if options.check:
        if found := outdated(names):
            raise RuntimeError(
                f"{', '.join(found)}: the table differs from its summary; run ./dev bench tables"
            )
        return
    for name in names:
        summaries.render(summaries.DOCS, name)


if __name__ == "__main__":
    common.run(main)
