# SPDX-License-Identifier: BSD-3-Clause
"""The layers of src/, and what the libraries show to the programs that they enter."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.source_layers import INCLUDE, Layers, cycles, modules, names_defined, names_in_two_folders, sources

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
SOURCES = sorted(p for p in SRC.rglob("*") if p.suffix in {".hpp", ".cpp", ".h", ".c"})
MPI_FUNCTION = re.compile(r"P?MPI_[A-Z]\w*")


LAYERS = Layers((ROOT / "src" / "ROOMS").read_text())


def layer_of(source: Path) -> str:
    return source.relative_to(ROOT / "src").parts[0]


def forbidden_includes(layer: str, text: str) -> list[str]:
    """What a source of this layer includes although it must not."""
    found = []
    for quote, target in INCLUDE.findall(text):
        folder = target.partition("/")[0]
        if target == "mpi.h" or folder == "convene":
            allowed = layer in LAYERS.mpi
        elif folder in LAYERS.sees:
            allowed = quote == '"' and folder in LAYERS.reach(layer)
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


def test_every_folder_is_a_layer() -> None:
    folders = {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert folders <= set(LAYERS.sees)


@pytest.mark.parametrize(
    ("layer", "never"),
    [
        ("collective", {"execute", "model"}),
        ("execute", {"collective", "select"}),
        ("model", {"collective"}),
        ("simulate", {"collective"}),
    ],
)
def test_the_list_of_layers_keeps_to_the_design(layer: str, never: set[str]) -> None:
    assert not LAYERS.reach(layer) & never


def test_nobody_looks_at_interpose() -> None:
    assert [
        layer for layer in LAYERS.sees if layer != "interpose" and "interpose" in LAYERS.reach(layer)
    ] == []


def test_pure_layers_look_at_pure_layers_only() -> None:
    assert [
        layer for layer in LAYERS.sees if layer not in LAYERS.mpi and LAYERS.reach(layer) & LAYERS.mpi
    ] == []


def test_includes_stay_within_the_walls() -> None:
    assert SOURCES
    breaches = [
        f"{source.relative_to(ROOT)} includes {target}"
        for source in SOURCES
        for target in forbidden_includes(layer_of(source), source.read_text())
    ]
    assert breaches == []


@pytest.mark.parametrize(
    ("layer", "line"),
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
def test_a_breach_is_noticed(layer: str, line: str) -> None:
    assert forbidden_includes(layer, f"#pragma once\n{line}\n")


def test_folders_of_a_layer_keep_their_order() -> None:
    breaches = [
        f"{source.relative_to(SRC)}: {breach}"
        for source in sources(SRC)
        for breach in LAYERS.folder_breaches(source.relative_to(SRC), source.read_text())
    ]
    assert breaches == []


def test_a_breach_between_folders_is_noticed() -> None:
    upward = '#include "schedule/check/checker.hpp"\n'
    assert LAYERS.folder_breaches(Path("schedule/core/slots.hpp"), upward) == ["check"]
    assert LAYERS.folder_breaches(Path("schedule/elsewhere/slots.hpp"), "") != []


def test_namespaces_see_what_layers_may_include() -> None:
    """Headers of namespaces (one for most layers) have the same as src/ROOMS."""
    headers = [SRC / "base" / "layers.hpp", *SRC.glob("*/*_names.hpp")]
    text = "\n".join(header.read_text() for header in headers)
    found = {
        name: set(re.findall(r"using namespace (\w+);", body))
        for name, body in re.findall(
            r"^namespace convene::(\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL
        )
    }
    for layer in LAYERS.sees:
        assert found.get(layer, set()) == LAYERS.reach(layer) - {layer}, layer


def test_no_module_includes_itself_by_way_of_others() -> None:
    assert cycles(modules(SRC)) == []


def test_a_ring_is_noticed() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [("a", "b", "c")]


def test_no_name_is_defined_in_two_folders() -> None:
    assert names_in_two_folders(SRC) == []


def test_definitions_are_found() -> None:
    text = """namespace convene::x {
struct Found {
};
int function(int a) {
}
namespace {
struct Hidden {
};
}  // namespace
}  // namespace convene::x
"""
    assert names_defined(text) == {"convene::x::Found", "convene::x::function"}


def test_no_source_is_longer_than_400_lines() -> None:
    lengths = {str(path.relative_to(SRC)): len(path.read_text().splitlines()) for path in sources(SRC)}
    assert {path: lines for path, lines in lengths.items() if lines > 400} == {}


# Names by which sources could ask which MPI they are compiled for. (CONVENE_LARGE_COUNTS is a trait of
# mpi/stack.hpp.)
ASKS_FOR_A_STACK = re.compile(
    r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b.*?"
    r"\b(OPEN_MPI|OMPI_\w+|MPICH\w*|MPI_ABI\w*|MPI_(?:SUB)?VERSION|I_MPI\w*|SMPI\w*|CONVENE_STACK\w*)\b",
    re.MULTILINE,
)


def test_only_the_mpi_layer_asks_for_the_stack() -> None:
    """What differs between stacks is a trait of mpi/stack.hpp, or a source stack_NAME*.cpp."""
    asking = [
        f"{path.relative_to(ROOT)}: {found[0].strip()}"
        for folder in (SRC, ROOT / "tools", ROOT / "include", ROOT / "benchmarks", ROOT / "python")
        for path in sorted(folder.rglob("*"))
        if path.suffix in {".hpp", ".cpp", ".h", ".c", ".inc"} and not path.is_relative_to(SRC / "mpi")
        for found in ASKS_FOR_A_STACK.finditer(path.read_text())
    ]
    assert asking == []


@pytest.mark.parametrize(
    "line",
    [
        "#ifdef OPEN_MPI",
        "#  if MPI_VERSION >= 4",
        "#elif defined(MPICH_VERSION)",
        "#ifndef CONVENE_STACK_ABI",
    ],
)
def test_a_source_that_asks_is_noticed(line: str) -> None:
    assert ASKS_FOR_A_STACK.search(f"int a;\n{line}\n#endif\n")
    assert not ASKS_FOR_A_STACK.search("#if CONVENE_LARGE_COUNTS  // MPI_VERSION\n".partition("//")[0])


def test_file_names_are_unique() -> None:
    """But for a header and its source."""
    names = [path.name for path in sources(SRC)]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_pure_archives_know_no_mpi() -> None:
    archives = [
        ROOT / "build" / "lib" / f"libconvene_{layer}.a" for layer in LAYERS.sees if layer not in LAYERS.mpi
    ]
    present = [archive for archive in archives if archive.exists()]
    assert present, "no archive of a pure layer in build/lib; run ./dev build"
    for archive in present:
        assert [name for _, name in symbols(archive) if MPI_FUNCTION.fullmatch(name)] == [], archive.name


@pytest.mark.parametrize("layer", sorted(LAYERS.mpi - {"interpose"}))
def test_mpi_layers_are_linked_against_no_mpi(layer: str) -> None:
    """MPI's functions come from the table, as PMPI_ ones: MPI_ ones would come back to interpose."""
    for archive in sorted((ROOT / "build" / "lib").glob(f"libconvene_{layer}_*.a")):
        if archive.stem.endswith("_smpi"):  # in simulation only, and linked against SimGrid
            continue
        needed = [name for _, name in symbols(archive, "--undefined-only") if MPI_FUNCTION.fullmatch(name)]
        assert needed == [], archive.name


def test_drop_in_libraries_export_mpi_the_api_and_nothing_else() -> None:
    for library in preload_libraries():
        exported = {name.partition("@")[0] for _, name in symbols(library, "-D", "--defined-only")}
        assert {"MPI_Allgather", "MPI_Allgatherv", "convene_allgather"} <= exported, library.name
        others = [name for name in exported if not re.fullmatch(r"(P?MPI|mpi|convene)_\w+", name)]
        assert others == [], library.name
        # Only what may wait or test, under the names that a tool before Convene calls.
        waits = r"PMPI_(Wait|Test|Request_get_status|S?send|I?m?probe|M?recv|Sendrecv).*"
        assert all(re.fullmatch(waits, name, re.IGNORECASE) for name in exported if name[0] == "P"), (
            library.name
        )


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
    names: dict[int, str] = {}
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


def test_preloading_allocates_nothing_in_a_program_without_mpi(tmp_path: Path) -> None:
    """But for the C++ runtime's one emergency pool for exceptions."""
    counter = tmp_path / "count_allocations.so"
    source = ROOT / "tests" / "mpi" / "libraries" / "count_allocations.c"
    run("cc", "-shared", "-fPIC", "-o", counter, source, "-ldl")
    for library in preload_libraries():
        done = subprocess.run(
            ["/bin/true"],
            env={"LD_PRELOAD": f"{counter}:{library}"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == "allocations: 1\n", library.name
