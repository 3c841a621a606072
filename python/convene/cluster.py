# SPDX-License-Identifier: BSD-3-Clause
"""Emulated clusters: several nodes on one Linux machine, each with its own network, host name, shared memory
and semaphores, joined by links whose rate and delay can be chosen.

A cluster is a process namespace. Its first process only sleeps; when that one is killed, the kernel ends
all that run in the cluster, and takes its networks, links and mounts away with it: nothing can be left over.
Each node is one more sleeping process in it, with namespaces of its own. The cluster's directory says which
processes these are.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from convene import paths
from convene._core import RequestError

RUNS = Path("/run/convene-cluster")
TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
    "env": "coreutils",
}
SWITCH = "convene-cluster-switch"
MOST_NODES = 64
PATIENCE = 10.0  # seconds for the kernel to end what ran in a cluster

# A queue that is as long as this at most lets TCP find the rate, as a switch's would.
BURST, QUEUE = "64kb", "20ms"

# What stands in tools' messages where the kernel lacks something, and what to say of it.
LACKING = (
    ("Unknown device type", "this kernel has no such devices; load its modules veth and bridge"),
    ("qdisc kind is unknown", "this kernel cannot limit rates; load its module sch_tbf, or leave out --rate"),
    ("/dev/net/tun", "--delay needs TAP devices; load the kernel's module tun, or leave out --delay"),
    ("Operation not permitted", "this process may not; in a container, start that one with all privileges"),
)


@dataclass(frozen=True)
class Shape:
    """How many nodes, and what joins them. Times are in seconds, rates in bits per second; 0: unlimited."""

    nodes: int
    slots: int = 1  # ranks that launchers put on each
    rate: float = 0
    delay: float = 0
    groups: int = 1
    group_delay: float = 0

    @property
    def has_switch(self) -> bool:
        return self.delay > 0 or self.group_delay > 0


@dataclass
class Cluster:
    name: str
    shape: Shape
    first: int = 0  # the process whose end is the cluster's
    started: int = 0  # when, in the kernel's ticks: processes' numbers come again
    nodes: list[int] = field(default_factory=list)  # the nodes' processes, as numbered inside
    is_complete: bool = False  # no: it is being made, or whoever made it was ended

    @property
    def folder(self) -> Path:
        return RUNS / self.name

    @property
    def is_up(self) -> bool:
        return self.first > 0 and start_time(self.first) == self.started

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
            words += ["nsenter", f"--target={self.nodes[node]}", "--mount", "--net", "--uts", "--ipc"]
        return [*words, *command]

    def processes(self) -> int:
        """How many programs run in it, besides its own."""
        if not self.is_up or not self.is_complete:
            return 0
        space = namespace_of(self.first)
        found = sum(namespace_of(int(path.name)) == space for path in Path("/proc").glob("[0-9]*"))
        return found - 1 - len(self.nodes) - self.shape.has_switch


def start_time(process: int) -> int | None:
    """When a process was started; None where it has ended."""
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
        value = json.loads((RUNS / name / "state.json").read_text(encoding="utf-8"))
        return Cluster(**{**value, "shape": Shape(**value["shape"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise RequestError(
            f"{RUNS / name / 'state.json'} cannot be read: {error}; remove {RUNS / name}"
        ) from None


def known() -> list[str]:
    return sorted(path.parent.name for path in RUNS.glob("*/state.json"))


def find(name: str) -> Cluster:
    """The cluster of this name, which must be up."""
    cluster = load(name)
    if cluster is None or not cluster.is_up:
        raise RequestError(f"there is no cluster '{name}'; make one with: convene cluster up {option(name)}")
    if not cluster.is_complete:
        raise RequestError(
            f"the cluster '{name}' is being made, or making it was interrupted; wait, or end it with: "
            f"convene cluster down {option(name)}".rstrip()
        )
    return cluster


def option(name: str) -> str:
    """What has to be typed besides, for a cluster that is not the usual one."""
    return "" if name == "default" else f"--name {name}"


def check_root() -> None:
    if os.geteuid() != 0:
        raise RequestError("only root may make networks and enter them; run it as root, as with sudo")


def check_possible(shape: Shape) -> None:
    """Throws RequestError, and says what is missing, where this machine can't have a cluster."""
    if sys.platform != "linux":
        raise RequestError("emulated clusters need Linux: its namespaces are what nodes are made of")
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise RequestError(f"emulated clusters need the program {tool}; install {package}")
    check_root()
    if shape.has_switch and not Path("/dev/net/tun").exists():
        raise RequestError(
            "--delay needs TAP devices, and there is no /dev/net/tun; load the kernel's module tun"
        )


def execute(command: Sequence[str], what: str) -> str:
    """Runs one of the system's tools. `what` is what it is to do."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        raise RequestError(explain(what, done.stderr))
    return done.stdout


def explain(what: str, said: str) -> str:
    line = " ".join(said.split()) or "it says nothing"
    return f"{what} failed: " + next((advice for words, advice in LACKING if words in line), line)


def up(name: str, shape: Shape) -> Cluster:
    """Makes a cluster. Whatever goes wrong on the way, nothing of it stays."""
    before = load(name)
    if before and before.is_up:
        raise RequestError(
            f"the cluster '{name}' is up already, with {before.shape.nodes} nodes; end it first with: "
            f"convene cluster down {option(name)}".rstrip()
        )
    check_possible(shape)
    cluster = Cluster(name, shape)
    if before:
        remove(before)
    try:
        cluster.folder.mkdir(parents=True)
    except FileExistsError:
        raise RequestError(
            f"{cluster.folder} is there already: another one makes this cluster, or was interrupted; wait, "
            "or remove that folder"
        ) from None
    except OSError as error:
        raise RequestError(f"{cluster.folder} cannot be made: {error.strerror}") from None
    try:
        start(cluster)
        add_nodes(cluster)
        join_with_switch(cluster) if shape.has_switch else join_with_bridge(cluster)
        for node in range(shape.nodes):
            give_address(cluster, node)
        cluster.is_complete = True
        cluster.save()
    except BaseException:
        remove(cluster)
        raise
    return cluster


# SIGCHLD is ignored, so that the kernel forgets those whose parents have ended.
SLEEP = "env --ignore-signal=CHLD sleep infinity </dev/null >/dev/null 2>&1 & echo $!"


def start(cluster: Cluster) -> None:
    """The first process, and so the namespaces that all nodes are in."""
    said = execute(
        ["setsid", "unshare", "--pid", "--net", "--mount", "--propagation=private", "sh", "-c", SLEEP],
        "making the cluster's namespaces",
    )
    cluster.first = int(said)
    cluster.started = start_time(cluster.first) or 0
    cluster.save()
    execute(cluster.inside("mount", "-t", "proc", "proc", "/proc"), "mounting the cluster's /proc")


def add_nodes(cluster: Cluster) -> None:
    hosts = cluster.folder / "hosts"
    lines = [f"{address_of(node)} {host_of(node)}" for node in range(cluster.shape.nodes)]
    hosts.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]), encoding="utf-8")
    for node in range(cluster.shape.nodes):
        # Shared memory is what tells MPIs apart who shares a node: each has its own.
        script = (
            f"hostname {host_of(node)} && mount --bind {shlex.quote(str(hosts))} /etc/hosts && "
            f"mount -t tmpfs tmpfs /dev/shm && {{ {SLEEP}; }}"
        )
        private = [
            "unshare",
            "--net",
            "--uts",
            "--ipc",
            "--mount",
            "--propagation=private",
            "sh",
            "-c",
            script,
        ]
        cluster.nodes.append(int(execute(cluster.inside(*private), f"making {host_of(node)}")))
    cluster.save()
    write_launch_files(cluster)


def host_of(node: int) -> str:
    return f"n{node}"


def address_of(node: int) -> str:
    return f"10.77.0.{node + 1}"


def join_with_bridge(cluster: Cluster) -> None:
    """A pair of devices for each node, its inner end `eth0`, the outer ones joined by a bridge."""
    inside = cluster.inside
    bridge = ("type", "bridge", "stp_state", "0", "forward_delay", "0")
    execute(inside("ip", "link", "add", "br0", *bridge), "making a bridge")
    execute(inside("ip", "link", "set", "br0", "up"), "starting the bridge")
    for node, process in enumerate(cluster.nodes):
        port = f"p{node}"
        pair = ("type", "veth", "peer", "name", "eth0", "netns", str(process))
        execute(inside("ip", "link", "add", port, *pair), "making a pair of network devices")
        execute(inside("ip", "link", "set", port, "master", "br0", "up"), "joining a node to the bridge")
        if cluster.shape.rate:
            limit_rate(cluster, ("dev", port), None)
            limit_rate(cluster, ("dev", "eth0"), node)


def limit_rate(cluster: Cluster, device: tuple[str, ...], node: int | None) -> None:
    shaper = ("tbf", "rate", f"{cluster.shape.rate:.0f}bit", "burst", BURST, "latency", QUEUE)
    command = cluster.inside("tc", "qdisc", "add", *device, "root", *shaper, node=node)
    execute(command, "limiting a link's rate")


def join_with_switch(cluster: Cluster) -> None:
    """A program that holds frames back. It gives every node its `eth0` itself."""
    program = paths.find(SWITCH, paths.PROGRAMS)
    if program is None:
        places = " or ".join(str(place) for place in paths.PROGRAMS)
        raise RequestError(f"--delay needs {SWITCH}, which is not in {places}; build Convene (./dev build)")
    shape = cluster.shape
    numbers = {
        "--rate": shape.rate,
        "--delay": shape.delay,
        "--groups": shape.groups,
        "--group-delay": shape.group_delay,
    }
    words = [word for name, value in numbers.items() for word in (name, str(value))]
    log = cluster.folder / "switch.log"
    program_line = shlex.join([str(program), *words, *map(str, cluster.nodes)])
    script = f"setsid {program_line} </dev/null >{shlex.quote(str(log))} 2>&1 &"
    execute(cluster.inside("sh", "-c", script), "starting the switch")
    end = time.monotonic() + PATIENCE
    while "ready" not in (said := log.read_text(errors="replace") if log.exists() else ""):
        if said or time.monotonic() > end:
            raise RequestError(explain("starting the switch", said))
        time.sleep(0.01)


def give_address(cluster: Cluster, node: int) -> None:
    for words in (
        ("link", "set", "lo", "up"),
        ("addr", "add", f"{address_of(node)}/24", "dev", "eth0"),
        ("link", "set", "eth0", "addrgenmode", "none", "up"),
    ):
        execute(cluster.inside("ip", *words, node=node), f"starting the network of {host_of(node)}")


# What launchers call instead of ssh: AGENT [OPTION…] HOST COMMAND…
AGENT = """#!/bin/sh
while :; do
  case $1 in
    -[bcDeFIiJLlmOopRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=$1
shift
case $host in
{cases}
  *) echo "convene cluster: there is no node $host" >&2; exit 255 ;;
esac
exec nsenter --target="$node" --mount --net --uts --ipc sh -c "$*"
"""


def write_launch_files(cluster: Cluster) -> None:
    cases = [
        f"  {host_of(node)} | {address_of(node)}) node={process} ;;"
        for node, process in enumerate(cluster.nodes)
    ]
    hosts = [host_of(node) for node in range(cluster.shape.nodes)]
    slots = cluster.shape.slots
    for name, text in {
        "agent": AGENT.format(cases="\n".join(cases)),
        "hosts.openmpi": "".join(f"{host} slots={slots}\n" for host in hosts),
        "hosts.hydra": "".join(f"{host}:{slots}\n" for host in hosts),
    }.items():
        (cluster.folder / name).write_text(text, encoding="utf-8")
    (cluster.folder / "agent").chmod(0o755)


def variables(cluster: Cluster) -> dict[str, str]:
    """What makes the launchers of all MPIs use the nodes. What the user has set stays as it is."""
    agent, openmpi, hydra = (str(cluster.folder / name) for name in ("agent", "hosts.openmpi", "hosts.hydra"))
    own = {
        # Open MPI 4, and 5, whose launcher is PRRTE
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "OMPI_MCA_orte_default_hostfile": openmpi,
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_plm": "ssh",
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "PRTE_MCA_prte_default_hostfile": openmpi,
        "PRTE_MCA_prte_if_include": "eth0",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        # MPICH and Intel MPI
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_HOST_FILE": hydra,
        "HYDRA_IFACE": "eth0",
        "UCX_NET_DEVICES": "eth0",
        "UCX_TLS": "tcp,self,posix",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent,
        "I_MPI_HYDRA_HOST_FILE": hydra,
        "I_MPI_PIN": "0",
    }
    if cluster.shape.nodes * cluster.shape.slots > (os.cpu_count() or 1):
        # The nodes share this machine's cores: idle ranks must give way.
        own |= {
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
            "I_MPI_THREAD_YIELD": "2",
        }
    return {name: os.environ.get(name, value) for name, value in own.items()}


def command_line(cluster: Cluster, node: int, command: Sequence[str]) -> list[str]:
    """Runs a command in a node, where the caller is: nodes have the machine's files."""
    return cluster.inside("sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd()), *command, node=node)


def remove(cluster: Cluster) -> None:
    """Ends a cluster with all that runs in it, and nothing else. Works for one that is half made, too."""
    if cluster.is_up:
        with contextlib.suppress(ProcessLookupError):
            os.kill(cluster.first, signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while cluster.is_up:
            if time.monotonic() > end:
                raise RequestError(f"process {cluster.first} of the cluster '{cluster.name}' does not end")
            time.sleep(0.01)
    shutil.rmtree(cluster.folder, ignore_errors=True)


@contextlib.contextmanager
def temporary(name: str, shape: Shape) -> Iterator[Cluster]:
    cluster = up(name, shape)
    try:
        yield cluster
    finally:
        remove(cluster)


def as_json(cluster: Cluster) -> dict[str, Any]:
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
        raise RequestError(f"--name '{name}' must be letters, digits, - and _, at most 40")
    return name


RATE_UNITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}


def parse_rate(text: str) -> float:
    """Bits per second, from "200mbit", "1Gbit/s"."""
    plain = text.strip().lower().removesuffix("/s")
    for unit, factor in RATE_UNITS.items():
        if plain.endswith(unit):
            with contextlib.suppress(ValueError):
                rate = float(plain.removesuffix(unit)) * factor
                if 1e4 <= rate <= 1e12:
                    return rate
    raise RequestError(f"--rate '{text}' is not a rate from 10kbit to 1000gbit, such as 200mbit or 1gbit")
