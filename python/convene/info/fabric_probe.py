# SPDX-License-Identifier: BSD-3-Clause
"""Providers of a libfabric, as JSON. A program of its own, since the library may start drivers, or hang.

python fabric_probe.py libfabric.so.1
"""

import ctypes
import json
import sys
from pathlib import Path

PROVIDERS_ONLY = 1 << 54  # FI_PROV_ATTR_ONLY
INTERFACE = (1 << 16) | 5  # version 1.5, which every provider of later versions has


class FabricAttributes(ctypes.Structure):
    _fields_ = (
        ("fabric", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("provider", ctypes.c_char_p),
        ("provider_version", ctypes.c_uint32),
        ("api_version", ctypes.c_uint32),
    )


class Info(ctypes.Structure):
    """fi_info, as rdma/fabric.h has it."""


Info._fields_ = (
    ("next", ctypes.POINTER(Info)),
    ("capabilities", ctypes.c_uint64),
    ("mode", ctypes.c_uint64),
    ("address_format", ctypes.c_uint32),
    ("source_length", ctypes.c_size_t),
    ("destination_length", ctypes.c_size_t),
    ("source", ctypes.c_void_p),
    ("destination", ctypes.c_void_p),
    ("handle", ctypes.c_void_p),
    ("transmission", ctypes.c_void_p),
    ("reception", ctypes.c_void_p),
    ("endpoint", ctypes.c_void_p),
    ("domain", ctypes.c_void_p),
    ("fabric", ctypes.POINTER(FabricAttributes)),
    ("device", ctypes.c_void_p),
)


def path_of(name: str) -> str:
    """The file that is loaded under this name."""
    file = name.rsplit("/", 1)[-1].partition(".so")[0]
    maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    paths = [line.split(maxsplit=5)[-1].strip() for line in maps.splitlines()]
    return next((path for path in paths if f"/{file}.so" in path), name)


def main(name: str) -> None:
    library = ctypes.CDLL(name)
    version = library.fi_version()
    found = ctypes.POINTER(Info)()
    providers: list[str] = []
    if library.fi_getinfo(
        ctypes.c_uint32(INTERFACE), None, None, ctypes.c_uint64(PROVIDERS_ONLY), None, ctypes.byref(found)
    ):
        found = ctypes.POINTER(Info)()
    while found:
        attributes = found.contents.fabric
        if attributes and attributes.contents.provider:
            providers.append(attributes.contents.provider.decode(errors="replace"))
        found = found.contents.next
    facts = {
        "library": path_of(name),
        "version": f"{version >> 16}.{version & 0xFFFF}",
        "providers": list(dict.fromkeys(providers)),
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(sys.argv[1])
