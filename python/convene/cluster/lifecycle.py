# SPDX-License-Identifier: BSD-3-Clause
"""Emulated clusters: several nodes on one Linux machine, each with its own network, host name, shared memory
and semaphores, joined by links whose rate and delay can be chosen.

A cluster is a process namespace. Its first process only sleeps; when that one is killed, the kernel ends
all that run in the cluster, and takes its networks, links and mounts away with it: nothing can be left over.
Each node is one more sleeping process in it, with namespaces of its own. The cluster's directory says which
processes these are.
"""

import contextlib
import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from convene._core import RequestError
from convene.cluster import launch, network, private, state, tools
from convene.cluster.state import PATIENCE, Cluster, Shape, address_of


def check_possible(shape: Shape) -> None:
    """Raises RequestError if this machine lacks something that a cluster needs."""
    if sys.platform != "linux":
        raise RequestError("emulated clusters need Linux: nodes are network namespaces")
    for tool, package in tools.TOOLS.items():
        if shutil.which(tool) is None:
            raise RequestError(f"emulated clusters need the program {tool}; install {package}")
    tools.check_root()
    if shape.has_switch and not Path("/dev/net/tun").exists():
        raise RequestError(
            "--delay and --group-delay need TAP devices, but /dev/net/tun does not exist; load the kernel "
            "module tun"
        )


def up(name: str, shape: Shape) -> Cluster:
    """Makes a cluster. Whatever goes wrong on the way, nothing of it stays."""
    before = state.load(name)
    if before and before.is_up:
        raise RequestError(
            f"the cluster '{name}' is up already, with {before.shape.nodes} nodes; end it first with: "
            f"convene cluster down {state.option(name)}".rstrip()
        )
    check_possible(shape)
    hidden = private.first_directories() if shape.private else []
    cluster = Cluster(name, shape)
    if before:
        remove(before)
    try:
        cluster.folder.mkdir(parents=True)
    except FileExistsError:
        raise RequestError(
            f"{cluster.folder} already exists: another process creates this cluster, or was interrupted; "
            "wait, or remove that directory"
        ) from None
    except OSError as error:
        raise RequestError(f"cannot create {cluster.folder}: {error.strerror}") from None
    try:
        start(cluster)
        add_nodes(cluster)
        network.join_with_switch(cluster) if shape.has_switch else network.join_with_bridge(cluster)
        for machine in range(len(cluster.machines)):
            network.give_address(cluster, machine)
        for directory in hidden:
            private.cover(cluster, directory)
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
    said = tools.execute(
        ["setsid", "unshare", "--pid", "--net", "--mount", "--propagation=private", "sh", "-c", SLEEP],
        "making the cluster's namespaces",
    )
    cluster.first = int(said)
    cluster.started = state.start_time(cluster.first) or 0
    cluster.save()
    tools.execute(cluster.inside("mount", "-t", "proc", "proc", "/proc"), "mounting the cluster's /proc")


def add_nodes(cluster: Cluster) -> None:
    hosts = cluster.folder / "hosts"
    shape = cluster.shape
    names = [cluster.host(machine) for machine in range(shape.nodes + shape.private)]
    lines = [f"{address_of(machine)} {name}" for machine, name in enumerate(names)]
    hosts.write_text("\n".join(["127.0.0.1 localhost", *lines, ""]), encoding="utf-8")
    processes = [add_machine(cluster, name, hosts) for name in names]
    cluster.nodes = processes[: shape.nodes]
    cluster.launching = processes[-1] if shape.private else 0
    cluster.save()
    launch.write_launch_files(cluster)


def add_machine(cluster: Cluster, name: str, hosts: Path) -> int:
    """The process of a new node, which has namespaces of its own."""
    # MPIs detect nodes by shared memory; each node has its own.
    script = (
        f"hostname {name} && mount --bind {shlex.quote(str(hosts))} /etc/hosts && "
        f"mount -t tmpfs tmpfs /dev/shm && {{ {SLEEP}; }}"
    )
    namespaces = ("--net", "--uts", "--ipc", "--mount", "--propagation=private")
    made = cluster.inside("unshare", *namespaces, "sh", "-c", script)
    return int(tools.execute(made, f"making {name}"))


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
