# SPDX-License-Identifier: BSD-3-Clause
"""convene report on simulations: exact times, ties and single observations."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.all  # pages with many pictures


Convene = Any


def save(path: Path, result: dict[str, Any]) -> Path:
    path.write_text(json.dumps(result))
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def simulated(times: dict[str, float], arrivals: str = "none", noise: str = "none") -> dict[str, Any]:
    """A simulation of one observation, as of convene simulate sweep -o."""
    contenders = [{"name": name, "seconds": [time], "mean": [time]} for name, time in times.items()]
    return {
        "format": 1,
        "simulated": True,
        "metric": "run_time",
        "environment": {"mpi": "builtin of Convene", "cores": 64, "hosts": ["16 nodes"]},
        "collective": "allgather",
        "procs": 8,
        "options": {"arrivals": arrivals, "noise": noise},
        "sizes": [
            {"bytes": size, "arrivals": arrivals, "calls": 1, "contenders": contenders} for size in (8, 64)
        ],
    }


EXACT = {"ring": 2e-6, "sparbit": 2e-6 * (1 + 1e-15), "bruck": 4e-6}


def page_of(convene: Convene, folder: Path, *results: dict[str, Any]) -> str:
    """The page without the style sheet."""
    paths = [save(folder / f"run{place}.json", result) for place, result in enumerate(results)]
    done = convene("report", *paths, "-o", folder / "page.html", "--files", folder / "files")
    assert done.status == 0, done
    return re.sub(r"(?s)<style.*?</style>", "", (folder / "page.html").read_text())


def test_noiseless_simulations_are_no_samples(convene: Convene, tmp_path: Path) -> None:
    page = page_of(convene, tmp_path, simulated(EXACT))
    assert "?" not in page
    for words in ("95 %", "How good the samples are", "observation", "edian", "interval", "0 %"):
        assert words not in page, words
    assert "capsize" not in page
    assert 'id="LineCollection' not in page  # error bars
    assert "Several algorithms were equally fast in 2 of 2 cases, with ring among them in 2." in page
    assert "equally fast</text>" in page
    assert not (tmp_path / "files" / "samples.csv").exists()
    (first, _) = read_csv(tmp_path / "files" / "winners.csv")
    assert (first["fastest"], first["second"], first["gain"]) == ("ring = sparbit", "bruck", "0.5")
    assert "p" not in first
    assert list(read_csv(tmp_path / "files" / "times.csv")[0])[-2:] == ["algorithm", "time (s)"]


def test_leads_of_rounded_events_are_ties(convene: Convene, tmp_path: Path) -> None:
    page = page_of(convene, tmp_path, simulated({"ring": 2e-6, "sparbit": 2e-6 * (1 + 3e-8)}))
    assert "equally fast" in page


def test_small_leads_are_no_ties(convene: Convene, tmp_path: Path) -> None:
    page = page_of(convene, tmp_path, simulated({"ring": 2e-6, "sparbit": 2e-6 * (1 + 1e-5)}))
    assert (
        "ring was the fastest in 2 of 2 cases, there ahead of the second by below 0.1 % of its time" in page
    )
    assert ">below 0.1 %</text>" in page
    assert "equally fast" not in page


@pytest.mark.parametrize("options", [{"noise": "exponential:1us"}, {"arrivals": "uniform:1ms"}])
def test_one_draw_is_not_exact(convene: Convene, tmp_path: Path, options: dict[str, str]) -> None:
    page = page_of(convene, tmp_path, simulated(EXACT, **options))
    assert "There is one observation of each; significance cannot be tested." in page
    assert "each time is exact" not in page


def test_two_noiseless_simulations(convene: Convene, tmp_path: Path) -> None:
    other = simulated({**EXACT, "bruck": 2e-6})
    page = page_of(convene, tmp_path, simulated(EXACT), other)
    assert (
        "Of 6 pairs (case and algorithm), run1 is faster than run0 in 2 and slower in 0; in 4 both are"
        in page
    )
    for words in ("beyond chance", "95 %", "edian", "measured at different times", "difference to be seen"):
        assert words not in page, words
    rows = read_csv(tmp_path / "files" / "1-comparison.csv")
    assert [row["second is"] for row in rows[:3]] == ["equally fast", "equally fast", "faster"]
    assert float(rows[2]["run1 (s)"]) == 2e-6
