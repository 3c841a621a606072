# SPDX-License-Identifier: BSD-3-Clause
"""Results of benchmarks in the documentation: small summaries, and tables that are made from them."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from convene.plots import compact_svg

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted((ROOT / "docs" / "benchmarks").glob("*.json"))
FIGURES = sorted((ROOT / "docs" / "benchmarks").glob("*.svg"))
MOST_BYTES = 50_000
MOST_BYTES_OF_FIGURE = 115_000


@pytest.fixture
def summaries(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.common.summaries")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_summary_is_small_and_states_its_origin(path: Path) -> None:
    assert path.stat().st_size <= MOST_BYTES
    summary = json.loads(path.read_text())
    assert set(summary) == {"benchmark", "commit", "command", "machine", "result"}
    assert (ROOT / "benchmarks" / f"{summary['benchmark']}.py").is_file()
    assert summary["commit"]
    assert summary["command"].startswith(f"./dev bench {summary['benchmark']}")
    assert summary["machine"]["date"]


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_figures_are_small(path: Path) -> None:
    assert path.stat().st_size <= MOST_BYTES_OF_FIGURE


def test_tables_are_made_from_summaries() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tables", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_records_are_written_as_a_table(summaries: Any) -> None:
    value = {
        "cells": [{"name": "ring", "seconds": [1.5, 2]}, {"name": "bruck", "seconds": [3]}],
        "one": [{"name": "ring"}],
        "differ": [{"a": 1}, {"b": 2}],
        "parts": {"low": 1.0},
    }
    packed = summaries.packed(value)
    assert packed["cells"] == {"columns": ["name", "seconds"], "rows": [["ring", [1.5, 2]], ["bruck", [3]]]}
    assert json.loads(summaries.as_lines(packed)) == packed
    assert summaries.unpacked(packed) == value


def test_numbers_have_as_many_digits_as_the_table_needs(
    summaries: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = summaries.Report(lambda result: f"{result['ratio']:.2f} {result['seconds']:.1e}\n")
    monkeypatch.setattr(summaries, "report_of", lambda _benchmark: report)
    summary = summaries.summary_of("none", {"ratio": 0.94500000001, "seconds": 1.23456789e-6})
    assert len(summary["commit"]) >= 12
    summaries.write(tmp_path, "small", summary)
    result = summaries.read(tmp_path / "small.json")["result"]
    assert (tmp_path / "small.inc").read_text() == f"{0.94500000001:.2f} 1.2e-06\n"
    assert result["seconds"] == float(f"{1.23456789e-6:.17g}")


def test_a_large_summary_is_refused(summaries: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "report_of", lambda _benchmark: summaries.Report(lambda _result: ""))
    large = summaries.summary_of("none", {"observed": list(range(20_000))})
    with pytest.raises(RuntimeError, match="a summary has at most 50000"):
        summaries.write(tmp_path, "large", large)
    assert not list(tmp_path.iterdir())


def test_compact_figures_have_short_identifiers() -> None:
    svg = (
        '<path id="m0123456789" d=""/><use xlink:href="#m0123456789"/>'
        '<clipPath id="pabcdef0123"/><g clip-path="url(#pabcdef0123)"/>'
    )
    assert compact_svg.compact(svg) == (
        '<path id="m0" d=""/><use xlink:href="#m0"/><clipPath id="p1"/><g clip-path="url(#p1)"/>\n'
    )


def test_compact_figures_are_the_same_picture() -> None:
    svg = (
        '<svg>\n  <g id="axes_1">\n   <defs>\n    <path id="m1" d="M 0 0\nL 2 0" '
        'style="stroke: red"/></defs>\n'
        '   <use xlink:href="#m1" x="1.23456" y="2.000001" style="stroke: red"/>\n'
        '   <use xlink:href="#m1" x="1" y="2" style="stroke: blue"/>\n'
        "   <text style=\"font: 10px 'DejaVu Sans', 'Arial', sans-serif\">0.12345</text>\n  </g>\n</svg>\n"
    )
    assert compact_svg.compact(svg) == (
        '<svg>\n<g>\n<defs>\n<path id="m1" d="M 0 0\nL 2 0" style="stroke: red"/></defs>\n'
        '<use xlink:href="#m1" x="1.23" y="2"/>\n<use xlink:href="#m1" x="1" y="2" style="stroke: blue"/>\n'
        "<text style=\"font: 10px 'DejaVu Sans', sans-serif\">0.12345</text>\n</g>\n</svg>\n"
    )
