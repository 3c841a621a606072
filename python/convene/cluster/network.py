# SPDX-License-Identifier: BSD-3-Clause
"""Networks of a cluster: a bridge, or a switch that delays frames."""

import shlex
import time

from convene._core import RequestError
from convene.base import paths
from convene.cluster import tools
from convene.cluster.state import PATIENCE, Cluster, address_of

SWITCH = "convene-cluster-switch"

# A queue that is as long as this at most lets TCP find the rate, as a switch's would.
BURST, QUEUE = "64kb", "20ms"


def join_with_bridge(cluster: Cluster) -> None:
    """A pair of devices for each node, its inner end `eth0`, the outer ones joined by a bridge."""
    inside = cluster.inside
    bridge = ("type", "bridge", "stp_state", "0", "forward_delay", "0")
    tools.execute(inside("ip", "link", "add", "br0", *bridge), "making a bridge")
    tools.execute(inside("ip", "link", "set", "br0", "up"), "starting the bridge")
    for node, process in enumerate(cluster.machines):
        port = f"p{node}"
        pair = ("type", "veth", "peer", "name", "eth0", "netns", str(process))
        tools.execute(inside("ip", "link", "add", port, *pair), "making a pair of network devices")
        tools.execute(
            inside("ip", "link", "set", port, "master", "br0", "up"), "joining a node to the bridge"
        )
        if cluster.shape.rate:
            limit_rate(cluster, ("dev", port), None)
            limit_rate(cluster, ("dev", "eth0"), node)


def limit_rate(cluster: Cluster, device: tuple[str, ...], node: int | None) -> None:
    shaper = ("tbf", "rate", f"{cluster.shape.rate:.0f}bit", "burst", BURST, "latency", QUEUE)
    command = cluster.inside("tc", "qdisc", "add", *device, "root", *shaper, node=node)
    tools.execute(command, "limiting a link's rate")


def join_with_switch(cluster: Cluster) -> None:
    """A program that holds frames back. It gives every node its `eth0` itself."""
    program = paths.find(SWITCH, paths.PROGRAMS)
    if program is None:
        places = " or ".join(str(place) for place in paths.PROGRAMS)
        raise RequestError(
            f"--delay and --group-delay need {SWITCH}, which is not in {places}; build Convene with "
            "./dev build"
        )
    shape = cluster.shape
    numbers = {
        "--rate": shape.rate,
        "--delay": shape.delay,
        "--groups": shape.groups,
        "--group-delay": shape.group_delay,
    }
    words = [word for name, value in numbers.items() for word in (name, str(value))]
    log = cluster.folder / "switch.log"
    words += ["--launching"] if cluster.launching else []
    program_line = shlex.join([str(program), *words, *map(str, cluster.machines)])
    script = f"setsid {program_line} </dev/null >{shlex.quote(str(log))} 2>&1 &"
    tools.execute(cluster.inside("sh", "-c", script), "starting the switch")
    end = time.monotonic() + PATIENCE
    while "ready" not in (said := log.read_text(errors="replace") if log.exists() else ""):
        if said or time.monotonic() > end:
            raise RequestError(tools.explain("starting the switch", said))
        time.sleep(0.01)


def give_address(cluster: Cluster, node: int) -> None:
    for words in (
        ("link", "set", "lo", "up"),
        ("addr", "add", f"{address_of(node)}/24", "dev", "eth0"),
        ("link", "set", "eth0", "addrgenmode", "none", "up"),
    ):
        tools.execute(
            cluster.inside("ip", *words, node=node), f"starting the network of {cluster.host(node)}"
        )
