# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts of `./dev bench decide`: limits, failing and undecided cells, means, and a small summary."""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.common.decide_tables")


def start(ratio: float, *, native: float, noise: float, size: int, seed: int) -> dict[str, Any]:
    """What the program prints for one size and method."""
    random = np.random.default_rng(seed)

    def times(factor: float) -> list[float]:
        return [float(each) for each in native * factor * np.exp(random.normal(0, noise, 31))]

    tables = {"native": times(1), "program": times(ratio), "control": times(1), "line": [5e-8] * 31}
    choice = {"algorithm": "ring" if ratio < 1 else "native", "reason": "default"}
    return {"collective": "bcast", "bytes": size, "method": "fixed", "calls": 8, **choice, **tables}


def cell(tables: Any, ratio: float, **others: Any) -> Any:
    given = {"native": 10e-6, "noise": 0.01, "size": 1024, "stack": "openmpi4", "mode": "wisdom", **others}
    stack, mode = given.pop("stack"), given.pop("mode")
    starts = [start(ratio, seed=seed, **given) for seed in (1, 2)]
    return tables.Observed(stack, 2, mode, "bcast", starts)


def test_the_limit_is_higher_for_short_calls(tables: Any) -> None:
    def limit(**others: Any) -> float:
        return float(cell(tables, 1.0, **others).limit())

    assert limit(native=10e-6) == 1.03
    assert limit(native=100e-9) == pytest.approx(1.2, abs=0.01)
    assert limit(native=100e-9, stack="mpich5") == pytest.approx(1.8, abs=0.02)


def test_slow_cells_fail_and_noisy_ones_are_undecided(tables: Any) -> None:
    cells = [
        cell(tables, 1.0, size=8),
        cell(tables, 1.1, size=16),
        cell(tables, 0.5, size=32),
        cell(tables, 1.0, size=64, noise=0.5),
        cell(tables, 1.1, size=128, native=100e-9),  # within 20 ns
    ]
    result = tables.summary(cells, [])
    assert result["failing"] == ["openmpi4, 2 ranks, wisdom: bcast, 16 B, fixed"]
    assert result["undecided"] == ["openmpi4, 2 ranks, wisdom: bcast, 64 B, fixed"]
    assert dict(tables.verdicts(result))["cells above the limit: 1 of 5"] is False
    (group,) = result["groups"]
    assert (group["cells"], group["not_native"], group["failing"], group["undecided"]) == (5, 1, 1, 1)
    text = tables.markdown(result)
    assert "| openmpi4 | 2 | wisdom | bcast | 16 B | fixed | `native` | 1.09" in text
    assert "32 B" not in text


def test_means_are_of_short_vectors_by_group(tables: Any) -> None:
    cells = [
        cell(tables, 0.5, stack="mpich5"),
        cell(tables, 0.5, stack="mpich5", size=1 << 20),
        cell(tables, 2.0, stack="mpich5", size=4 << 20),
        cell(tables, 0.8, stack="mpich5", mode="learning"),
    ]
    result = tables.summary(cells, [])
    wisdom, learning = result["groups"]
    assert wisdom["mean"] == pytest.approx(0.5, rel=0.02)
    assert learning["mean"] == pytest.approx(0.8, rel=0.02)
    assert wisdom["control_mean"] == pytest.approx(1, abs=0.02)
    met = [met for text, met in tables.verdicts(result) if "mpich5, 2 ranks, wisdom" in text]
    assert met == [True]  # 0.55
    assert not any("learning" in text for text, _ in tables.verdicts(result))


def test_a_whole_grid_is_a_small_summary(tables: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables.ratios, "TRIALS", 2)
    summaries = importlib.import_module("benchmarks.common.summaries")
    cells = [cell(tables, 1.0, size=8 * size) for size in range(1, 200)]
    result = tables.summary(cells, [])
    assert len(result["rows"]) == tables.MOST_ROWS
    text = summaries.as_lines(summaries.packed(summaries.rounded(result, 6)))
    assert len(text.encode()) < summaries.MOST_BYTES
    json.dumps(result)
