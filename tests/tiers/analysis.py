# SPDX-License-Identifier: BSD-3-Clause
"""clang-tidy, the check of includes, and the thread sanitizer."""

import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Thread

from tests.tiers.running import ROOT, Request, Tally, run, sources, tool, verdict
from tests.tiers.unit_tests import programs_of, run_programs

# Files whose includes are read in `all`: those that changed, others by seed up to the first number, at most
# the second.
INCLUDES = (16, 48)
# What parts build, by preset of CMakePresets.json.
TARGETS = {
    "sanitize": ("pure_tests", "fuzzers"),
    "threads": ("threads_test",),
    "aarch64": ("pure_tests", "mpi_tests", "preload"),
}
# Flags of a pure source. (Where the build unites sources, compile_commands.json has none for each of them.)
FLAGS = ("-std=c++20", "-w", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}")


def pure_layers() -> list[str]:
    return re.findall(r"^([a-z]+):", (ROOT / "src" / "ROOMS").read_text(), re.MULTILINE)


def pure_sources() -> list[str]:
    folders = [f"src/{layer}" for layer in pure_layers()]
    return [str(path) for path in sources(folders, (".cpp",)) if not path.name.endswith("_test.cpp")]


def changed_files() -> set[str]:
    """Of the working tree and of the commits that the main branch does not have; else of the last commit."""

    def git(*words: str) -> set[str]:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return set(done.stdout.split("\n"))

    return git("diff", "--name-only", "origin/main...HEAD") | git("diff", "--name-only", "HEAD~1")


def chosen(request: Request, least: int, most: int) -> list[str]:
    """Sources of the pure layers: every one in `long`; else those that changed, and others by seed."""
    files = pure_sources()
    if request.tier == "long":
        return files
    choose, changed = random.Random(request.seed), changed_files()
    order = choose.sample(files, len(files))
    order.sort(key=lambda name: name not in changed)
    number = max(least, sum(name in changed for name in files))
    return sorted(order[: min(number, most)])


def lint_layer(request: Request, layer: str) -> bool:
    """clang-tidy on all sources of a layer as one: headers take most of its time, and are then read once."""
    names = [name for name in pure_sources() if name.startswith(f"src/{layer}/")]
    united = request.build / "lint" / f"{layer}.cpp"
    united.parent.mkdir(parents=True, exist_ok=True)
    united.write_text("".join(f'#include "{ROOT / name}"\n' for name in names))
    command = (tool("clang-tidy-19"), f"--config-file={ROOT / '.clang-tidy'}", "--quiet", str(united))
    return run(request, *command, "--", *FLAGS, quiet=True) == 0


def lint(request: Request) -> Tally:
    names = pure_sources()
    # A layer of headers alone has nothing to read.
    layers = [layer for layer in pure_layers() if any(name.startswith(f"src/{layer}/") for name in names)]
    print(f"clang-tidy reads {len(layers)} layers: {' '.join(layers)}", flush=True)
    with ThreadPoolExecutor(request.jobs) as pool:
        passed = list(pool.map(partial(lint_layer, request), layers))
    return verdict("clang-tidy", all(passed))


def unused_includes(request: Request, files: Sequence[str]) -> list[str]:
    """Includes of which a source uses nothing, and what could not be read. (The check also asks for a direct
    include of every name; that half cannot be switched off, and a source relies on its own header here.)"""
    # fmt's and nlohmann's names are declared in headers of their own.
    headers = "fmt/.*\\.h;nlohmann/json\\.hpp"
    ignored = f"CheckOptions: {{misc-include-cleaner.IgnoreHeaders: '{headers}'}}"
    config = f"{{Checks: '-*,misc-include-cleaner', {ignored}}}"
    command = [tool("clang-tidy-19"), "--quiet", f"--config={config}", *files, "--", *FLAGS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return [line for line in lines if "is not used directly" in line or " error: " in line]


def includes(request: Request) -> Tally:
    names = chosen(request, *INCLUDES)
    print(f"includes of {len(names)} files: {' '.join(names)}", flush=True)
    batches = [names[at : at + 4] for at in range(0, len(names), 4)]
    with ThreadPoolExecutor(request.jobs) as pool:
        found = [line for lines in pool.map(partial(unused_includes, request), batches) for line in lines]
    print("\n".join(found), flush=True)
    return verdict("includes", not found)


def build(request: Request, preset: str, *, is_idle: bool = False) -> bool:
    """Builds the targets of a preset, in build/<preset>; an idle build takes only time that is left over."""
    folder = request.build / preset
    folder.mkdir(parents=True, exist_ok=True)
    cached = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    options = cached if shutil.which("ccache") else []
    if run(request, "cmake", "--preset", preset, *options, quiet=True) != 0:
        return False
    idle = ("chrt", "--idle", "0") if is_idle else ()
    command = ("cmake", "--build", str(folder), "-j", str(request.jobs), "--target", *TARGETS[preset])
    return run(request, *idle, *command, quiet=True) == 0


def start_builds(request: Request, parts: Sequence[str]) -> Thread | None:
    """Builds what later parts need while MPI programs run, which often wait. A build that fails does so again
    in its part."""
    presets = [preset for preset in TARGETS if preset in parts]
    if not presets:
        return None
    thread = Thread(target=lambda: [build(request, preset, is_idle=True) for preset in presets])
    thread.start()
    return thread


def threads(request: Request) -> Tally:
    """ThreadSanitizer on the in-process and fabric transports, the progress engine and the simulator."""
    if not build(request, "threads"):
        return verdict("build with ThreadSanitizer", is_right=False)
    variables = {"TSAN_OPTIONS": "halt_on_error=1 second_deadlock_stack=1"}
    programs = [path for path in programs_of(request.build / "threads") if path.name == "threads_test"]
    return run_programs(request, "threads", programs, variables)
