# SPDX-License-Identifier: BSD-3-Clause
"""Adds the list of its components to a wheel: CycloneDX, in .dist-info/sboms/convene.cdx.json (PEP 770).

A component is listed with the files in which marks of it were found, not because the build names it. Run by
packaging/wheel.py, with the Python of the build's environment."""

import argparse
import hashlib
import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Sources:
    """Where the build had the headers of its components."""

    headers: Path  # {fmt}, nlohmann_json, CLI11
    zig: Path


@dataclass(frozen=True)
class Part:
    """A component that is compiled into ours."""

    name: str
    licence: str  # SPDX
    url: str
    # What its compiled code contains: names of thrown types, texts of errors. A group is the version, or
    # its beginning, with _ for a period.
    mark: bytes
    version: Callable[[Sources], str]


def defined(path: Path, name: str) -> str:
    found = re.search(rf'define {name}\s+"?([\d.]+)', path.read_text())
    return found[1] if found else ""


def packed(number: str) -> str:
    """90100 is 9.1.0."""
    return ".".join(str(int(number) // unit % 100) for unit in (10000, 100, 1))


def version_of_json(sources: Sources) -> str:
    header = sources.headers / "nlohmann" / "detail" / "abi_macros.hpp"
    return ".".join(defined(header, f"NLOHMANN_JSON_VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH"))


def version_of_llvm(sources: Sources) -> str:
    return packed(defined(sources.zig / "lib" / "libcxx" / "include" / "__config", "_LIBCPP_VERSION"))


def version_of_nanobind(_sources: Sources) -> str:
    return importlib.metadata.version("nanobind")


LLVM = ("Apache-2.0 WITH LLVM-exception", "https://llvm.org")
PARTS = (
    Part(
        *("fmt", "MIT", "https://github.com/fmtlib/fmt", rb"N3fmt\d+v(\d+?)12format_errorE"),
        lambda sources: packed(defined(sources.headers / "fmt" / "core.h", "FMT_VERSION")),
    ),
    Part(
        *("nlohmann_json", "MIT", "https://github.com/nlohmann/json", rb"json_abi_v(\d+_\d+)_"),
        version_of_json,
    ),
    Part(
        *("CLI11", "BSD-3-Clause", "https://github.com/CLIUtils/CLI11", rb"N3CLI10ParseErrorE"),
        lambda sources: defined(sources.headers / "CLI" / "Version.hpp", "CLI11_VERSION"),
    ),
    Part(
        *("nanobind", "BSD-3-Clause", "https://github.com/wjakob/nanobind", rb"nanobind::detail::"),
        version_of_nanobind,
    ),
    # A part of nanobind, of that version.
    Part(
        *(
            "robin-map",
            "MIT",
            "https://github.com/Tessil/robin-map",
            rb"The hash table exceeds its maximum size",
        ),
        lambda _: "",
    ),
    Part("libc++", *LLVM, rb"NSt3__1", version_of_llvm),
    Part("libc++abi", *LLVM, rb"libc\+\+abi", version_of_llvm),
    Part("libunwind", *LLVM, rb"libunwind: ", version_of_llvm),
)


def binaries_of(folder: Path) -> list[Path]:
    """Programs and libraries of an unpacked wheel."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if path.read_bytes()[:4] == b"\x7fELF"]


def described(part: Part, folder: Path, sources: Sources) -> dict[str, Any] | None:
    """The component, if a file contains it. A file with another version than the headers ends the program."""
    places = {}
    for path in binaries_of(folder):
        if found := re.search(part.mark, path.read_bytes()):
            places[path.relative_to(folder).as_posix()] = b"".join(found.groups()).decode().replace("_", ".")
    if not places:
        return None
    version = part.version(sources)
    for place, seen in places.items():
        if not f"{version}.".startswith(f"{seen}." if seen else ""):
            sys.exit(f"sbom.py: {place} has {part.name} {seen}, but the headers are those of {version}")
    licence = {"expression": part.licence} if " " in part.licence else {"license": {"id": part.licence}}
    return {
        "type": "library",
        "bom-ref": part.name,
        "name": part.name,
        **({"version": version} if version else {}),
        "licenses": [licence],
        "externalReferences": [{"type": "website", "url": part.url}],
        "evidence": {"occurrences": [{"location": place} for place in places]},
    }


def describe(folder: Path, version: str, sources: Sources) -> dict[str, Any]:
    """The list for an unpacked wheel. The same wheel has the same list, and the same serial number."""
    found = [described(part, folder, sources) for part in PARTS]
    components = [component for component in found if component]
    files = [
        {
            "type": "file",
            "name": path.relative_to(folder).as_posix(),
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
        }
        for path in binaries_of(folder)
    ]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([version, components, files]))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": serial.urn,
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "convene",
                "name": "convene",
                "version": version,
                "purl": f"pkg:pypi/convene@{version}",
                "licenses": [{"license": {"id": "BSD-3-Clause"}}],
            }
        },
        "components": components + files,
        "dependencies": [{"ref": "convene", "dependsOn": [each["bom-ref"] for each in components]}],
    }


def check(text: str) -> None:
    """Ends the program unless the text is valid CycloneDX 1.6."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error:
        sys.exit(f"sbom.py: the list of components is not valid: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="sbom.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("--zig", type=Path, required=True)
    given = parser.parse_args()
    tool = (sys.executable, "-m", "wheel")
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([*tool, "unpack", given.wheel, "-d", place], check=True, stdout=subprocess.DEVNULL)
        (folder,) = Path(place).iterdir()
        (about,) = folder.glob("*.dist-info")
        listed = describe(folder, folder.name.split("-")[1], Sources(given.headers, given.zig))
        text = json.dumps(listed, indent=1) + "\n"
        check(text)
        target = about / "sboms" / "convene.cdx.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(text)
        subprocess.run(
            [*tool, "pack", folder, "-d", given.wheel.parent], check=True, stdout=subprocess.DEVNULL
        )
    for each in listed["components"]:
        if each["type"] == "library":
            print(each["name"], each.get("version", ""), f"in {len(each['evidence']['occurrences'])} files")


if __name__ == "__main__":
    main()
