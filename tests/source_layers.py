# SPDX-License-Identifier: BSD-3-Clause
"""The structure of src/, as src/ROOMS states it and as the sources have it."""

import re
from collections import defaultdict
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)
NAMESPACE = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{")
TYPE = re.compile(
    r"^(?:template <.*> )?(?:class|struct|enum class|enum|union)"
    r"(?: \[\[.*?\]\]| alignas\(.*?\))* (\w+)[^;]*\{"
)
ALIAS = re.compile(r"^using (\w+) =")
NO_FUNCTION = (
    r"(?!using|return|namespace|class|struct|enum|template|friend|static_assert|typedef|extern|#|//|\}|\s)"
)
FUNCTION = re.compile(rf"^{NO_FUNCTION}[\w:<>,*&\[\] ]*?[ *&]([a-z_]\w*)\(")


def reach(graph: dict[str, set[str]], start: str) -> set[str]:
    """All nodes that can be reached from one, itself included."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += graph[current]
    return found


class Layers:
    """src/ROOMS, read: what each layer may include, and within a layer each folder."""

    def __init__(self, text: str) -> None:
        self.sees: dict[str, set[str]] = {}
        self.mpi: set[str] = set()
        self.folders: dict[str, dict[str, set[str]]] = {}
        layer = ""
        for line in text.splitlines():
            if not line or line.startswith("#"):
                continue
            head, _, rest = line.partition(":")
            if line.startswith(" "):
                self.folders[layer][head.strip()] = set(rest.split())
                continue
            layer, *kind = head.split()
            self.sees[layer] = set(rest.split())
            self.folders[layer] = {}
            if kind:
                self.mpi.add(layer)

    def reach(self, layer: str) -> set[str]:
        return reach(self.sees, layer)

    def folder_breaches(self, source: Path, text: str) -> list[str]:
        """What a source (its path within src/) includes of its own layer against the order of the folders."""
        layer, *between, _ = source.parts
        folders = self.folders[layer]
        if not folders:
            return []
        folder = "/".join(between)
        if folder not in folders:
            return [f"{folder or 'no folder'} of {layer} is not listed"]
        allowed = reach(folders, folder)
        targets = [Path(target).parts for _, target in INCLUDE.findall(text)]
        own = ["/".join(parts[1:-1]) for parts in targets if parts[0] == layer]
        return [target for target in own if target not in allowed]


def is_test(source: Path) -> bool:
    return source.stem.endswith("_test") or "for_test" in source.stem


def sources(src: Path) -> list[Path]:
    return sorted(p for p in src.rglob("*") if p.suffix in {".hpp", ".cpp"} and not is_test(p))


def modules(src: Path) -> dict[str, set[str]]:
    """The include graph of modules: a header and its source are one."""
    graph: dict[str, set[str]] = defaultdict(set)
    for source in sources(src):
        module = str(source.relative_to(src).with_suffix(""))
        for quote, target in INCLUDE.findall(source.read_text()):
            if quote == '"' and (src / target).exists() and not is_test(Path(target)):
                graph[module].add(str(Path(target).with_suffix("")))
        graph[module].discard(module)
    return dict(graph)


def cycles(graph: dict[str, set[str]]) -> list[tuple[str, ...]]:
    """Groups of modules that reach each other."""
    nodes = set(graph) | {target for targets in graph.values() for target in targets}
    whole = {node: graph.get(node, set()) for node in nodes}
    reached = {node: reach(whole, node) for node in nodes}
    rings = {
        tuple(sorted({node, *(other for other in reached[node] if node in reached[other])})) for node in nodes
    }
    return sorted(ring for ring in rings if len(ring) > 1)


def names_defined(text: str) -> set[str]:
    """Qualified names of types, aliases and functions at namespace scope, without anonymous namespaces."""
    found = set()
    scopes: list[str | None] = []
    for line in text.splitlines():
        if opened := NAMESPACE.match(line):
            if not line.rstrip().endswith("}"):
                scopes.append(opened[1])
        elif line.startswith("}  // namespace"):
            scopes.pop()
        elif scopes and None not in scopes:
            for pattern in (TYPE, ALIAS, FUNCTION):
                if name := pattern.match(line):
                    found.add("::".join([*map(str, scopes), name[1]]))
                    break
    return found


def names_in_two_folders(src: Path) -> list[str]:
    where: dict[str, set[str]] = defaultdict(set)
    for source in sources(src):
        for name in names_defined(source.read_text()):
            where[name].add(str(source.parent.relative_to(src)))
    return sorted(f"{name}: {', '.join(sorted(found))}" for name, found in where.items() if len(found) > 1)
