# SPDX-License-Identifier: BSD-3-Clause
"""convene report: what the page says about made-up measurements of which the truth is known, and that it can
be opened."""

import csv
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pytest
from convene.bench import metrics
from convene.bench.report import sketches, tables, winner_figures
from convene.bench.report.measured import Measured
from convene.stats import inference

pytestmark = pytest.mark.all  # pages with many pictures

Convene = Any

TIMES = {"native": 10e-6, "ring": 12e-6, "sparbit": 8e-6}
DELAY = 500_000


def contender(name: str, seconds: float, pattern: str, procs: int, random: Any) -> dict[str, Any]:
    """20 observations; the last rank late by DELAY nanoseconds, where any is."""
    wanted = np.zeros((20, procs))
    if pattern != "none":
        wanted[:, -1] = DELAY
    arrival = wanted + random.integers(0, 200, wanted.shape)
    took = 1e9 * seconds * np.exp(random.normal(0, 0.02, (20, 1)))
    leaving = arrival.max(axis=1, keepdims=True) + np.repeat(took, procs, axis=1)
    return {
        "name": name,
        "seconds": ((leaving - arrival).max(axis=1) * 1e-9).tolist(),
        "arrival": arrival.astype(int).tolist(),
        "exit": leaving.astype(int).tolist(),
        **({} if pattern == "none" else {"wanted": wanted.astype(int).tolist()}),
        "processor_seconds": [seconds] * procs,
        "voluntary_switches": [0.0] * procs,
        "involuntary_switches": [0.5] * procs,
    }


def measurement(factor: float = 1.0, collective: str = "allgather", seed: int = 1) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    runs = []
    for procs in (2, 4):
        sizes = [
            {
                "bytes": size,
                "arrivals": pattern,
                "calls": 1,
                "load": ["0.1 1 1 1/9 7"] * 2,
                "clock": {"error": [0.0] * procs, "shared": [True] * procs},
                "contenders": [
                    contender(name, factor * (1 + size / 4096) * time, pattern, procs, random)
                    for name, time in TIMES.items()
                ],
            }
            for size in (8, 4096)
            for pattern in ("none", "late:last:500us")
        ]
        environment = {"mpi": "Some MPI 1.0, of <today>", "cores": 4, "hosts": ["here"], "processor": "P & Q"}
        runs.append(
            {
                "procs": procs,
                "environment": environment,
                "options": {"distribution": "regular"},
                "sizes": sizes,
            }
        )
    return {"format": 2, "collective": collective, "metric": "last_exit", "against": ["native"], "runs": runs}


def save(path: Path, result: dict[str, Any]) -> Path:
    path.write_text(json.dumps(result))
    return path


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inference, "RESAMPLES", 999)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Links(HTMLParser):
    """Everything that a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.found += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]


def test_the_page_says_what_is_true(convene: Convene, tmp_path: Path) -> None:
    """Sparbit takes 8 where the second takes 10, in all 8 cases."""
    path = save(tmp_path / "run.json", measurement())
    done = convene("report", path)
    assert done.status == 0, done
    page = (tmp_path / "run.html").read_text()
    assert "All at once: sparbit was the fastest in 4 of 4 cases" in page
    gain = re.search(r"ahead of the second by (\d+) %", page)
    assert gain
    assert 17 <= int(gain[1]) <= 23
    assert "In 8 of 8 cases the first is faster than the second beyond chance" in page
    assert "Allgather with blocks of 8 B to 4 KiB (2 sizes)" in page
    assert "Some MPI 1.0" in page
    assert "P &amp; Q" in page
    links = Links()
    links.feed(page)
    assert links.scripts == 0
    assert all(link.startswith(("#", "data:")) for link in links.found)
    assert "In 8 of 8" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--arrivals", "uniform:1ms", "--repetitions", 5), "with late ranks (uniform:1ms)"),
        (("--noise", "pareto:2us:1.5", "--repetitions", 5), "5 observations of each"),
        ((), "Simulated without noise: each time is exact"),
    ],
)
def test_simulations_have_pages_too(
    convene: Convene, tmp_path: Path, words: tuple[object, ...], said: str
) -> None:
    path = tmp_path / "run.json"
    names = ("--platform", "yahoo", "-p", 8, "--sizes", "8,4KiB", "--algorithms", "ring,sparbit")
    assert convene("simulate", "sweep", "allgather", *names, *words, "-o", path).status == 0
    done = convene("report", path)
    assert done.status == 0, done
    assert done.err == ""
    page = (tmp_path / "run.html").read_text()
    assert said in page
    assert "simulated platform yahoo" in page
    assert "shared" not in done.out  # there is a core for each rank


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["runs"], [], "it has no runs"),
        (["runs"], 5, "runs must be a list, not 5"),
        (["runs", 0, "environment"], None, "runs[0].environment is missing"),
        (["runs", 0, "procs"], -1, "runs[0].procs must be from 1 to"),
        (["runs", 0, "sizes"], [], "runs[0] has no sizes"),
        (["runs", 0, "sizes", 0, "contenders"], [], "runs[0].sizes[0] has no contenders"),
        (["runs", 0, "sizes", 0, "load"], [], "runs[0].sizes[0].load must have two texts"),
        (["runs", 0, "sizes", 0, "contenders", 0, "seconds"], [], "as many observations as the first"),
        (
            ["runs", 0, "sizes", 0, "contenders", 0, "seconds"],
            "x",
            'runs[0].sizes[0].contenders[0].seconds must be a list, not "x"',
        ),
        (["runs", 0, "environment", "mpi"], {}, "runs[0].environment.mpi must be a text, not an object"),
        (["runs", 0, "sizes", 0, "contenders", 0, "arrival"], [[1]], "contenders[0].arrival must have"),
    ],
)
def test_a_damaged_file_is_refused(
    convene: Convene, tmp_path: Path, path: list[str | int], value: Any, said: str
) -> None:
    result = measurement()
    at: Any = result
    for step in path[:-1]:
        at = at[step]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    done = convene("report", save(tmp_path / "run.json", result))
    assert said in done.complaint
    assert not (tmp_path / "run.html").exists()


def test_figures_and_tables_as_files(convene: Convene, tmp_path: Path) -> None:
    path = save(tmp_path / "run.json", measurement())
    folder = tmp_path / "files"
    assert convene("report", path, "--files", folder).status == 0
    figures = {file.stem.removeprefix("1-") for file in folder.glob("*.svg")}
    assert figures >= {
        "absorption",
        "execution",
        "imbalance",
        "variation",
        "sample",
        "ranks-none",
        "gains-none",
    }
    for file in folder.glob("*.svg"):
        assert ElementTree.parse(file).getroot().tag.endswith("svg")
        assert file.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
    rows = read_csv(folder / "times.csv")
    assert len(rows) == 2 * 2 * 2 * 3
    assert {row["algorithm"] for row in rows} == set(TIMES)
    wins = {row["algorithm"]: row for row in read_csv(folder / "wins.csv")}
    assert wins["sparbit"]["all three"] == "8"
    assert wins["native"]["mean"] == "0"
    lateness = [row["median lateness (s)"] for row in read_csv(folder / "arrivals.csv")]
    assert len(lateness) == 4
    assert all(50e-9 < float(text) < 150e-9 for text in lateness)


def test_two_files_side_by_side(convene: Convene, tmp_path: Path) -> None:
    before = save(tmp_path / "before.json", measurement(seed=1))
    after = save(tmp_path / "after.json", measurement(1.2, seed=2))
    page = tmp_path / "both.html"
    assert convene("report", before, after, "-o", page, "--metric", "last_exit").status == 0
    text = page.read_text()
    assert "Of 24 pairs (case and algorithm), after is faster than before in 0 and slower in 24" in text
    ratio = re.search(r"geometric mean of the ratios of medians is (\d\.\d+)", text)
    assert ratio
    assert 1.17 < float(ratio[1]) < 1.23
    same = save(tmp_path / "same.json", measurement(seed=3))
    assert convene("report", before, same, "-o", page).status == 0
    found = re.search(r"is faster than before in (\d+) and slower in (\d+)", page.read_text())
    assert found
    assert int(found[1]) + int(found[2]) <= 3


def test_files_of_the_older_form(convene: Convene, tmp_path: Path) -> None:
    """One run, only the slowest rank's seconds."""
    old = {
        "format": 1,
        "collective": "allgather",
        "procs": 2,
        "environment": {"mpi": "Old MPI", "cores": 2, "hosts": ["here"]},
        "options": {},
        "sizes": [
            {
                "bytes": 8,
                "load": ["0 1", "0 1"],
                "contenders": [
                    {"name": "ring", "seconds": [1.0, 1.1, 1.2]},
                    {"name": "native", "seconds": [2.0] * 3},
                ],
            }
        ],
    }
    path = save(tmp_path / "old.json", old)
    assert convene("report", path).status == 0
    assert "ring was the fastest in 1 of 1 cases" in (tmp_path / "old.html").read_text()
    assert (
        "the metric osu needs the times of every rank" in convene("report", path, "--metric", "osu").complaint
    )


def test_wrong_requests(convene: Convene, tmp_path: Path) -> None:
    good = save(tmp_path / "good.json", measurement())
    other = save(tmp_path / "other.json", measurement(collective="bcast"))
    cut = tmp_path / "cut.json"
    cut.write_text(good.read_text()[:1000])
    assert "is cut off" in convene("report", cut).complaint
    assert "cannot be read" in convene("report", tmp_path / "none.json").complaint
    assert "not of allgather and bcast" in convene("report", good, other).complaint
    assert "one or two files, not 3" in convene("report", good, good, good).complaint
    assert "-o x.pdf must end in .html" in convene("report", good, "-o", "x.pdf").complaint
    assert "does not exist" in convene("report", good, "-o", tmp_path / "no/x.html").complaint
    assert "did you mean osu" in convene("report", good, "--metric", "oso").complaint


ENOUGH_CONTRAST = 4.5  # of text and what is under it: WCAG 2.2, level AA

# Says at the end of the page how large things came out, and which text is the hardest to read.
PROBE = (Path(__file__).parent / "probe.html").read_text()
FRAME = """<!doctype html><body style="margin:0">
<iframe src="probed.html" style="border:0;width:{width}px;height:900px"></iframe>"""


@pytest.mark.sampled(default=1, all=2)
@pytest.mark.parametrize("width", [2000, 1300, 400])
def test_a_browser_shows_it(convene: Convene, tmp_path: Path, width: int) -> None:
    """On a desk and on a phone: nothing sticks out, all figures are there and whole, and can be read."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium")
    page = tmp_path / "run.html"
    assert convene("report", save(tmp_path / "run.json", measurement()), "-o", page).status == 0
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
    frame = tmp_path / "frame.html"  # windows have a least width, frames have none
    frame.write_text(FRAME.format(width=width))
    done = subprocess.run(
        [
            *(
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={tmp_path / 'profile'}",
                "--allow-file-access-from-files",
            ),
            *("--window-size=2100,900", "--virtual-time-budget=5000", "--dump-dom", f"file://{frame}"),
        ],
        capture_output=True,
        text=True,
        timeout=400,
        check=True,
    )
    assert "data-error" not in done.stdout.split("<body", 1)[1][:200]
    received = re.search(r'data-found="([^"]*)"', done.stdout)
    assert received, done.stderr[-500:]
    found = json.loads(received[1].replace("&quot;", '"'))
    assert found["window"] == width
    assert found["page"] <= found["window"]
    assert found["figures"] == page.read_text().count("<svg ") > page.read_text().count("<figure ")
    assert found["narrowest"] > 40  # an entry of a legend
    assert found["cropped"] == 0
    assert found["texts"] > 5
    assert found["faintest"] >= ENOUGH_CONTRAST, found["faintest_text"]


def test_error_bars_are_those_of_samples(convene: Convene, tmp_path: Path) -> None:
    """Simulations have none: test_bench_report_exact.py."""
    run, page = save(tmp_path / "run.json", measurement()), tmp_path / "page.html"
    assert convene("report", run, "-o", page, "--files", tmp_path / "files").status == 0
    assert 'id="LineCollection' in page.read_text()
    assert "95 % intervals" in page.read_text()
    assert (tmp_path / "files" / "samples.csv").exists()


def test_many_algorithms_look_different() -> None:
    names = [f"a{i}" for i in range(30)]
    measured = cast("Measured", SimpleNamespace(algorithms=["native", *names]))
    assert len({tuple(sketches.look(measured, name).values()) for name in names}) == 30


def test_names_in_cells_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    long = "hier(sparbit,linear;leaders=2)"
    monkeypatch.setitem(TIMES, long, 2e-6)
    measured = Measured("run", cast(Any, measurement()), metrics.find_metric("last_exit"))
    wins = {(win.case.procs, win.case.size): win for win in measured.wins}
    drawing = winner_figures.draw_map(measured, wins)
    (axes,) = drawing.axes
    drawing.canvas.draw()
    cell = axes.patches[0].get_window_extent()
    for text in axes.texts:
        assert text.get_text().replace("\n", "").startswith(long)
        assert text.get_window_extent().width <= cell.width
        assert text.get_window_extent().height <= cell.height


def test_csv_has_plain_numbers() -> None:
    rows: list[list[str | tables.Seconds]] = [["8", tables.Seconds(1.5e-6)], ["16", ""]]
    table = tables.Table("x", "X", ["bytes", "time"], rows)
    assert table.csv == "bytes,time (s)\n8,1.5e-06\n16,\n"
    assert str(rows[0][1]) == "1.5 µs"
