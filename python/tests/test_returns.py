# SPDX-License-Identifier: BSD-3-Clause
"""Results that ranks return over a connection. (tests/test_mpi_private_nodes.py runs real ones.)"""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from convene.run import returns
from convene.run.returns import Receiver

ENTRY = {
    "mpi": "Open MPI 4.1.4",
    "cpu": "any",
    "cores": 2,
    "collective": "allgather",
    "procs": 4,
    "nodes": 4,
    "ranks_per_node": 1,
    "bytes": [8, 8],
    "use": "ring",
    "ratio": 0.5,
    "upper": 0.6,
    "measured": "2026-11-27",
}


class Rank:
    """Rank 0, as src/runtime/results/return_channel.cpp speaks."""

    def __init__(self, port: int, token: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 120)
        self.stream = self.socket.makefile("rwb")
        self.say(f"convene-return 1 {token}\n".encode())

    def say(self, text: bytes) -> None:
        self.stream.write(text)
        self.stream.flush()

    def hear(self) -> bytes:
        try:
            return self.stream.readline()
        except ConnectionResetError:
            return b""

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[tuple[Receiver, int]]:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "recordings").mkdir()
    made = Receiver(tmp_path / "profiles", tmp_path / "recordings", "none")
    yield made, made.start()
    made.close()


def connect(receiver: tuple[Receiver, int]) -> Rank:
    rank = Rank(receiver[1], receiver[0].token)
    assert rank.hear() == b"welcome\n"
    return rank


def test_files_are_put_together_from_chunks(receiver: tuple[Receiver, int]) -> None:
    rank = connect(receiver)
    rank.say(b"put profile-7-0.json 3\nabc" + b"put profile-7-0.json 2\nde" + b"end profile-7-0.json\n")
    rank.say(b"put recording-7-0.bin 2\n\0\n" + b"end recording-7-0.bin\n" + b"done\n")
    assert rank.hear() == b"done\n"
    rank.close()
    assert (receiver[0].profiles / "profile-7-0.json").read_bytes() == b"abcde"
    assert receiver[0].recordings is not None
    assert [path.read_bytes() for path in receiver[0].recordings.iterdir()] == [b"\0\n"]


def test_what_is_cut_off_is_no_file(receiver: tuple[Receiver, int]) -> None:
    rank = connect(receiver)
    rank.say(b"put profile-7-0.json 3\nabc")
    rank.close()
    receiver[0].close()
    assert [path.name for path in receiver[0].profiles.iterdir()] == ["profile-7-0.json.part"]


@pytest.mark.parametrize("token", ["", "0" * 32])
def test_only_the_token_admits(token: str, receiver: tuple[Receiver, int]) -> None:
    rank = Rank(receiver[1], token)
    assert rank.hear() == b""
    rank.close()


@pytest.mark.parametrize(
    "request_line",
    [
        b"put ../profile-7-0.json 1\n",
        b"put other-7-0.json 1\n",
        b"put profile-7-0.json -1\n",
        b"put profile-7-0.json 999999999999\n",
        b"put profile-7-0.json x\n",
        b"get secrets\n",
        b"\xff\n",
    ],
)
def test_other_requests_end_the_connection(request_line: bytes, receiver: tuple[Receiver, int]) -> None:
    rank = connect(receiver)
    rank.say(request_line + b"z")
    assert rank.hear() == b""
    rank.close()
    assert not list(receiver[0].profiles.parent.rglob("*7-0*"))


def test_a_file_that_cannot_be_written_is_reported(receiver: tuple[Receiver, int]) -> None:
    receiver[0].profiles.rmdir()
    rank = connect(receiver)
    rank.say(b"put profile-7-0.json 1\na" + b"end profile-7-0.json\n" + b"done\n")
    assert rank.hear() == b"writing there failed: No such file or directory\n"
    rank.close()


def test_wisdom_is_read_here_and_learned_wisdom_kept_here(tmp_path: Path) -> None:
    path = tmp_path / "wisdom.json"
    path.write_text(json.dumps({"convene_wisdom": 1, "entries": [ENTRY]}))
    path.chmod(0o644)
    with returns.returning(tmp_path, None, {"CONVENE_WISDOM": str(path)}) as variables:
        if not variables:
            pytest.skip("this machine has no network")
        identifier, _, places = variables["CONVENE_RETURN_TO"].partition("@")
        assert (tmp_path / f".convene-{identifier}").is_file()
        rank = Rank(int(places.rsplit(":", 1)[1]), variables["CONVENE_RETURN_TOKEN"])
        rank.hear()
        rank.say(b"get wisdom\n")
        (read,) = json.loads(rank.stream.read(int(rank.hear())))
        assert (read["path"], json.loads(read["text"])["entries"], read["refusal"]) == (
            str(path),
            [ENTRY],
            "",
        )
        text = json.dumps({"convene_wisdom": 1, "entries": [{**ENTRY, "bytes": [64, 64]}]}).encode()
        rank.say(b"put wisdom-7-0.json %d\n" % len(text) + text + b"end wisdom-7-0.json\ndone\n")
        assert rank.hear() == b"done\n"
        rank.close()
    assert [entry["bytes"] for entry in json.loads(path.read_text())["entries"]] == [[8, 8], [64, 64]]
    assert sorted(found.name for found in tmp_path.iterdir()) == ["wisdom.json", "wisdom.lock"]


def test_wisdom_that_others_may_write_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wisdom.json"
    path.write_text(json.dumps({"convene_wisdom": 1, "entries": [ENTRY]}))
    path.chmod(0o666)
    (read,) = returns.wisdom_texts(str(path))
    assert read["text"] == ""
    assert "writable by other users" in read["refusal"]


def test_rules_travel_unless_they_are_too_large(tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    rules = {"convene_rules": 1, "rules": [{"collective": "bcast", "use": "chain"}]}
    path.write_text(json.dumps(rules, indent=8))
    assert json.loads(returns.rules_text(str(path))["CONVENE_RULES_TEXT"]) == rules
    path.write_text(json.dumps({**rules, "rules": rules["rules"] * 5000}))  # type: ignore[operator]
    assert returns.rules_text(str(path)) == {}
    assert returns.rules_text("") == {}
