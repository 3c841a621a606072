# SPDX-License-Identifier: BSD-3-Clause
"""Results of ranks that share no directory with this machine: rank 0 returns them over a connection.

The C++ side is src/runtime/results, which describes the protocol.
"""

import fcntl
import hmac
import json
import re
import secrets
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedRWPair
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.base import console, jsons
from convene.mpi.launchers import RETURN_TO, RETURN_TOKEN, RULES_TEXT
from convene.tune import wisdom_files

NAME = re.compile(r"(profile|recording|wisdom)-[0-9]{1,10}-[0-9]{1,10}\.(json|bin)")
MOST_ADDRESSES = 4
MOST_LINE = 512
MOST_PUT = 1 << 24  # bytes of one request
MOST_RULES = 1 << 16  # characters; systems limit a variable to twice that
PATIENCE = 10.0  # seconds for a connection that is open after the program's end
SIOCGIFADDR = 0x8915  # of Linux's netdevice interface


def own_addresses() -> list[str]:
    """The IPv4 addresses of this machine, without those of loopback."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                request = struct.pack("256s", name.encode()[:15])
                found.append(socket.inet_ntoa(fcntl.ioctl(any_socket, SIOCGIFADDR, request)[20:24]))
    return [address for address in found if not address.startswith("127.")][:MOST_ADDRESSES]


@dataclass
class Receiver:
    """Receives files over connections that know the token. Each connection has a thread."""

    profiles: Path
    recordings: Path | None
    wisdom: str  # value of CONVENE_WISDOM
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    threads: list[threading.Thread] = field(default_factory=list)
    sockets: list[socket.socket] = field(default_factory=list)

    def start(self) -> int:
        """Listens; returns the port. Raises OSError."""
        listener = socket.create_server(("", 0))
        self.sockets.append(listener)
        self.run(self.accept, listener)
        return int(listener.getsockname()[1])

    def run(self, body: object, *arguments: object) -> None:
        thread = threading.Thread(target=body, args=arguments, daemon=True)  # type: ignore[arg-type]
        self.threads.append(thread)
        thread.start()

    def accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # closed
            self.sockets.append(connection)
            self.run(self.serve, connection)

    def close(self) -> None:
        """After the program's end: completes what is under way."""
        for listener in self.sockets[:1]:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # ends accept()
        for thread in self.threads:
            thread.join(PATIENCE)
        for each in self.sockets:
            each.close()

    def serve(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        with suppress(OSError, ValueError), connection, connection.makefile("rwb") as stream:
            greeting = stream.readline(MOST_LINE)
            if not hmac.compare_digest(greeting, f"convene-return 1 {self.token}\n".encode()):
                return
            connection.settimeout(None)  # ranks may finalize at very different times
            answer(stream, b"welcome\n")
            self.receive(stream)

    def receive(self, stream: BufferedRWPair) -> None:
        """Handles requests until the other side ends. A failure to write is the answer to `done`."""
        failure = ""
        while words := stream.readline(MOST_LINE).decode("ascii", "replace").split():
            try:
                self.handle(words, stream)
            except OSError as error:
                failure = failure or f"writing there failed: {error.strerror}"
            if words == ["done"]:
                answer(stream, (failure or "done").encode() + b"\n")

    def handle(self, words: list[str], stream: BufferedRWPair) -> None:
        match words:
            case ["put", name, size] if size.isdecimal() and int(size) <= MOST_PUT:
                content = stream.read(int(size))
                with self.place_of(name, ".part").open("ab") as file:
                    file.write(content)
            case ["end", name]:
                self.place_of(name, ".part").rename(self.place_of(name))
            case ["get", "wisdom"]:
                text = json.dumps(wisdom_texts(self.wisdom)).encode()
                answer(stream, b"%d\n" % len(text) + text)
            case ["done"]:
                pass
            case _:
                raise ValueError(words)

    def place_of(self, name: str, suffix: str = "") -> Path:
        if not NAME.fullmatch(name):
            raise ValueError(name)
        is_recording = name.startswith("recording-") and self.recordings
        return (self.recordings if is_recording else self.profiles) / (name + suffix)  # type: ignore[operator]


def answer(stream: BufferedRWPair, text: bytes) -> None:
    stream.write(text)
    stream.flush()


def wisdom_texts(variable: str) -> list[dict[str, str]]:
    """The wisdom files of this machine that exist; one that must not be used has the reason."""
    found = []
    for path in _core.wisdom_files(variable):
        if not Path(path).exists():
            continue
        refusal = _core.wisdom_distrust(path)
        try:
            text = "" if refusal else Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            text, refusal = "", f"cannot be read: {jsons.why_unreadable(error)}"
        found.append({"path": path, "text": text, "refusal": refusal})
    return found


def keep_wisdom(directory: Path, variable: str) -> None:
    """Merges what was learned elsewhere into the first wisdom file of this machine."""
    returned = sorted(directory.glob("wisdom-*.json"))
    if not returned:
        return
    target = Path(_core.wisdom_files(variable)[0])
    try:
        for path in returned:
            new = wisdom_files.read(path)
            wisdom_files.update(target, lambda old, new=new: wisdom_files.merged(old, new))  # type: ignore[misc]
            path.unlink()
    except RequestError as error:
        console.complain(f"what was learned is not kept: {error}")


def rules_text(path: str) -> dict[str, str]:
    """A variable with the rules file, which not every node may have; nothing if it is too large for one."""
    if not path:
        return {}
    text = json.dumps(jsons.read(Path(path)), separators=(",", ":"))
    return {RULES_TEXT: text} if len(text) <= MOST_RULES else {}


@contextmanager
def returning(
    profiles: Path, recordings: Path | None, variables: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yields variables for the ranks, by which results return from nodes that do not share the directories.
    There are none if this machine has no network: all ranks are then on it."""
    addresses, wisdom = own_addresses(), variables.get("CONVENE_WISDOM", "")
    receiver = Receiver(profiles, recordings, wisdom)
    identifier = secrets.token_hex(8)
    marks = [directory / f".convene-{identifier}" for directory in (profiles, recordings) if directory]
    try:
        for mark in marks:
            mark.touch()
        port = receiver.start() if addresses else 0
    except OSError:
        port = 0  # ranks then write as far as they can
    try:
        places = ",".join(f"{address}:{port}" for address in addresses)
        own = {RETURN_TO: f"{identifier}@{places}", RETURN_TOKEN: receiver.token} if port else {}
        yield {**own, **rules_text(variables.get("CONVENE_RULES", ""))}
    finally:
        receiver.close()
        for mark in marks:
            mark.unlink(missing_ok=True)
        keep_wisdom(profiles, wisdom)
