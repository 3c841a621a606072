# SPDX-License-Identifier: BSD-3-Clause
"""A library that sees which of Open MPI's algorithms runs: each is an exported function, which it wraps.

The wrappers keep the arguments, note the first function since a reset, and jump to the next definition.
Algorithms call each other, so the first is the decision.
"""

import subprocess
from pathlib import Path

NAMES = "ompi_coll_base_"

NOTE = """
#define _GNU_SOURCE
#include <dlfcn.h>
static const char* first = "-";
static const char* const names[] = {%s};
static void* next[sizeof names / sizeof *names];
void native_choice_reset(void) { first = "-"; }
const char* native_choice_first(void) { return first; }
__attribute__((visibility("hidden"))) void* native_choice_note(long at) {
  if (first[0] == '-') first = names[at];
  if (!next[at]) next[at] = dlsym(RTLD_NEXT, names[at]);
  return next[at];
}
"""

# Seven registers keep the stack aligned.
SAVED = ("rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax")

# Functions by collective and algorithm, where they are not <algorithm>.
OTHERWISE = {
    "allgather": {
        "linear": "basic_linear",
        "neighbor": "neighborexchange",
        "recursive_doubling": "recursivedoubling",
    },
    "allgatherv": {"default": "basic_default", "neighbor": "neighborexchange"},
    "allreduce": {
        "recursive_doubling": "recursivedoubling",
        "segmented_ring": "ring_segmented",
        "rabenseifner": "redscat_allgather",
    },
    "alltoall": {"linear": "basic_linear", "modified_bruck": "bruck"},
    "barrier": {
        "linear": "basic_linear",
        "double_ring": "doublering",
        "recursive_doubling": "recursivedoubling",
    },
    "bcast": {"split_binary_tree": "split_bintree", "binary_tree": "bintree"},
    "reduce": {
        "linear": "basic_linear",
        "in-order_binary": "in_order_binary",
        "rabenseifner": "redscat_gather",
    },
    "reduce_scatter": {"non-overlapping": "nonoverlapping", "recursive_halving": "basic_recursivehalving"},
    "reduce_scatter_block": {
        "recursive_doubling": "recursivedoubling",
        "recursive_halving": "recursivehalving",
    },
}


def function_of(collective: str, algorithm: str) -> str:
    """The name of an algorithm's function."""
    plain = OTHERWISE.get(collective, {}).get(algorithm, algorithm)
    plain = "two_procs" if plain == "two_proc" else plain
    group = "" if (collective, plain) == ("reduce_scatter_block", "basic_linear") else "intra_"
    return f"{NAMES}{collective}_{group}{plain}"


def exported(libraries: list[Path]) -> list[str]:
    found = set()
    for library in libraries:
        done = subprocess.run(
            ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
        )
        found |= {line.split()[-1] for line in done.stdout.splitlines() if f" T {NAMES}" in line}
    return sorted(name for name in found if "_intra_" in name or name.endswith("_basic_linear"))


def wrapper(at: int, name: str) -> str:
    pushes = "".join(f"push %{each}; " for each in SAVED)
    pops = "".join(f"pop %{each}; " for each in reversed(SAVED))
    return (
        f".globl {name}\n.type {name}, @function\n{name}: {pushes}mov ${at}, %rdi; call native_choice_note; "
        f"mov %rax, %r11; {pops}jmp *%r11\n"
    )


def build(folder: Path, libraries: list[Path]) -> Path:
    """The library that wraps all algorithms of these libraries."""
    names = exported(libraries)
    assert len(names) > 40
    (folder / "note.c").write_text(NOTE % ", ".join(f'"{name}"' for name in names))
    text = ".text\n" + "".join(wrapper(at, name) for at, name in enumerate(names))
    (folder / "wrap.s").write_text(text + '.section .note.GNU-stack,"",@progbits\n')
    made = folder / "libnative_choice.so"
    sources = [folder / "note.c", folder / "wrap.s"]
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", *sources, "-o", made, "-ldl"], check=True)
    return made
