# SPDX-License-Identifier: BSD-3-Clause
"""Private nodes: each has its own temporary, home and working directory, empty at first.

A temporary file system covers these directories in the node's mount namespace. What Convene itself needs
below them (a checkout, a virtual environment) stays visible there.
"""

import shlex
import sys
import tempfile
from pathlib import Path

from convene._core import RequestError
from convene.base import paths
from convene.cluster import tools
from convene.cluster.state import Cluster

# A node without these directories could run nothing.
SYSTEM = ("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr")


def first_directories() -> list[Path]:
    """The temporary and home directories, in the order in which they are covered."""
    found = {Path("/tmp"), Path(tempfile.gettempdir()).resolve(), Path.home().resolve()}
    for directory in sorted(found):
        check(directory)
    return sorted(directory for directory in found if not found & set(directory.parents))


def check(directory: Path) -> None:
    """Raises RequestError if a node cannot do without this directory's files."""
    if str(directory) in SYSTEM:
        raise RequestError(
            f"the directory {directory} cannot be private to a node, since it holds the system; use other "
            "temporary, home and working directories"
        )


def kept_below(directory: Path) -> list[Path]:
    """What Convene needs below a directory: libraries, programs and the Python environment."""
    needed = {paths.PACKAGE, *paths.LIBRARIES, *paths.PROGRAMS, Path(sys.prefix)}
    found = {path for path in needed if path.is_dir() and directory in path.parents}
    return sorted(path for path in found if not found & set(path.parents))


def cover(cluster: Cluster, directory: Path) -> None:
    """Gives each node a directory of its own in the place of this one."""
    status = directory.stat()
    options = f"mode={status.st_mode & 0o7777:o},uid={status.st_uid},gid={status.st_gid}"
    target, stage = shlex.quote(str(directory)), shlex.quote(str(cluster.folder / "stage"))
    kept = [shlex.quote(str(path)) for path in kept_below(directory)]
    before = [f"mkdir -p {stage}/{i} && mount --bind {path} {stage}/{i}" for i, path in enumerate(kept)]
    after = [
        f"mkdir -p {path} && mount --bind {stage}/{i} {path} && umount {stage}/{i}"
        for i, path in enumerate(kept)
    ]
    script = " && ".join([*before, f"mount -t tmpfs -o {options} tmpfs {target}", *after])
    on_each_node(cluster, script, f"making {directory} private")
    cluster.private.append(str(directory))
    cluster.save()


def use_working_directory(cluster: Cluster, directory: Path) -> None:
    """Makes the current directory on each node, as an empty one of its own."""
    if any(directory.is_relative_to(each) for each in cluster.private):
        on_each_node(cluster, f"mkdir -p {shlex.quote(str(directory))}", f"making {directory}")
        return
    check(directory)
    cover(cluster, directory)


def on_each_node(cluster: Cluster, script: str, what: str) -> None:
    for node in range(cluster.shape.nodes):
        tools.execute(cluster.inside("sh", "-c", script, node=node), f"{what} in {cluster.host(node)}")
