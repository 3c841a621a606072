# SPDX-License-Identifier: BSD-3-Clause
"""One page for each algorithm, in a folder for its collective, and their lists: from descriptors, with
pictures and counts of schedules. Forms with unequal blocks share the pages of those with equal ones."""

from itertools import combinations
from pathlib import Path
from typing import cast

import pages
from convene import _core
from convene.base.core_types import Algorithm, Parameter
from convene.catalogue import collectives
from convene.catalogue.algorithms import known_algorithms

NEEDS = {
    "none": "any number of processes",
    "even": "an even number of processes",
    "power_of_two": "a number of processes that is a power of two",
}
ARRIVALS = {
    "forecast": "uses a forecast on which all ranks agree",
    "messages": "exchanges them in notices as it runs (online algorithm); needs no forecast",
}
# The second picture: where nothing is required, a number that is no power of two.
PICTURED = {"none": (4, 5), "even": (4, 6), "power_of_two": (4, 8)}
COUNTED = (2, 3, 4, 5, 6, 8, 12, 16, 21, 32, 64, 128)
VARIANTS_AT = 16  # processes, at which variants of an algorithm are compared
SEGMENTS_PICTURED = 2


HOME_OF_NATIVE = "native"

# What the rows of a picture and the labels in it are, where they are not blocks by their rank.
READING = {
    "scatter": "A block has the number of its destination rank.",
    "bcast": "The root's vector is one block; its segments, if any, are numbered.",
    "alltoall": "A block has two numbers: 0.1 goes from rank 0 to rank 1.",
    "barrier": "All messages are empty. The numbers at a message are the ranks whose arrival the receiver "
    "knows "
    "from it.",
    "neighbor_allgather": "The ranks form a periodic plane that is as square as possible; adjacent ranks, "
    "including diagonal ones, are neighbours. A row is a position in each rank's list of sources, so it has "
    "different blocks on different ranks.",
    "neighbor_alltoall": "The ranks form a periodic plane that is as square as possible; adjacent ranks, "
    "including diagonal ones, are neighbours. A block has two numbers: 0.1 goes from rank 0 to its target 1. "
    "A row is a position in each rank's list of sources.",
}
# Where the ranks are of algorithms that look at that.
CORES = 4
PICTURED_ON_NODES = 8
ROOT_PICTURED = 1  # of collectives that have a root: 0 would hide what the root does to the order of ranks


def algorithms_of(served: list[str]) -> list[Algorithm]:
    """The algorithms with schedules for a family of collectives, restricted to this family."""
    return [
        cast(Algorithm, {**a, "collectives": [name for name in a["collectives"] if name in served]})
        for a in known_algorithms(served)
        if not a["native"]
    ]


def native() -> Algorithm:
    return next(a for a in _core.algorithms(_core.collectives()[0]) if a["native"])


def home(algorithm: Algorithm) -> str:
    """The folder of its page."""
    return collectives.family(algorithm["collectives"][0])


def runs_with(algorithm: Algorithm, procs: int) -> bool:
    return not _core.unmet(algorithm["collectives"][0], algorithm["name"], procs)


def where(algorithm: Algorithm, procs: int) -> dict[str, str]:
    """Nodes of four cores, for algorithms that depend on nodes."""
    if not algorithm["parts"]:
        return {}
    return {"machine": f"node:{-(-procs // CORES)} core:{CORES}", "placement": "sequential"}


def pictured_spec(algorithm: Algorithm) -> str:
    """Few segments; more would make the picture longer, not clearer."""
    has_segments = any(parameter["name"] == "segments" for parameter in algorithm["parameters"])
    return algorithm["name"] + (f";segments={SEGMENTS_PICTURED}" if has_segments else "")


def values(parameter: Parameter) -> str:
    if parameter["words"]:
        return ", ".join(f"`{word}`" for word in parameter["words"])
    several = ", or several as in `4x4x8`" if parameter["is_list"] else ""
    return f"{parameter['least']} to {parameter['most']}{several}"


def arrival_source(algorithm: Algorithm) -> list[tuple[str, str]]:
    """The row on arrivals, for arrival-aware algorithms."""
    if algorithm["arrival_source"] == "none":
        return []
    return [("arrivals", f"{ARRIVALS[algorithm['arrival_source']]}; see [arrivals](../../guide/arrivals.md)")]


def needs(algorithm: Algorithm) -> str:
    if algorithm["parts"]:
        return "the requirements of its parts; the mapping of ranks to nodes"
    operator = ", a commutative operator" if algorithm["commutative_only"] else ""
    node = ", all on one node" if algorithm["shares_memory"] else ""
    return NEEDS[algorithm["requirement"]] + node + operator


def facts(algorithm: Algorithm) -> str:
    return pages.table(
        ("", ""),
        (
            ("serves", ", ".join(f"`{collective}`" for collective in algorithm["collectives"])),
            ("needs", needs(algorithm)),
            ("rounds", algorithm["rounds"]),
            *arrival_source(algorithm),
            ("source", algorithm["source"]),
        ),
    )


def parameters(algorithm: Algorithm) -> str:
    if not algorithm["parameters"]:
        return "This algorithm has no parameters.\n"
    rows = [(f"`{p['name']}`", p["summary"], values(p), f"`{p['default']}`") for p in algorithm["parameters"]]
    first = algorithm["parameters"][0]
    value = first["words"][-1] if first["words"] else first["default"]
    return (
        pages.table(("parameter", "meaning", "values", "default"), rows)
        + f"\nParameters follow the name, as in `{algorithm['name']};{first['name']}={value}`. `convene "
        "show` also "
        f"accepts them as options, as in `--{first['name'].replace('_', '-')} {value}`.\n"
    )


def parts(algorithm: Algorithm) -> str:
    """The section on the parts of a composition."""
    if not algorithm["parts"]:
        return ""
    rows = [
        (p["name"], f"`{p['collective']}`", p["summary"], f"`{p['default']}`") for p in algorithm["parts"]
    ]
    return (
        "## Parts\n\nThis algorithm is a [composition](../../guide/hierarchy.md) of other algorithms.\n\n"
        + pages.table(("part", "algorithm of", "meaning", "default"), rows)
        + "\n"
    )


def counts_row(
    collective: str, spec: str, procs: int, on: dict[str, str] | None = None
) -> tuple[int, int, int, int, int]:
    request = _core.ScheduleRequest(collective=collective, spec=spec, procs=procs, **(on or {}))
    counts = _core.statistics(request)
    return (
        counts["rounds"],
        counts["messages"],
        counts["blocks"],
        counts["most_messages_sent"],
        counts["most_blocks_sent"],
    )


COUNTS = ("rounds", "messages", "blocks", "messages of the busiest rank", "blocks of the busiest rank")


def counts(algorithm: Algorithm) -> str:
    collective, name = algorithm["collectives"][0], algorithm["name"]
    rows = [
        (procs, *counts_row(collective, name, procs, where(algorithm, procs)))
        for procs in COUNTED
        if runs_with(algorithm, procs)
    ]
    text = (
        "Messages and blocks are totals over all ranks; the busiest rank is the one that sends most. Each "
        "segment of a block counts."
        + (f" The mapping is sequential, on nodes of {CORES} ranks.\n\n" if algorithm["parts"] else "\n\n")
        + pages.table(("processes", *COUNTS), rows, numbers=True)
    )
    variants = []
    if not algorithm["parts"]:
        variants = [(f"`{spec}`", *numbers) for spec, numbers in variants_that_count(collective, name)]
    if variants:
        text += f"\nParameters that change the counts, at {VARIANTS_AT} processes:\n\n"
        text += pages.table(("algorithm", *COUNTS), variants, numbers=True)
    return text


def variants_that_count(collective: str, name: str) -> list[tuple[str, tuple[int, ...]]]:
    """The checker's parameter samples in which every setting changes the counts."""
    found: dict[str, tuple[int, ...]] = {}
    for sample in _core.samples(collective, name):
        settings = sample.split(";")[1:]
        for count in range(1, len(settings) + 1):
            for chosen in combinations(settings, count):
                spec = ";".join((name, *chosen))
                numbers = counts_row(collective, spec, VARIANTS_AT)
                less = [";".join((name, *(s for s in chosen if s != setting))) for setting in chosen]
                if all(counts_row(collective, other, VARIANTS_AT) != numbers for other in less):
                    found[spec] = numbers
    return list(found.items())


def pictures(algorithm: Algorithm, directory: Path) -> str:
    collective, spec = algorithm["collectives"][0], pictured_spec(algorithm)
    text = ""
    if spec != algorithm["name"]:
        text += f"With `{spec}`.\n\n"
    root = ROOT_PICTURED if _core.is_rooted(collective) else 0
    if root:
        text += f"The root is rank {root}.\n\n"
    for procs in [PICTURED_ON_NODES] if algorithm["parts"] else PICTURED[algorithm["requirement"]]:
        name = f"{algorithm['name']}-{procs}.svg"
        drawn = pages.picture(collective, spec, procs, root=root, **where(algorithm, procs))
        pages.write(directory / name, drawn)
        text += pages.image(name, drawn, f"{algorithm['name']} with {procs} processes, round by round") + "\n"
    return text


def page(algorithm: Algorithm, directory: Path) -> str:
    name = algorithm["name"]
    title = name if algorithm["native"] else f"{home(algorithm)}: {name}"
    text = f"# {title}\n\n{algorithm['summary']}\n\n{facts(algorithm)}\n"
    if algorithm["native"]:
        return text + (
            "Native is the default. Convene passes the call to the MPI library unchanged, and only counts "
            "and "
            "times it. There is no schedule to show.\n"
        )
    collective = algorithm["collectives"][0]
    text += f"```sh\nconvene run --use {collective}={name} -- mpirun -n 8 ./app\n"
    on = ' --mapping "node:2 core:4"' if algorithm["parts"] else ""
    text += f"convene show {collective} {name} -p 8{on}\n```\n"
    reading = READING.get(home(algorithm), "")
    text += "\n## Pictures\n\n" + (f"{reading}\n\n" if reading else "") + pictures(algorithm, directory)
    text += parts(algorithm) + f"## Parameters\n\n{parameters(algorithm)}\n## Counts\n\n{counts(algorithm)}"
    return text


def contents(folder: str, served: list[str]) -> str:
    """The list of a family's algorithms."""
    algorithms = algorithms_of(served)
    rows = [(f"[{a['name']}]({a['name']}.md)", needs(a), a["rounds"], a["summary"]) for a in algorithms]
    some = [a for a in algorithms if a["collectives"] != served]
    only = "".join(f" `{a['name']}` is for {' and '.join(a['collectives'])} only." for a in some)
    names = "\n".join(a["name"] for a in algorithms)
    return (
        f"# {' and '.join(served)}\n\n`convene list {folder}` prints this table.{only}\n\n"
        + pages.table(("algorithm", "requirement", "rounds", "summary"), rows)
        + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def index(families: dict[str, list[str]]) -> str:
    rows = [
        (
            f"[{' and '.join(served)}]({folder}/index.md)",
            ", ".join(f"[{a['name']}]({folder}/{a['name']}.md)" for a in algorithms_of(served)),
        )
        for folder, served in families.items()
    ]
    names = "\n".join(f"{folder}/index" for folder in families)
    return (
        "# Algorithms\n\nAlgorithms of different collectives may have the same name, such as binomial. "
        "`convene list` prints all algorithms, and `convene verify` checks their schedules. The algorithm of "
        f"the MPI library is named [{HOME_OF_NATIVE}]({HOME_OF_NATIVE}.md), for every collective.\n\n"
        + pages.table(("collectives", "algorithms"), rows)
        + "\nIn the pictures a column is a rank and a row is a place of the output; if relevant, also of the "
        "input (in) and of scratch buffers (s). A filled cell with a dark border arrives in that round; a "
        "pale cell arrived before. An arrow is a message, with the numbers of its blocks. Arrows to a higher "
        "rank are above the columns, those to a lower rank below.\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n{HOME_OF_NATIVE}\n```\n"
    )


def write(directory: Path) -> None:
    families = collectives.families(_core.collectives())
    for folder, served in families.items():
        algorithms = algorithms_of(served)
        for algorithm in algorithms:
            pages.write(directory / folder / f"{algorithm['name']}.md", page(algorithm, directory / folder))
        pages.write(directory / folder / "index.md", contents(folder, served))
        pages.remove_others(directory / folder, ".md", ["index", *(a["name"] for a in algorithms)])
    pages.write(directory / f"{HOME_OF_NATIVE}.md", page(native(), directory))
    pages.write(directory / "index.md", index(families))
    # Earlier builds had all pages and pictures here.
    pages.remove_others(directory, ".md", ["index", HOME_OF_NATIVE])
    pages.remove_others(directory, ".svg", [])
