# SPDX-License-Identifier: BSD-3-Clause
"""What all tests share: where things are, and an environment in which every MPI starts."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Launchers refuse to start as root, or more ranks than cores, unless received; idle ranks must give way.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
    "CONVENE_WISDOM": "none",  # what was measured on this machine must not decide tests
}
os.environ.update({name: os.environ.get(name, value) for name, value in MPI_ENVIRONMENT.items()})


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def build(root: Path) -> Path:
    folder = root / "build"
    if not (folder / "lib").is_dir():
        pytest.fail("nothing is built; run ./dev build")
    return folder


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A directory on a file system without room for another byte. (Files can be made there.)"""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    if subprocess.run(mounted, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can mount a small file system")
    try:
        with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


OTHER_STACKS = {"openmpi5", "mpich4", "mpich5", "mpich5-abi", "impi"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """./dev test runs Open MPI 4. Cases on other stacks are marked `all`, unless their test is sampled."""
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and "default" in sampled.kwargs:
            continue
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if OTHER_STACKS & {value for value in parameters.values() if isinstance(value, str)}:
            item.add_marker("all")
