# SPDX-License-Identifier: BSD-3-Clause
"""Slurm with two nodes: srun and sbatch with PMI-2 and MPICH, salloc with Open MPI's mpirun; a prolog."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import slurm_machine
from tests.slurm_machine import HOSTS, MACHINE, Slurm

pytestmark = pytest.mark.all

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const char* name = getenv("SLURMD_NODENAME");
  int rank, all[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  printf("rank %d of %s has %d%d%d%d\\n", rank, name ? name : "none", all[0], all[1], all[2], all[3]);
  return MPI_Finalize();
}
"""


def ranks_on(nodes: tuple[str, ...]) -> list[str]:
    """What four ranks print on two nodes."""
    return [f"rank {rank} of {nodes[rank // 2]} has 0123" for rank in range(4)]


@pytest.fixture(scope="module")
def programs(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program for each MPI, called as the MPI."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "program.c").write_text(PROGRAM)
    for stack in ("mpich", "openmpi"):
        if not (build / "lib" / f"libconvene-preload-{stack}.so").exists():
            pytest.skip(f"the stack {stack} is not built here")
        subprocess.run([f"mpicc.{stack}", folder / "program.c", "-o", folder / stack], check=True)
    return folder


@pytest.fixture(scope="module")
def convene(root: Path) -> Path:
    return root / ".venv" / "bin" / "convene"


@pytest.fixture(scope="module")
def slurm(root: Path, build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """With packaging's prolog, for jobs that ask for it by their environment."""
    if reason := slurm_machine.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("slurm")
    prolog = (root / "packaging" / "slurm" / "task_prolog.sh").read_text()
    for name, value in (("lib", build / "lib"), ("profiles", folder / "profiles")):
        before, mark, rest = prolog.partition(f"\n{name}=")
        prolog = f"{before}{mark}{value} #{rest.partition('#')[2]}"
    (folder / "prolog.sh").write_text(prolog.replace("\n# What", '\n[ -n "$WITH_PROLOG" ] || exit 0\n# What'))
    (folder / "prolog.sh").chmod(0o755)
    started = Slurm(folder, f"TaskProlog={folder}/prolog.sh")
    yield started
    started.stop()


def ranks_in(text: str) -> list[str]:
    return sorted(line for line in text.splitlines() if line.startswith("rank "))


SRUN = ("srun", "--mpi=pmi2", "-N2", "-n4")


def test_srun(slurm: Slurm, programs: Path, convene: Path) -> None:
    done = slurm.run(convene, "run", "--use", "allgather=bruck", "--", *SRUN, programs / "mpich")
    assert done.returncode == 0, done.stderr
    assert ranks_in(done.stdout) == ranks_on(MACHINE)
    assert re.search(r"allgather +bruck +forced +4 ", done.stdout + done.stderr)


def test_sbatch(slurm: Slurm, programs: Path, convene: Path) -> None:
    script = slurm.folder / "job.sh"
    words = f"{convene} run --use allgather=bruck --report job.json -- srun --mpi=pmi2 {programs / 'mpich'}"
    script.write_text(f"#!/bin/sh\n#SBATCH -N2 -n4\n{words}\n")
    done = slurm.run("sbatch", "--wait", "-o", "job.out", script)
    said = (slurm.folder / "job.out").read_text()
    assert done.returncode == 0, said
    assert ranks_in(said) == ranks_on(MACHINE)
    assert "bruck" in (slurm.folder / "job.json").read_text()


def test_salloc_with_open_mpi(slurm: Slurm, programs: Path, convene: Path) -> None:
    words = ("run", "--use", "allgather=bruck", "--", "mpirun.openmpi", programs / "openmpi")
    done = slurm.run("salloc", "-p", "hosts", "-N2", "-n4", convene, *words)
    assert done.returncode == 0, done.stderr
    assert ranks_in(done.stdout) == ranks_on(HOSTS)
    assert "bruck" in done.stdout + done.stderr


def test_info_names_the_nodes_of_the_job(slurm: Slurm, convene: Path) -> None:
    done = slurm.run("salloc", "-N2", convene, "info")
    assert "2 in this job of Slurm (m[0-1])" in " ".join(done.stdout.split())


def test_the_prolog_collects_profiles(slurm: Slurm, programs: Path, convene: Path) -> None:
    done = slurm.run(*SRUN, programs / "mpich", WITH_PROLOG="1", CONVENE_USE="allgather=bruck")
    assert done.returncode == 0, done.stderr
    assert ranks_in(done.stdout) == ranks_on(MACHINE)
    (job,) = (slurm.folder / "profiles").iterdir()
    report = slurm.run(convene, "report", job)
    assert report.returncode == 0, report.stderr
    assert "bruck" in report.stdout


def test_the_switch_of_users_holds_in_the_prolog(slurm: Slurm, programs: Path) -> None:
    before = len([*(slurm.folder / "profiles").glob("*")])
    done = slurm.run(*SRUN, programs / "mpich", WITH_PROLOG="1", CONVENE="off")
    assert ranks_in(done.stdout) == ranks_on(MACHINE)
    assert len([*(slurm.folder / "profiles").glob("*")]) == before


@pytest.mark.parametrize(("stack", "option"), [("openmpi", "--hostfile"), ("mpich", "-f")])
def test_host_files_of_pbs(programs: Path, convene: Path, tmp_path: Path, stack: str, option: str) -> None:
    """$PBS_NODEFILE has a line for each slot."""
    (tmp_path / "nodefile").write_text("localhost\n" * 4)
    launch = (f"mpirun.{stack}", option, "nodefile", "-n", "4")
    done = subprocess.run(
        [convene, "run", "--use", "allgather=bruck", "--", *launch, programs / stack],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(ranks_in(done.stdout)) == 4
    assert "bruck" in done.stdout + done.stderr
