# SPDX-License-Identifier: BSD-3-Clause
"""Builds Debian packages for this machine's release: libraries, component of Open MPI, command.

Run by `./dev deb`, with the system's Python. The sources are those that Git knows; objects of earlier builds
are used again. Lintian checks the packages, if it is installed."""

import argparse
import email.utils
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

from commands import run

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("libconvene0", "libconvene-dev", "mca-coll-convene", "convene")
TYPER = "typer==0.12.5"  # for Debian 12, with its Click 8.1.3 and Rich 13.3.1
CHANGES = """convene ({version}) UNRELEASED; urgency=medium

  * {subject}; CHANGELOG.md has the changes.

 -- The Convene authors <{address}>  {date}
"""


def version() -> str:
    found = re.search(r"project\(convene VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    return found[1] if found else sys.exit("dev: CMakeLists.txt has no version")


def copy_sources(folder: Path) -> None:
    """The files that Git knows, and debian/. Files that did not change keep their time."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=ROOT)
    names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    for top in {name.partition("/")[0] for name in names}:
        for kept in [*(folder / top).rglob("*")]:
            if kept.is_file() and str(kept.relative_to(folder)) not in names and kept.suffix != ".so":
                kept.unlink()  # of an earlier build
    for name in names:
        kept, target = ROOT / name, folder / name
        if not target.is_file() or target.stat().st_mtime != kept.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(kept, target)
    shutil.rmtree(folder / "debian", ignore_errors=True)
    shutil.copytree(ROOT / "packaging" / "debian", folder / "debian")
    control = (folder / "debian" / "control").read_text()
    address = re.search(r"Maintainer: .*<(.*)>", control)
    (folder / "debian" / "changelog").write_text(
        CHANGES.format(
            version=version(),
            subject="Packages of a checkout",
            address=address[1] if address else "",
            date=email.utils.formatdate(int(run("git", "log", "-1", "--format=%ct", folder=ROOT))),
        )
    )


def pip(folder: Path, *words: str) -> Path:
    """A package of PyPI in a folder, for the system's Python."""
    if not folder.is_dir():
        environment, unfinished = folder.parent / "venv", folder.with_suffix(".part")
        run(sys.executable, "-m", "venv", environment)
        shutil.rmtree(unfinished, ignore_errors=True)
        run(environment / "bin" / "pip", "install", "--quiet", "--no-compile", "--target", unfinished, *words)
        unfinished.rename(folder)
    return folder


def bundle_typer(place: Path, sources: Path) -> None:
    """Puts Typer beside the command, where the distribution has an older one."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (least,) = (each.partition(">=")[2] for each in listed if each.startswith("typer"))
    if numbers(run("apt-cache", "show", "--no-all-versions", "python3-typer")) >= numbers(
        f"Version: {least}"
    ):
        return
    print(f"== this release has a Typer before {least}: the command's is that of PyPI", flush=True)
    without = shutil.ignore_patterns("bin", "__pycache__")
    shutil.copytree(pip(place / "typer", "--no-deps", TYPER), sources / "debian" / "python", ignore=without)


def numbers(shown: str) -> tuple[int, ...]:
    """The version that apt shows, without its revision; (0,) if it shows none."""
    found = re.search(r"^Version: (?:\d+:)?([\d.]+)", shown, re.MULTILINE)
    return tuple(map(int, found[1].strip(".").split("."))) if found else (0,)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev deb", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist", help="Write the packages here.")
    given = parser.parse_args()
    for program in ("dpkg-buildpackage", "dh", "dh_python3"):
        if shutil.which(program) is None:
            sys.exit(f"dev: {program} is missing; install dpkg-dev, debhelper and dh-python")
    place = ROOT / "build" / "deb"
    sources = place / "convene"
    copy_sources(sources)
    bundle_typer(place, sources)
    # Debian has it since version 13 only.
    nanobind = pip(place / "nanobind", "nanobind>=2")
    cached = "-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
    print("== building", *NAMES, "(some minutes)", flush=True)
    built = run(
        *("dpkg-buildpackage", "-b", "-us", "-uc", "-nc"),
        folder=sources,
        PYTHONPATH=f"{nanobind}:{sources / 'debian' / 'python'}",
        CONVENE_CMAKE_OPTIONS=cached if shutil.which("ccache") else "",
        DEB_BUILD_OPTIONS=f"parallel={os.cpu_count()} noautodbgsym {os.environ.get('DEB_BUILD_OPTIONS', '')}",
    )
    (place / "build.log").write_text(built)
    given.output.mkdir(parents=True, exist_ok=True)
    made = sorted(place.glob(f"*_{version()}_*.deb"))
    for path in made:
        shutil.copy2(path, given.output)
        print(given.output / path.name, f"({path.stat().st_size / 2**20:.1f} MiB)")
    if shutil.which("lintian"):
        print("== lintian", flush=True)
        print(run("lintian", "--allow-root", "--fail-on", "error", "--tag-display-limit", "0", *made), end="")


if __name__ == "__main__":
    main()
