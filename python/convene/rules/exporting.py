# SPDX-License-Identifier: BSD-3-Clause
"""Exports of wisdom as rules of an MPI: the file, its environment, and what is left out."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from convene._core import RequestError
from convene.rules import intel, ucc
from convene.rules.choices import COMPONENT, UCC, Choice, Chosen, Left, by_case, choose
from convene.rules.mpich_export import mpich_rules
from convene.rules.openmpi_han import COMPONENTS, IMPLEMENTED
from convene.rules.openmpi_names import (
    ALWAYS_ZERO,
    COLLECTIVES,
    OPENMPI_4,
    OPENMPI_5,
    OPENMPI_6,
    TWO_PROC,
    json_name,
    number_of,
)
from convene.tune.wisdom_files import Entry

TOTALS = ("allgather", "alltoall", "gather", "reduce_scatter", "reduce_scatter_block", "scatter")
TOTALS_OF_UCC = (*TOTALS, "allgatherv")
MOST_SIZE = 2**62
PREFIXES = {
    OPENMPI_4: ("Open MPI 4.",),
    OPENMPI_5: ("Open MPI 5.",),
    OPENMPI_6: ("Open MPI 6.", "Open MPI 5."),
    "han": ("Open MPI 4.", "Open MPI 5."),
    "mpich": ("MPICH ",),
    "intel": ("Intel MPI ",),
    "ucc": ("",),
}
TARGETS = tuple(PREFIXES)


@dataclass
class Exported:
    text: str
    mpi: str
    count: int
    environment: dict[str, str] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Selected:
    """Which wisdom is exported; None: any."""

    mpi: str | None = None
    nodes: int | None = None


Range = tuple[int, int]
Sizes = Callable[[Choice], Range]
Steps = list[tuple[int, str]]  # from a size on, an algorithm


def openmpi_sizes(choice: Choice, totals: tuple[str, ...] = TOTALS) -> Range:
    """The sizes that Open MPI compares: totals of some collectives."""
    if choice.collective in ALWAYS_ZERO:
        return 0, MOST_SIZE
    if choice.collective in totals:
        # A mean block of N bytes: totals up to the next multiple.
        return choice.least * choice.procs, min((choice.most + 1) * choice.procs - 1, MOST_SIZE)
    return choice.least, min(choice.most, MOST_SIZE)


def steps(choices: list[Choice], sizes: Sizes, native: str) -> Steps:
    """Thresholds for a reader that takes the greatest size that does not exceed the call's."""
    found: Steps = [(0, native)]
    for choice in choices:
        least, most = sizes(choice)
        if found[-1][0] == least:
            found.pop()
        found.append((least, choice.algorithm))
        if most < MOST_SIZE:
            found.append((most + 1, native))
    return found


def fitting_openmpi(chosen: Chosen, mpi: str) -> list[Choice]:
    """The choices that tuned can express; others are noted in `chosen`."""
    kept = []
    for each in chosen.choices:
        reason = ""
        if each.algorithm.startswith((COMPONENT, UCC)):
            reason = "not an algorithm of the component tuned"
        elif each.collective in ("scan", "exscan"):
            reason = "Open MPI compares the size of the datatype * ranks, so no size can be given"
        elif not number_of(mpi, each.collective, each.algorithm):
            reason = "this version's tuned has no such algorithm"
        elif each.algorithm == TWO_PROC and each.procs != 2:
            reason = "runs with exactly 2 ranks only"
        if reason:
            chosen.left.append(Left(str(each), reason))
        else:
            kept.append(each)
    return kept


def sections(
    cases: dict[int, list[Choice]], sizes: Sizes, native: str
) -> list[tuple[int, list[tuple[int, str]]]]:
    """Tables by number of ranks. After each, native algorithms, unless the next number has a table."""
    found: list[tuple[int, Steps]] = [(0, [(0, native)])]
    for procs, choices in sorted(cases.items()):
        if found[-1][0] == procs:
            found.pop()
        found += [(procs, steps(choices, sizes, native)), (procs + 1, [(0, native)])]
    return found


def classic(chosen: Chosen, mpi: str) -> str:
    tables = by_case(fitting_openmpi(chosen, mpi))
    lines = [f"# Rules of tuned for {mpi}, from wisdom for {chosen.mpi}", f"{len(tables)}  # collectives"]
    for collective, cases in tables.items():
        made = sections(cases, openmpi_sizes, "ignore")
        lines += [f"{COLLECTIVES.index(collective)}  # {collective}", f"{len(made)}  # communicator sizes"]
        for procs, rules in made:
            lines += [f"{procs}  # ranks", f"{len(rules)}  # rules: bytes, algorithm, fan-in/out, segment"]
            for size, name in rules:
                lines.append(f"{size} {number_of(mpi, collective, name)} 0 0  # {name}")
    return "\n".join(lines) + "\n"


def six(chosen: Chosen) -> str:
    tables = {}
    for collective, cases in by_case(fitting_openmpi(chosen, OPENMPI_6)).items():
        tables[json_name(collective)] = [
            {
                "comm_size_min": procs,
                "comm_size_max": procs,
                "comm_rank_distribution": "any",
                "rules": [six_rule(each) for each in choices],
            }
            for procs, choices in sorted(cases.items())
        ]
    return json.dumps({"rule_file_version": 3, "module": "tuned", "collectives": tables}, indent=1) + "\n"


def six_rule(choice: Choice) -> dict[str, int | str]:
    least, most = openmpi_sizes(choice)
    bounded: dict[str, int | str] = {"msg_size_max": most} if most < MOST_SIZE else {}
    return {"msg_size_min": least, **bounded, "alg": choice.algorithm}


def han(chosen: Chosen) -> str:
    """Which component serves the whole communicator, by its size and the bytes of a block."""
    kept = []
    for each in chosen.choices:
        component = each.algorithm.removeprefix(COMPONENT)
        if not each.algorithm.startswith(COMPONENT):
            chosen.left.append(
                Left(str(each), f"han chooses components; write {COMPONENT}tuned or {COMPONENT}han")
            )
        elif component not in COMPONENTS or each.collective not in IMPLEMENTED:
            chosen.left.append(Left(str(each), "han has no such component or collective"))
        else:
            kept.append(Choice(each.collective, each.procs, each.least, each.most, component))
    tables = by_case(kept)
    lines = [str(len(tables))]
    for collective, cases in tables.items():
        made = sections(cases, lambda each: (each.least, min(each.most, MOST_SIZE)), "han")
        lines += [collective, "1", "2", str(len(made))]
        for procs, rules in made:
            lines += [str(max(procs, 1)), str(len(rules)), *(f"{size} {name}" for size, name in rules)]
    return "\n".join(lines) + "\n"


def intel_rules(chosen: Chosen) -> str:
    lines = []
    for collective, cases in by_case(chosen.choices).items():
        parts = []
        for each in (choice for choices in cases.values() for choice in choices):
            highest = intel.HIGHEST.get(collective.upper(), -1)
            if not each.algorithm.isdigit() or int(each.algorithm) > highest:
                chosen.left.append(Left(str(each), f"Intel MPI's presets are numbers, here 0 to {highest}"))
                continue
            most = min(each.most, 2**31 - 1)
            parts.append(f"{each.algorithm}:{each.least}-{most}@{each.procs}-{each.procs}")
        if parts:
            lines.append(f'export {intel.PREFIX}{collective.upper()}="{";".join(parts)}"')
    return "\n".join(lines) + "\n"


def ucc_rules(chosen: Chosen) -> str:
    parts = []
    for each in chosen.choices:
        name = each.algorithm.removeprefix(UCC)
        if not each.algorithm.startswith(UCC):
            chosen.left.append(Left(str(each), f"not an algorithm of UCC; wisdom names those as {UCC}bruck"))
        elif name not in ucc.ALGORITHMS.get(each.collective, ()):
            chosen.left.append(Left(str(each), "UCC has no such algorithm"))
        else:
            least, most = openmpi_sizes(each, TOTALS_OF_UCC)
            end = "inf" if most >= MOST_SIZE else str(most + 1)  # the end is not included
            parts.append(f"{each.collective}:{least}-{end}:host:[{each.procs}-{each.procs}]:inf:@{name}")
    return f"export UCC_TL_UCP_TUNE='{'#'.join(parts)}'\n" if parts else "\n"


def environment(target: str, path: str) -> dict[str, str]:
    """The variables that switch a file on."""
    tuned = {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": path,
    }
    if target == OPENMPI_4:
        return tuned
    if target in (OPENMPI_5, OPENMPI_6):  # over several nodes han has the higher priority
        return {**tuned, "OMPI_MCA_coll_han_priority": "0"}
    if target == "han":
        return {
            "OMPI_MCA_coll_han_priority": "35",
            "OMPI_MCA_coll_han_use_dynamic_file_rules": "true",
            "OMPI_MCA_coll_han_dynamic_rules_filename": path,
        }
    return {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": path} if target == "mpich" else {}


NOTES = {
    OPENMPI_6: "parsed only: Open MPI 6 is not released",
    "han": "no choice of han over nodes was run; coll_han_dump_dynamic_rules 1 prints what han reads",
    "intel": "parsed only; sizes are those of a block, and Intel's manual does not define them; "
    "check with I_MPI_DEBUG=5",
    "ucc": "parsed only; check with UCC_COLL_TRACE=info",
    "mpich": "on one node bcast, reduce, allreduce and barrier run release_gather instead; "
    "MPIR_CVAR_DEVICE_COLLECTIVES=none switches it off",
}


def export(
    entries: list[Entry], target: str, output: Path | None, selected: Selected, library: Path | None = None
) -> Exported:
    chosen = choose(entries, PREFIXES[target], selected.mpi, selected.nodes)
    if target == "mpich":
        text = mpich_rules(chosen, library)
    elif target == "han":
        text = han(chosen)
    elif target == OPENMPI_6:
        text = six(chosen)
    elif target == "intel":
        text = intel_rules(chosen)
    else:
        text = ucc_rules(chosen) if target == "ucc" else classic(chosen, target)
    said = {each.what for each in chosen.left}
    count = sum(str(each) not in said for each in chosen.choices)
    if not count:
        reasons = "; ".join(f"{each.what}: {each.reason}" for each in chosen.left[:3])
        raise RequestError(
            f"the wisdom for {chosen.mpi} has no native algorithm that {target} can express "
            f"({reasons or 'convene tune does not measure native algorithms by name'})"
        )
    path = str(output.resolve()) if output else "/absolute/path/of/this/file"
    notes = [NOTES[target]] if target in NOTES else []
    return Exported(text, chosen.mpi, count, environment(target, path), chosen.left, notes)
