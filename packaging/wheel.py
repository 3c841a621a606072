# SPDX-License-Identifier: BSD-3-Clause
"""Builds a package that installs where there is no compiler: a wheel for any Linux with glibc 2.28 or newer.

Run by `./dev wheel`, with the system's Python. Zig's compiler builds against symbols of that glibc;
auditwheel checks them and names the platform."""

import argparse
import os
import platform
import re
import sys
import tempfile
import zipfile
from pathlib import Path

from commands import run

ROOT = Path(__file__).resolve().parents[1]
GLIBC = (2, 28)  # of Rocky Linux 8 and SLES 15
# What the tools find on the machine where they run.
EXCLUDED = ("libmpi.so.*", "libmpich.so.*", "libmpi_abi.so.*", "libconvene-*.so*")
VERSION = re.compile(r"\bGLIBC_([0-9.]+)")


def environment_of_build(folder: Path) -> Path:
    """A Python environment with what builds the package. Returns its `bin`."""
    binaries = folder / "bin"
    listed = ROOT / "requirements" / "wheel.txt"
    mark = folder / ".list"
    if not mark.is_file() or mark.read_text() != listed.read_text():
        run(sys.executable, "-m", "venv", "--clear", folder)
        pip: tuple[str | Path, ...] = (
            binaries / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        )
        run(*pip, "-r", listed)
        mark.write_text(listed.read_text())
    return binaries


def folder_of_zig(binaries: Path) -> str:
    return run(binaries / "python", "-c", "import ziglang; print(ziglang.__path__[0])").strip()


def build(binaries: Path, folder: Path, wheels: Path) -> Path:
    zig = folder_of_zig(binaries)
    launcher = [
        f"-Ccmake.define.CMAKE_{language}_COMPILER_LAUNCHER=ccache"
        for language in ("C", "CXX")
        if (Path("/usr/bin/ccache")).exists()
    ]
    pip: tuple[str | Path, ...] = (binaries / "python", "-m", "pip", "wheel")
    run(
        *pip,
        *("--no-deps", "--no-build-isolation", "-w", str(wheels)),
        f"-Cbuild-dir={folder}",
        f"-Ccmake.define.CMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / 'old_glibc.cmake'}",
        f"-Ccmake.define.CONVENE_ZIG={zig}/zig",
        f"-Ccmake.define.CONVENE_GLIBC={'.'.join(map(str, GLIBC))}",
        # SimGrid is a library of this machine.
        "-Ccmake.define.CONVENE_SIMGRID=",
        *launcher,
        ROOT,
        PATH=f"{binaries}:{os.environ['PATH']}",
    )
    (made,) = wheels.glob("*.whl")
    return made


def repair(binaries: Path, made: Path, target: Path) -> Path:
    """The wheel with the platform's name, if auditwheel finds that it keeps to it."""
    name = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{platform.machine()}"
    excluded = [word for pattern in EXCLUDED for word in ("--exclude", pattern)]
    with tempfile.TemporaryDirectory() as folder:
        run(
            binaries / "auditwheel",
            *("repair", "--plat", name, "--only-plat", *excluded, "-w", folder),
            made,
            PATH=f"{binaries}:{os.environ['PATH']}",
        )
        (repaired,) = Path(folder).glob("*.whl")
        target.mkdir(parents=True, exist_ok=True)
        found = target / repaired.name
        found.write_bytes(repaired.read_bytes())
    return found


def newest_symbols(wheel: Path) -> dict[str, tuple[int, ...]]:
    """By library or program of the wheel: the newest version of glibc that one of its symbols needs."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as content:
        content.extractall(folder)
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                versions = VERSION.findall(run("objdump", "-T", path))
                newest = max(tuple(int(part) for part in version.split(".")) for version in versions)
                found[str(path.relative_to(folder))] = newest
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev wheel", description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist", help="Write the wheel here.")
    given = parser.parse_args()
    place = ROOT / "build" / f"wheel-{sys.version_info.major}.{sys.version_info.minor}"
    print("== build environment", flush=True)
    binaries = environment_of_build(place / "venv")
    print("== compiling for glibc", ".".join(map(str, GLIBC)), "(some minutes)", flush=True)
    with tempfile.TemporaryDirectory() as wheels:
        made = build(binaries, place / "build", Path(wheels))
        wheel = repair(binaries, made, given.output.resolve())
    headers = place / "build" / "headers"
    components = run(
        *(binaries / "python", ROOT / "packaging" / "sbom.py", wheel),
        *("--headers", headers, "--zig", folder_of_zig(binaries)),
    )
    print("== components\n" + components, end="")
    symbols = newest_symbols(wheel)
    for name, version in symbols.items():
        print(f"{name:60} GLIBC_{'.'.join(map(str, version))}")
    if max(symbols.values()) > GLIBC:
        wheel.unlink()
        sys.exit(f"dev: a symbol is newer than glibc {'.'.join(map(str, GLIBC))}; the wheel is not kept")
    print(f"{wheel} ({wheel.stat().st_size / 2**20:.1f} MiB)")


if __name__ == "__main__":
    main()
