# SPDX-License-Identifier: BSD-3-Clause
"""State of emulated clusters: their shape, processes and directories."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from convene._core import RequestError
from convene.base import jsons
from convene.base.result_types import Json

RUNS = Path("/run/convene-cluster")
MOST_NODES = 64
LAUNCHING = "launch"  # host name of the launching machine
PATIENCE = 10.0  # seconds for the kernel to end what ran in a cluster


@dataclass(frozen=True)
class Shape:
    """How many nodes, and what joins them. Times are in seconds, rates in bits per second; 0: unlimited."""

    nodes: int
    slots: int = 1  # ranks that launchers put on each
    rate: float = 0
    delay: float = 0
    groups: int = 1
    group_delay: float = 0
    private: bool = False  # nodes have their own files, and a launching machine is not one of them

    @property
    def has_switch(self) -> bool:
        return self.delay > 0 or self.group_delay > 0


@dataclass
class Cluster:
    name: str
    shape: Shape
    first: int = 0  # the process whose end is the cluster's
    started: int = 0  # when, in the kernel's ticks: process numbers are reused
    nodes: list[int] = field(default_factory=list)  # the nodes' processes, as numbered inside
    launching: int = 0  # the process of the launching machine; 0: there is none
    private: list[str] = field(default_factory=list)  # directories of which each node has its own
    is_complete: bool = False  # False: being made, or its maker was ended

    @property
    def folder(self) -> Path:
        return RUNS / self.name

    @property
    def is_up(self) -> bool:
        return self.first > 0 and start_time(self.first) == self.started

    @property
    def machines(self) -> list[int]:
        """The processes of the nodes, then that of the launching machine."""
        return [*self.nodes, *([self.launching] if self.launching else [])]

    @property
    def starts_on(self) -> int:
        """Number of the machine on which commands run by default."""
        return self.shape.nodes if self.launching else 0

    def host(self, machine: int) -> str:
        return host_of(machine) if machine < self.shape.nodes else LAUNCHING

    def save(self) -> None:
        part = self.folder / "state.json.part"
        part.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        part.rename(self.folder / "state.json")

    def inside(self, *command: str, node: int | None = None) -> list[str]:
        """A command line that runs another one in the cluster, or in a node of it. (Whoever enters a process
        namespace is the child of the one who asked for it, and must end with it.)"""
        words = [
            "nsenter",
            f"--target={self.first}",
            "--pid",
            "--mount",
            "--net",
            "setpriv",
            "--pdeathsig=TERM",
        ]
        if node is not None:
            words += ["nsenter", f"--target={self.machines[node]}", "--mount", "--net", "--uts", "--ipc"]
        return [*words, *command]

    def processes(self) -> int:
        """How many programs run in it, besides its own."""
        if not self.is_up or not self.is_complete:
            return 0
        space = namespace_of(self.first)
        found = sum(namespace_of(int(path.name)) == space for path in Path("/proc").glob("[0-9]*"))
        return found - 1 - len(self.machines) - self.shape.has_switch


def start_time(process: int) -> int | None:
    """The start time of a process; None if it has ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return None if state in "ZX" else int(fields[18])


def namespace_of(process: int) -> str | None:
    try:
        return str(Path(f"/proc/{process}/ns/pid").readlink())
    except OSError:
        return None


def load(name: str) -> Cluster | None:
    try:
        path = RUNS / name / "state.json"
        if not path.exists():
            return None
        value = jsons.read(path)
        return Cluster(**{**value, "shape": Shape(**value["shape"])})
    except (KeyError, ValueError, TypeError) as error:
        raise RequestError(
            f"cannot read {RUNS / name / 'state.json'}: {error}; remove {RUNS / name}"
        ) from None


def known() -> list[str]:
    return sorted(path.parent.name for path in RUNS.glob("*/state.json"))


def find(name: str) -> Cluster:
    """The cluster of this name, which must be up."""
    cluster = load(name)
    if cluster is None or not cluster.is_up:
        raise RequestError(f"there is no cluster '{name}'; create it with: convene cluster up {option(name)}")
    if not cluster.is_complete:
        raise RequestError(
            f"the cluster '{name}' is being created, or its creation was interrupted; wait, or remove it "
            "with: "
            f"convene cluster down {option(name)}".rstrip()
        )
    return cluster


def option(name: str) -> str:
    """What has to be typed besides, for a cluster that is not the usual one."""
    return "" if name == "default" else f"--name {name}"


def as_json(cluster: Cluster) -> Json:
    return {
        "name": cluster.name,
        "up": cluster.is_up,
        **asdict(cluster.shape),
        "hosts": {host_of(node): address_of(node) for node in range(cluster.shape.nodes)},
        "processes": cluster.processes() if cluster.is_up else 0,
        "folder": str(cluster.folder),
    }


def check_name(name: str) -> str:
    if not (name.isascii() and name.replace("-", "").replace("_", "").isalnum()) or len(name) > 40:
        raise RequestError(f"invalid --name '{name}'; give at most 40 letters, digits, - and _")
    return name


def host_of(node: int) -> str:
    return f"n{node}"


def address_of(node: int) -> str:
    return f"10.77.0.{node + 1}"
