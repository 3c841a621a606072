# SPDX-License-Identifier: BSD-3-Clause
"""Every reader on mutations of the corpus in tests/fuzz/corpus, each for the same time."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.tiers.analysis import build
from tests.tiers.running import BIN, ROOT, Request, Tally, check, verdict

CORPUS = Path("tests/fuzz/corpus")
SECONDS = {"default": 5, "all": 20, "long": 600}  # for each reader
FILES = ("recording", "profile", "benchmark", "skeleton", "mpi_rules")
# Files whose reader is C++, through the command: the reader has its own target, and this one is less.
ALSO_FILES = ("wisdom", "simulation_platform", "prediction_platform", "schedule", "arrivals")
# Files that come with Convene, of which a C++ reader's corpus consists, too.
SHIPPED = {"simulated_platform": "machines", "model_platform": "platforms"}


def fuzz_file(request: Request, reader: str) -> Tally:
    """A file that the command reads (tests/fuzz/files.py)."""
    seconds = str(SECONDS["default" if reader in ALSO_FILES and request.tier == "all" else request.tier])
    command = (
        BIN / "python",
        "-m",
        "tests.fuzz.files",
        reader,
        "--seconds",
        seconds,
        "--seed",
        str(request.seed),
    )
    return check(request, f"fuzzing {reader}", *command)


def fuzz_target(request: Request, target: Path) -> Tally:
    """A C++ reader under libFuzzer. What it finds goes to build/fuzz; the corpus stays as it is."""
    name = target.name
    found = request.build / "fuzz" / f"target-{name}"
    (found / "corpus").mkdir(parents=True, exist_ok=True)
    folders = [found / "corpus", ROOT / CORPUS / name]
    if name in SHIPPED:
        folders.append(ROOT / "python" / "convene" / SHIPPED[name])
    options = (
        *(f"-max_total_time={SECONDS[request.tier]}", f"-seed={request.seed % 2**31 or 1}"),
        *(
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-max_len=16384",
            "-verbosity=0",
            f"-artifact_prefix={found}/",
        ),
    )
    return check(request, f"fuzzing {name}", target, *options, *folders, quiet=True)


def fuzz(request: Request) -> Tally:
    if not build(request, "sanitize"):
        return verdict("build of the fuzz targets", is_right=False)
    targets = sorted(path for path in (request.build / "sanitize" / "fuzz").iterdir() if path.is_file())
    jobs = [partial(fuzz_target, request, target) for target in targets]
    jobs += [partial(fuzz_file, request, reader) for reader in (*FILES, *ALSO_FILES)]
    tally = Tally()
    with ThreadPoolExecutor(request.jobs) as pool:
        for done in pool.map(lambda job: job(), jobs):
            tally.add(done)
    return tally
