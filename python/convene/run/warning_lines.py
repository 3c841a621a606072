# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a running program's stderr, with source lines in the place of addresses in Convene's warnings."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

BEGIN = b"convene: rank "  # of a warning; launchers may put a name in front
ADDRESS = re.compile(rb"called at ([^\s+]+)\+0x([0-9a-f]+)")


class Lines:
    """Warnings name a module without its directory: the words of the command say where it is."""

    def __init__(self, command: Sequence[str]) -> None:
        self.paths = {Path(word).name: word for word in command}
        self.known: dict[bytes, bytes] = {}

    def resolved(self, line: bytes) -> bytes:
        """The line with `called at late.c:9`, if debugging symbols say so; else as it is."""
        if BEGIN not in line:
            return line
        return ADDRESS.sub(lambda found: self.known.setdefault(found[0], self.look_up(found)), line)

    def look_up(self, found: re.Match[bytes]) -> bytes:
        from convene.trace import call_sites  # imports NumPy

        path = shutil.which(self.paths.get(found[1].decode(errors="replace"), ""))
        name = call_sites.look_up(path, [int(found[2], 16)])[0] if path else ""
        line = re.search(r"\((.+:\d+)\)$", name)
        return f"called at {line[1]}".encode() if line else found[0]


def pass_on(source: int, lines: Lines) -> None:
    """Copies a file descriptor to stderr until its end. What is no line yet is held back only if it may
    become a warning."""
    held = b""
    while read := os.read(source, 65536):
        *whole, held = (held + read).split(b"\n")
        out = b"".join(lines.resolved(line) + b"\n" for line in whole)
        if held and not (held.startswith(BEGIN) or BEGIN.startswith(held)):
            out, held = out + held, b""
        sys.stderr.buffer.write(out)
        sys.stderr.buffer.flush()
    sys.stderr.buffer.write(lines.resolved(held))
    sys.stderr.buffer.flush()


class Pipe:
    """A pipe for the stderr of a program, read by a thread until all its writers have closed it."""

    def __init__(self, command: Sequence[str]) -> None:
        self.source, self.target = os.pipe()
        self.thread = Thread(target=pass_on, args=(self.source, Lines(command)), daemon=True)
        self.thread.start()

    def close(self, seconds: float) -> None:
        """After the program's end. Background processes of the program may hold the pipe for longer."""
        os.close(self.target)
        self.thread.join(seconds)
