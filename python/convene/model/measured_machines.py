# SPDX-License-Identifier: BSD-3-Clause
"""A platform of simulations from a measured platform of the models: links and processors."""

import json
from typing import Any

from convene import _core
from convene._core import RequestError
from convene.model.platform_files import PlatformFile
from convene.simulate.platforms import Platform

CONTENDS = 1.5  # slope of L(m, 2) / slope of L(m, 1) from which on messages share a link
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}

Described = dict[str, Any]  # a part of a platform file, which has been checked


def simulated_platform(file: PlatformFile) -> Platform:
    """Latency and overheads are LogGP's; the bandwidth is Hockney's, or else LogGP's. Messages share a
    link if τ-Lop's L(m, 2) grows at least 1.5 times as fast as L(m, 1). Raises RequestError without LogGP."""
    _ = file.parsed  # raises an error for an invalid one
    found = json.loads(file.text)
    model = found["model"]
    unit = UNITS[model.get("time_unit", "s")]
    channels = model["channels"]
    if "machine" not in found:
        raise RequestError(
            f'{file.origin} has no machine, which a simulation needs; add one: "node:4 core:8"'
        )
    for channel in channels:
        if "loggp" not in channel:
            raise RequestError(
                f"{file.origin} has no loggp of {channel['name']}, which a simulation needs; use a file of "
                "convene measure"
            )
    memory, network = channels[0], channels[-1]
    link, between = link_of(memory, unit), link_of(network, unit)
    loggp = memory["loggp"]
    described = {
        "convene_platform": 1,
        "name": found.get("name", "measured"),
        "machine": found["machine"],
        "within": {"node": link | {"shared": "both_ways" if is_shared(memory) else "no"}},
        "network": {"node": between | {"latency": between["latency"] / 2}},
        "processor": {
            "send": unit * loggp.get("o_s", loggp.get("o", 0)),
            "recv": unit * loggp.get("o_r", loggp.get("o", 0)),
            "copy": unit * slope(model.get("copy", 0)),
        },
    }
    waits = found.get("measured", {}).get("protocols", {}).get(memory["name"], {}).get("sender_waits_from")
    return Platform(
        json.dumps(described | {"eager": waits or 1 << 30}), f"the simulated form of {file.origin}"
    )


def link_of(channel: Described, unit: float) -> Described:
    per_byte = channel["hockney"]["beta"] if "hockney" in channel else channel["loggp"]["G"]
    return {"latency": unit * channel["loggp"]["L"], "bandwidth": 1 / (unit * per_byte)}


def is_shared(channel: Described) -> bool:
    table = channel.get("taulop", {}).get("L", {})
    return "2" in table and slope(table["2"]) >= CONTENDS * slope(table["1"]) > 0


def slope(function: Any) -> float:
    """Time a byte: of the last two points of a curve, or of the line, or of the curve of one rank."""
    if isinstance(function, int | float):
        return 0.0
    if isinstance(function, list):
        (size, time), (last, end) = function[-2:] if len(function) > 1 else ([0, 0], function[0])
        return float((end - time) / (_core.size(str(last)) - _core.size(str(size))))
    return slope(function["1"]) if "1" in function else float(function["per_byte"])
