# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages of `./dev deb`, which lintian has checked, installed in Debian 12 without compilers."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import clean_root
from tests.clean_root import PROGRAM, Root

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]  # compiles everything once more


PROGRAM_IN_C = """
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, all[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  printf("ranks [%d, %d]\\n", all[0], all[1]);
  return MPI_Finalize();
}
"""
INSTALL = "DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends"
# Files that tests and apt leave are not those of packages.
LEFT = "find / -xdev -iname '*convene*' -not -name '*.deb' -not -path '/tmp/*' -not -path \"$HOME/*\""


@pytest.fixture(scope="module")
def packages(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    if reason := clean_root.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("packages")
    done = subprocess.run(
        [root / "dev", "deb", "-o", folder], capture_output=True, text=True, timeout=3000, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "== lintian" in done.stdout
    assert not re.search(r"^[EW]: ", done.stdout, re.MULTILINE), done.stdout
    return {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}


@pytest.fixture(scope="module")
def debian(
    build: Path, packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Root]:
    base = clean_root.made(build / "debian-12")
    with clean_root.opened(base, tmp_path_factory.mktemp("debian")) as found:
        (found.folder / "program.py").write_text(PROGRAM)
        for path in packages.values():
            shutil.copy(path, found.folder)
        found.run("apt-get", "-qq", "update")
        found.run("sh", "-c", f"{INSTALL} /*.deb")
        yield found


def test_first_steps(debian: Root) -> None:
    assert "Usage: convene" in debian.run("convene", "--help")
    info = debian.run("convene", "info")
    assert re.search(r"/usr/bin/mpirun.openmpi +Open MPI +\S+ +openmpi", info)
    assert re.search(r"/usr/bin/mpiexec.mpich +MPICH +\S+ +mpich", info)
    assert "ring" in debian.run("convene", "show", "allgather", "ring", "-p", "4")


def test_the_command_runs_programs(debian: Root) -> None:
    launch = ("mpirun.openmpi", "-n", "2", "/usr/bin/python3", "/program.py")
    said = debian.run("convene", "run", "--use", "allgather=ring", "--", *launch)
    assert "ranks [0, 1] Open MPI" in said
    assert re.search(r"allgather\w* .*ring", said)


@pytest.mark.parametrize("stack", ["openmpi", "mpich"])
def test_the_command_runs_programs_that_were_compiled(debian: Root, tmp_path: Path, stack: str) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM_IN_C)
    subprocess.run([f"mpicc.{stack}", source, "-o", debian.folder / f"program-{stack}"], check=True)
    launch = (f"mpirun.{stack}", "-n", "2", f"/program-{stack}")
    said = debian.run("convene", "run", "--use", "allgather=ring", "--", *launch)
    assert "ranks [0, 1]" in said
    assert re.search(r"allgather\w* .*ring", said)


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpiexec.mpich"])
def test_the_command_measures_and_reports(debian: Root, launcher: str) -> None:
    words = ("allgather", "-n", "2", "--sizes", "64", "--algorithms", "ring", "-o", f"/{launcher}.json")
    debian.run("convene", "bench", "run", *words, "--launcher", launcher)
    debian.run("convene", "report", f"/{launcher}.json", "-o", f"/{launcher}.html")
    assert "ring" in (debian.folder / f"{launcher}.html").read_text()


def test_open_mpi_finds_its_component(debian: Root) -> None:
    (folder,) = debian.folder.glob("usr/lib/*/convene/openmpi")
    path = f"/{folder.relative_to(debian.folder)}:SYSTEM_DEFAULT"
    listed = debian.run("env", f"OMPI_MCA_mca_base_component_path={path}", "ompi_info")
    assert "MCA coll: convene (" in listed
    assert "MCA hook: convene (" in listed


def test_completion_and_pages(debian: Root) -> None:
    share = debian.folder / "usr" / "share"
    assert (share / "man" / "man1" / "convene-run.1.gz").is_file()
    assert (share / "man" / "man7" / "libconvene.7.gz").is_file()
    assert (share / "zsh/vendor-completions/_convene").read_text().startswith("#compdef convene")
    assert "complete --command convene" in (share / "fish/vendor_completions.d/convene.fish").read_text()
    script = (
        ". /usr/share/bash-completion/completions/convene; "
        "COMP_WORDS=(convene ver) COMP_CWORD=1; _convene_completion convene; echo ${COMPREPLY[@]}"
    )
    assert debian.run("bash", "-c", script).split() == ["verify"]


def test_no_package_needs_both_mpis(debian: Root) -> None:
    shown = ("dpkg-query", "--show", "--showformat", "${Depends}\n")
    assert re.fullmatch(r"libc6 \([^)]*\)\n", debian.run(*shown, "libconvene0"))
    assert not re.search("mpich|openmpi", debian.run(*shown, "convene"))


def test_files_name_no_folder_of_the_build(root: Path, packages: dict[str, Path], tmp_path: Path) -> None:
    for path in packages.values():
        subprocess.run(["dpkg-deb", "--raw-extract", path, tmp_path / path.stem], check=True)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and not path.is_symlink()]
    assert len(files) > 100
    assert [path for path in files if os.fsencode(root) in path.read_bytes()] == []


def test_purged_packages_leave_nothing(debian: Root) -> None:
    assert "/usr/bin/convene\n" in debian.run("sh", "-c", LEFT)
    debian.run("dpkg", "--purge", "convene", "libconvene-dev", "libconvene0", "mca-coll-convene")
    assert debian.run("sh", "-c", LEFT) == ""


def test_programs_are_linked_with_the_libraries(packages: dict[str, Path], tmp_path: Path) -> None:
    for name in ("libconvene0", "libconvene-dev"):
        subprocess.run(["dpkg-deb", "--extract", packages[name], tmp_path], check=True)
    (folder,) = tmp_path.glob("usr/lib/*/pkgconfig")
    (tmp_path / "program.c").write_text(
        "#include <convene/convene.h>\n"
        "int main(int argc, char** argv) {\n"
        "  MPI_Init(&argc, &argv);\n"
        "  int rank, all[64];\n"
        "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        "  int status = convene_allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);\n"
        "  return status != MPI_SUCCESS || all[1] != 1 || MPI_Finalize();\n"
        "}\n"
    )
    asked = ["pkg-config", "--cflags", "--libs", "convene-openmpi"]
    places = {"PKG_CONFIG_PATH": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(tmp_path)}
    flags = subprocess.run(
        asked, env={**os.environ, **places}, capture_output=True, text=True, check=True
    ).stdout.split()
    program = tmp_path / "program"
    subprocess.run(["mpicc.openmpi", tmp_path / "program.c", "-o", program, *flags], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder.parent)}
    subprocess.run(["mpirun.openmpi", "-n", "2", program], env=environment, timeout=60, check=True)
