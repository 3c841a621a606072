# SPDX-License-Identifier: BSD-3-Clause
"""Model parameters of a simulated platform, from its links and processors: the time of one message, and of τ
messages at a time that share a link."""

import json
from typing import Any

ASSUMED = "all parameters: from the links and processors of the platform for simulations"
FAR = "the network: as between the two nodes that are farthest from each other"


Described = dict[str, Any]  # a part of a platform file, which has been checked


def model_platform(text: str) -> str:
    """A platform of the models, as JSON, for one of convene simulate, which has been checked."""
    machine = json.loads(text)
    inner_first = [level.partition(":")[0] for level in machine["machine"].replace(",", " ").split()][::-1]
    channels = [
        channel(level, [machine["within"][level]], machine, "zero_copy") | {"within": level}
        for level in inner_first
        if level in machine["within"]
    ]
    channels.append(channel("network", farthest_way(machine["network"]), machine, "rdma"))
    known = {name: machine[name] for name in ("name", "description", "source", "machine") if name in machine}
    known.setdefault("name", "a platform for simulations")
    processor = machine.get("processor", {})
    model = {
        "time_unit": "s",
        "copy": line(0, processor.get("copy", 0)),
        "computation": line(0, processor.get("combine", processor.get("copy", 0))),
        "channels": channels,
    }
    assumed = [*machine.get("assumed", []), ASSUMED, FAR]
    return json.dumps({**known, "assumed": assumed, "model": model})


def farthest_way(network: Described) -> list[Described]:
    """The links between two nodes that have the most between them."""
    node = network["node"]
    match network.get("shape", "one_switch"):
        case "tree":
            between = [network["uplink"]] * 2
        case "fat_tree":
            between = [network["uplink"]] * 2 * (len(network["down"]) - 1)
        case "dragonfly":
            between = [network["local"], network["global"], network["local"]]
        case _:
            between = []
    return [node, *between, node]


def line(fixed: float, per_byte: float) -> dict[str, float]:
    return {"fixed": fixed, "per_byte": per_byte}


def channel(name: str, way: list[Described], machine: Described, transport: str) -> Described:
    processor = machine.get("processor", {})
    send, recv = processor.get("send", 0), processor.get("recv", 0)
    latency = sum(link.get("latency", 0) for link in way)
    per_byte = max(1 / link["bandwidth"] for link in way)
    fixed = send + latency + recv
    gap = max(machine.get("gap", 0), send, recv)
    is_shared = way[0].get("shared") != "no"
    return {
        "name": name,
        "hockney": {"alpha": fixed, "beta": per_byte},
        "loggp": {"L": latency, "o_s": send, "o_r": recv, "g": gap, "G": per_byte},
        # PLogP's L and g(m) together are a whole message, with what processors do.
        "plogp": {"L": max(0, fixed - gap), "o_s": send, "o_r": recv, "g": line(gap, per_byte)},
        "lognp": {"transfers": [send, line(latency, per_byte), recv]},
        "taulop": {
            "o": send + recv,
            "transport": transport,
            "L": {"1": line(latency, per_byte), "2": line(latency, per_byte * (2 if is_shared else 1))},
        },
    }
