# SPDX-License-Identifier: BSD-3-Clause
"""What CONTRIBUTING.md says about adding an algorithm is true: its file and its line, and nothing else."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.all  # compiles a copy of the library

# Lists the catalogue's algorithms of allgather, and checks the one that is named.
PROGRAM = """
#include <cstdio>
#include <string_view>

#include "collective/core/algorithm.hpp"

int main(int, char** argv) {
  using namespace convene::collective;
  int bad = 1;
  for (const Algorithm* algorithm : catalogue()) {
    if (!algorithm->serves(Collective::allgather)) continue;
    std::printf("%s\\n", std::string(algorithm->name).c_str());
    if (algorithm->name != std::string_view(argv[1])) continue;
    bad = 0;
    for (Rank procs = 1; procs <= 32; ++procs) {
      if (!unmet_requirement(*algorithm, procs).empty()) continue;
      Call call;
      call.procs = procs;
      call.parameters = algorithm->default_parameters();
      const Verdict verdict = check(build_plan(*algorithm, call), contract(call, 1));
      if (!verdict.ok()) std::printf("%u: %s\\n", procs, verdict.why.c_str()), ++bad;
    }
  }
  return bad;
}
"""


def code_blocks(document: Path) -> list[str]:
    return re.findall(r"```cpp\n(.*?)```", document.read_text(), re.DOTALL)


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    for name in ("src", "include", "cmake"):
        shutil.copytree(root / name, tmp_path / name)
    shutil.copy(root / "CMakeLists.txt", tmp_path)
    return tmp_path


def test_the_example_is_a_file_and_a_line(root: Path, build: Path, copy: Path) -> None:
    source, line = code_blocks(root / "CONTRIBUTING.md")
    folder = copy / "src" / "collective" / "allgather"
    (folder / "allgather_pairwise.cpp").write_text(source)
    catalogue = copy / "src" / "collective" / "core" / "catalogue.cpp"
    before = catalogue.read_text()
    first = re.search(r"^  X\(allgather_ring\).*\n", before, re.MULTILINE)
    assert first
    catalogue.write_text(before[: first.end()] + line + before[first.end() :])

    # The build finds the file by itself. Only what is new is compiled: the rest is the checkout's own.
    run("cmake", "-S", copy, "-B", copy / "build", "-G", "Ninja", "-DCONVENE_TESTS=OFF")
    folder = Path("CMakeFiles/convene_collective.dir/src/collective")
    objects = [folder / "allgather" / "allgather_pairwise.cpp.o", folder / "core" / "catalogue.cpp.o"]
    run("cmake", "--build", copy / "build", "--target", *objects)

    (copy / "main.cpp").write_text(PROGRAM)
    # A united layer of the checkout (CONVENE_UNITY) has a catalogue, too: the first definition counts.
    run(
        *("g++", "-std=c++20", f"-I{copy / 'src'}", "-o", copy / "main", copy / "main.cpp"),
        "-Wl,--allow-multiple-definition",
        *(copy / "build" / name for name in objects),
        *(
            build / "lib" / f"libconvene_{name}.a"
            for name in ("collective", "patterns", "schedule", "topology")
        ),
        *(build / "lib" / f"libconvene_{name}.a" for name in ("base", "fmt")),
    )
    assert "pairwise" in run(copy / "main", "pairwise").split()


def test_the_example_is_in_form(root: Path, tmp_path: Path) -> None:
    """The document's code follows the project's own style."""
    source, _ = code_blocks(root / "CONTRIBUTING.md")
    file = tmp_path / "allgather_pairwise.cpp"
    file.write_text(source)
    run("clang-format", "--dry-run", "-Werror", f"--style=file:{root / '.clang-format'}", file)
