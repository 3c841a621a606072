# SPDX-License-Identifier: BSD-3-Clause
"""The walls between the rooms of src/, and what the libraries show to the programs that they enter."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in {".hpp", ".cpp", ".h", ".c"})
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
MPI_FUNCTION = re.compile(r"P?MPI_[A-Z]\w*")


class Rooms:
    """src/ROOMS, read."""

    def __init__(self, text: str) -> None:
        self.sees: dict[str, set[str]] = {}
        self.mpi: set[str] = set()
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            head, _, rest = line.partition(":")
            room, *kind = head.split()
            self.sees[room] = set(rest.split())
            if kind:
                self.mpi.add(room)

    def reach(self, room: str) -> set[str]:
        """The rooms that a room may look at: itself, those of its line, and theirs."""
        found: set[str] = set()
        waiting = [room]
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting += self.sees[current]
        return found


ROOMS = Rooms((ROOT / "src" / "ROOMS").read_text())


def room_of(source: Path) -> str:
    return source.relative_to(ROOT / "src").parts[0]


def forbidden_includes(room: str, text: str) -> list[str]:
    """What a source of this room includes although it must not."""
    found = []
    for quote, target in INCLUDE.findall(text):
        folder = target.partition("/")[0]
        if target == "mpi.h" or folder == "convene":
            allowed = room in ROOMS.mpi
        elif folder in ROOMS.sees:
            allowed = quote == '"' and folder in ROOMS.reach(room)
        else:
            allowed = quote == "<"
        if not allowed:
            found.append(target)
    return found


def run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def symbols(library: Path, *options: str) -> list[tuple[str, str]]:
    """(kind, name) of each line of nm."""
    lines = run("nm", *options, library).splitlines()
    return [(words[-2], words[-1]) for words in map(str.split, lines) if len(words) >= 2]


def libraries(kind: str) -> list[Path]:
    found = sorted((ROOT / "build" / "lib").glob(kind))
    assert found, f"no {kind} in build/lib; run ./dev build"
    return found


def preload_libraries() -> list[Path]:
    return libraries("libconvene-preload-*.so")


def api_libraries() -> list[Path]:
    return [path for path in libraries("libconvene-*.so") if "preload" not in path.name]


def test_every_folder_is_a_room() -> None:
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert folders <= set(ROOMS.sees)


@pytest.mark.parametrize(
    ("room", "never"),
    [
        ("collective", {"execute", "model"}),
        ("execute", {"collective", "select"}),
        ("model", {"collective"}),
        ("simulate", {"collective"}),
    ],
)
def test_the_list_of_rooms_keeps_to_the_design(room: str, never: set[str]) -> None:
    assert not ROOMS.reach(room) & never


def test_nobody_looks_at_interpose() -> None:
    assert [room for room in ROOMS.sees if room != "interpose" and "interpose" in ROOMS.reach(room)] == []


def test_pure_rooms_look_at_pure_rooms_only() -> None:
    assert [room for room in ROOMS.sees if room not in ROOMS.mpi and ROOMS.reach(room) & ROOMS.mpi] == []


def test_includes_stay_within_the_walls() -> None:
    assert SOURCES
    breaches = [
        f"{source.relative_to(ROOT)} includes {target}"
        for source in SOURCES
        for target in forbidden_includes(room_of(source), source.read_text())
    ]
    assert breaches == []


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("schedule", '#include "collective/core/algorithm.hpp"'),
        ("collective", "#include <mpi.h>"),
        ("collective", '#include "mpi/functions.hpp"'),
        ("execute", '#  include "collective/core/algorithm.hpp"'),
        ("runtime", '#include "interpose/forward.hpp"'),
        ("select", "#include <convene/convene.h>"),
        ("schedule", '#include "slots.hpp"'),
        ("schedule", "#include <schedule/core/slots.hpp>"),
    ],
)
def test_a_breach_is_noticed(room: str, line: str) -> None:
    assert forbidden_includes(room, f"#pragma once\n{line}\n")


def test_pure_archives_know_no_mpi() -> None:
    archives = [
        ROOT / "build" / "lib" / f"libconvene_{room}.a" for room in ROOMS.sees if room not in ROOMS.mpi
    ]
    present = [archive for archive in archives if archive.exists()]
    assert present, "no archive of a pure room in build/lib; run ./dev build"
    for archive in present:
        assert [name for _, name in symbols(archive) if MPI_FUNCTION.fullmatch(name)] == [], archive.name


@pytest.mark.parametrize("room", sorted(ROOMS.mpi - {"interpose"}))
def test_mpi_rooms_are_linked_against_no_mpi(room: str) -> None:
    """MPI's functions come from the table, as PMPI_ ones: MPI_ ones would come back to interpose."""
    for archive in sorted((ROOT / "build" / "lib").glob(f"libconvene_{room}_*.a")):
        needed = [name for _, name in symbols(archive, "--undefined-only") if MPI_FUNCTION.fullmatch(name)]
        assert needed == [], archive.name


def test_drop_in_libraries_export_mpi_the_api_and_nothing_else() -> None:
    for library in preload_libraries():
        exported = {name.partition("@")[0] for _, name in symbols(library, "-D", "--defined-only")}
        assert {"MPI_Allgather", "MPI_Allgatherv", "convene_allgather"} <= exported, library.name
        others = [name for name in exported if not re.fullmatch(r"(MPI|mpi|convene)_\w+", name)]
        assert others == [], library.name


def test_api_libraries_export_convene_and_one_function_of_the_mpi() -> None:
    """MPI_Finalize, before which a thread has to end (src/capi/finalize.cpp)."""
    for library in api_libraries():
        exported = {name.partition("@")[0] for _, name in symbols(library, "-D", "--defined-only")}
        assert "convene_allgather" in exported, library.name
        others = [name for name in exported if not name.startswith("convene_")]
        assert others == ["MPI_Finalize"], library.name


def test_libraries_need_only_libc_and_the_loader() -> None:
    for library in preload_libraries() + api_libraries():
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))
        assert "libc.so.6" in needed, library.name
        others = [name for name in needed if not re.match(r"libc\.so|ld-linux", name)]
        assert others == [], library.name


def test_undefined_symbols_are_libc_s() -> None:
    for library in preload_libraries() + api_libraries():
        undefined = [
            name
            for kind, name in symbols(library, "-D", "--undefined-only")
            if kind == "U" and "@GLIBC" not in name
        ]
        assert undefined == [], library.name


def initialisers(library: Path) -> list[str]:
    """What runs when a shared library is loaded: the functions that the entries of .init_array point at."""
    sections = run("readelf", "-W", "-S", library)
    found = re.search(r"\s\.init_array\s+INIT_ARRAY\s+(\w+)\s+\w+\s+(\w+)", sections)
    assert found, library
    begin, size = (int(text, 16) for text in found.groups())
    points_at = {
        int(where, 16): int(target, 16)
        for where, target in re.findall(
            r"^(\w+)\s+\w+\s+R_\w+_RELATIVE\s+(\w+)$", run("readelf", "-W", "-r", library), re.MULTILINE
        )
    }
    names = {}
    for line in run("nm", "-C", library).splitlines():
        address, _, name = line.partition(" ")
        if address:
            names.setdefault(int(address, 16), name[2:])
    targets = [points_at[entry] for entry in range(begin, begin + size, 8)]
    return [names.get(target, f"{target:#x}") for target in targets]


def is_of_the_cpp_runtime(initialiser: str) -> bool:
    """Linked statically: the start-up files and libstdc++, whose sources are named .cc, ours .cpp."""
    return re.fullmatch(r"frame_dummy|__cpu_indicator_init|_GLOBAL__sub_I_\w+\.cc", initialiser) is not None


def test_drop_in_libraries_run_next_to_nothing_at_start() -> None:
    """Every program that they are preloaded into would pay for it: descriptors are constant data."""
    for library in preload_libraries():
        own = [each for each in initialisers(library) if not is_of_the_cpp_runtime(each)]
        assert len(own) <= 5, f"{library.name}: {own}"


def test_a_program_without_mpi_does_not_notice() -> None:
    for library in preload_libraries():
        done = subprocess.run(
            ["/bin/sh", "-c", "echo as ever"],
            env={"LD_PRELOAD": str(library)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert (done.stdout, done.stderr) == ("as ever\n", "")
