# SPDX-License-Identifier: BSD-3-Clause
"""Representative mappings and neighbourhood graphs for verification."""

import random
from dataclasses import dataclass
from functools import cache

from convene.base.core_types import Where


@dataclass(frozen=True)
class Mapping:
    """Which ranks share a node, for algorithms that look at that, and who is whose neighbour."""

    machine: str = ""
    placement: str = ""
    graph: str = ""

    @property
    def as_arguments(self) -> Where:
        where: Where = {"machine": self.machine, "placement": self.placement}
        return {**where, "graph": self.graph} if self.graph else where

    @property
    def in_words(self) -> str:
        graph = f", graph {self.graph}" if self.graph else ""
        if self.machine:
            return f"{graph}, {self.placement} on {self.machine}"
        return graph + (f", on nodes {self.placement}" if self.placement else "")


NOWHERE = Mapping()


@cache
def representative_mappings(procs: int) -> list[Mapping]:
    """Nodes that are filled one after the other, that are dealt ranks in turn, and that have any ranks: of
    sizes that differ little, and much."""
    source = random.Random(procs)
    few = max(1, procs // 4)
    balanced = [rank % few for rank in range(procs)]
    source.shuffle(balanced)
    wild = [min(source.randrange(few), source.randrange(few)) for _ in range(procs)]
    found = [
        Mapping(f"node:{-(-procs // 4)} core:4", "sequential"),
        Mapping(f"node:3 core:{-(-procs // 3)}", "cyclic"),
        *(Mapping(placement=",".join(map(str, nodes))) for nodes in (balanced, wild)),
    ]
    return list(dict.fromkeys(found))


def representative_graphs(procs: int) -> list[str]:
    """Grids with and without ends, neighbours that share neighbours, and any graphs, sparse and dense."""
    return ["cart", "torus", "moore", *(f"random:{degree}:{procs}" for degree in (1, 3, 8))]
