# SPDX-License-Identifier: BSD-3-Clause
"""One page for each algorithm, and their list: from descriptors, with pictures and counts of schedules."""

from itertools import combinations
from pathlib import Path

import pages
from convene import _core
from convene.shapes import Algorithm, Parameter

NEEDS = {
    "none": "any number of processes",
    "even": "an even number of processes",
    "power_of_two": "a number of processes that is a power of two",
}
# The second picture: where nothing is required, a number that is no power of two.
PICTURED = {"none": (4, 5), "even": (4, 6), "power_of_two": (4, 8)}
COUNTED = (2, 3, 4, 5, 6, 8, 12, 16, 21, 32, 64, 128)
VARIANTS_AT = 16  # processes, at which variants of an algorithm are compared
SEGMENTS_PICTURED = 2


def all_algorithms() -> list[Algorithm]:
    """Every algorithm once, in the catalogue's order."""
    found = {a["name"]: a for collective in _core.collectives() for a in _core.algorithms(collective)}
    return list(found.values())


def runs_with(algorithm: Algorithm, procs: int) -> bool:
    return not _core.unmet(algorithm["collectives"][0], algorithm["name"], procs)


def pictured_spec(algorithm: Algorithm) -> str:
    """Few segments: many make a long picture that shows no more."""
    has_segments = any(parameter["name"] == "segments" for parameter in algorithm["parameters"])
    return algorithm["name"] + (f";segments={SEGMENTS_PICTURED}" if has_segments else "")


def values(parameter: Parameter) -> str:
    if parameter["words"]:
        return ", ".join(f"`{word}`" for word in parameter["words"])
    return f"{parameter['least']} to {parameter['most']}"


def learns(algorithm: Algorithm) -> list[tuple[str, str]]:
    """How it knows who will come late; no row where it does not ask."""
    if algorithm["learns"] == "none":
        return []
    return [("arrivals", "uses a forecast, see [arrivals](../guide/arrivals.md)")]


def facts(algorithm: Algorithm) -> str:
    return pages.table(
        ("", ""),
        (
            ("serves", ", ".join(f"`{collective}`" for collective in algorithm["collectives"])),
            ("needs", NEEDS[algorithm["requirement"]]),
            ("rounds", algorithm["rounds"]),
            *learns(algorithm),
            ("source", algorithm["source"]),
        ),
    )


def parameters(algorithm: Algorithm) -> str:
    if not algorithm["parameters"]:
        return "It has no parameters.\n"
    rows = [(f"`{p['name']}`", p["summary"], values(p), f"`{p['default']}`") for p in algorithm["parameters"]]
    first = algorithm["parameters"][0]
    value = first["words"][-1] if first["words"] else first["default"]
    return (
        pages.table(("parameter", "what it says", "values", "default"), rows)
        + f"\nBehind the name they are written as in `{algorithm['name']};{first['name']}={value}`; for "
        f"`convene show` also as `--{first['name'].replace('_', '-')} {value}`.\n"
    )


def counts_row(collective: str, spec: str, procs: int) -> tuple[int, int, int, int, int]:
    counts = _core.statistics(collective, spec, procs)
    return (
        counts["rounds"],
        counts["messages"],
        counts["blocks"],
        counts["most_messages_sent"],
        counts["most_blocks_sent"],
    )


COUNTS = ("rounds", "messages", "blocks", "messages of the busiest rank", "its blocks")


def counts(algorithm: Algorithm) -> str:
    collective, name = algorithm["collectives"][0], algorithm["name"]
    rows = [(procs, *counts_row(collective, name, procs)) for procs in COUNTED if runs_with(algorithm, procs)]
    text = (
        "Messages and blocks are of all ranks together; the busiest rank is the one that sends most. "
        "Where a block is cut into segments, each segment counts.\n\n"
        + pages.table(("processes", *COUNTS), rows, numbers=True)
    )
    variants = [(f"`{spec}`", *numbers) for spec, numbers in variants_that_count(collective, name)]
    if variants:
        text += f"\nParameters that change the counts, at {VARIANTS_AT} processes:\n\n"
        text += pages.table(("algorithm", *COUNTS), variants, numbers=True)
    return text


def variants_that_count(collective: str, name: str) -> list[tuple[str, tuple[int, ...]]]:
    """Of the parameters that the checker tries those that matter to the counts: taking away any one of a
    variant's settings gives other numbers."""
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
    for procs in PICTURED[algorithm["requirement"]]:
        name = f"{algorithm['name']}-{procs}.svg"
        drawn = pages.picture(collective, spec, procs)
        pages.write(directory / name, drawn)
        text += pages.image(name, drawn, f"{algorithm['name']} with {procs} processes, round by round") + "\n"
    return text


def page(algorithm: Algorithm, directory: Path) -> str:
    name = algorithm["name"]
    text = f"# {name}\n\n{algorithm['summary']}\n\n{facts(algorithm)}\n"
    if algorithm["native"]:
        return text + (
            "This is what runs where nothing else was chosen. A call is handed to the MPI library as it "
            "came; Convene only counts and times it. There is no schedule to show: what the library "
            "does is its own affair.\n"
        )
    collective = algorithm["collectives"][0]
    text += f"```sh\nconvene run --use {collective}={name} -- mpirun -n 8 ./app\n"
    text += f"convene show {collective} {name} -p 8\n```\n"
    text += f"\n## Pictures\n\n{pictures(algorithm, directory)}"
    text += f"## Parameters\n\n{parameters(algorithm)}\n## Counts\n\n{counts(algorithm)}"
    return text


def index(algorithms: list[Algorithm]) -> str:
    rows = [
        (f"[{a['name']}]({a['name']}.md)", NEEDS[a["requirement"]], a["rounds"], a["summary"])
        for a in algorithms
    ]
    served = " and ".join(f"`{collective}`" for collective in _core.collectives())
    names = "\n".join(a["name"] for a in algorithms)
    return (
        f"# Algorithms\n\nAll of them serve {served} unless their page says otherwise. `convene list` prints "
        "this table, and `convene verify` plays every one of their schedules.\n\n"
        + pages.table(("algorithm", "needs", "rounds", "what it does"), rows)
        + "\nIn the pictures a column is a rank and a row is a place of the output. A filled cell with a "
        "dark border arrives in that round; a pale one was there before. An arrow is a message, "
        "with the numbers of its blocks. Arrows to a higher rank are above the columns, those to a "
        "lower rank below.\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def write(directory: Path) -> None:
    algorithms = all_algorithms()
    for algorithm in algorithms:
        pages.write(directory / f"{algorithm['name']}.md", page(algorithm, directory))
    pages.write(directory / "index.md", index(algorithms))
    pages.remove_others(directory, ".md", ["index", *(algorithm["name"] for algorithm in algorithms)])
