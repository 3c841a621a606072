# SPDX-License-Identifier: BSD-3-Clause
"""convene rules explain: the choice for a call, and why the others do not decide. (The reasons of the library
are tested in C++, and the agreement with programs in test_mpi_explain.)"""

import json
from pathlib import Path
from typing import Any

import pytest
from convene import _core

from .conftest import Convene

RULES = [
    {"collective": "allgather", "procs": 8, "use": "ring"},
    {"collective": "allgather", "bytes": {"max": "1KiB"}, "use": "sparbit"},
    {"collective": "allgather", "use": "recursive_doubling"},
    {"collective": "bcast", "use": "binomial"},
    {"collective": "allgather", "use": "sparbit;send=packed"},
    {"collective": "allgather", "use": "native"},
]
MPI = "Open MPI 4.1.4"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONVENE_USE", "CONVENE_RULES", "CONVENE_REPRODUCIBLE", "CONVENE_SHARED_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CONVENE_WISDOM", "none")
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps({"convene_rules": 1, "rules": RULES}))
    return path


def wisdom_file(folder: Path, **others: object) -> Path:
    here = _core.place(MPI)
    entry: dict[str, object] = {
        **here,
        "collective": "allgather",
        "procs": 2,
        "nodes": 1,
        "ranks_per_node": 2,
        "shares_cores": here["cores"] < 2,
        "use": "ring",
        "ratio": 0.5,
        "upper": 0.6,
        "measured": "2026-11-26",
        **others,
    }
    path = folder / "wisdom.json"
    path.write_text(json.dumps({"convene_wisdom": 1, "entries": [entry]}))
    path.chmod(0o644)
    return path


def test_table_has_each_choice_in_order(convene: Convene, rules: Path) -> None:
    done = convene("rules", "explain", "allgather", "-p", 6, "--bytes", "4KiB", "--rules", rules)
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= 80
    text = " ".join(done.out.split())
    places = [
        text.index(part)
        for part in (
            "allgather, 6 ranks on 1 node, block of 4 KiB: sparbit;send=packed (rule 5 of rules.json)",
            "rule 1 of rules.json ring needs 8 ranks, this call has 6",
            "rule 2 of rules.json sparbit block of 4 KiB is above the",
            "rule 3 of rules.json",
            "a power of two; this communicator has 6",
            "rule 5 of rules.json sparbit;send=packed decides",
            "rule 6 of rules.json native not reached",
            "default native not reached",
            "1 rule or entry is for other collectives.",
        )
    ]
    assert places == sorted(places)
    assert "binomial" not in text


def test_json_has_lines_and_reasons(convene: Convene, rules: Path) -> None:
    done = convene(
        *("rules", "explain", "allgather", "-p", 8, "--nodes", 3, "--bytes", 8, "--rules", rules, "--json")
    ).json
    assert (done["algorithm"], done["reason"]) == ("ring", "rule 1 of rules.json")
    assert (done["bytes"], done["nodes"], done["ranks_per_node"]) == (8, 3, 3)
    assert [step["decides"] for step in done["steps"]] == [True, *[False] * 5]
    assert done["steps"][3]["obstacle"] == "is for bcast"
    assert done["steps"][0]["path"] == str(rules)
    assert done["steps"][0]["line"] == 1


def test_settings_come_from_the_environment(
    convene: Convene, rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reason(*options: object) -> str:
        words = (
            "rules",
            "explain",
            "allgather",
            "-p",
            2,
            "--bytes",
            "1MiB",
            "--mpi",
            MPI,
            *options,
            "--json",
        )
        return str(convene(*words).json["reason"])

    assert reason() == "default"
    monkeypatch.setenv("CONVENE_WISDOM", str(wisdom_file(tmp_path)))
    assert reason() == "wisdom: 0.50 of native, 2026-11-26"
    assert reason("--wisdom", "none") == "default"
    monkeypatch.setenv("CONVENE_RULES", str(rules))
    assert reason() == "rule 3 of rules.json"
    monkeypatch.setenv("CONVENE_USE", "allgather=bruck")
    assert reason() == "forced"
    monkeypatch.setenv("CONVENE_USE", "allgather=shared")
    monkeypatch.setenv("CONVENE_SHARED_MEMORY", "1KiB")
    assert reason() == "no shared memory"


def test_memory_of_calls_whose_sizes_are_not_known(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVENE_USE", "alltoallv=shared_head")
    words = ("rules", "explain", "alltoallv", "-p", 4, "--wisdom", "none", "--mpi", MPI, "--json")
    assert convene(*words).json["reason"] == "forced"
    monkeypatch.setenv("CONVENE_SHARED_MEMORY", "100KiB")
    answer = convene(*words).json
    assert answer["reason"] == "no shared memory"
    assert "needs 192 KiB of shared memory per node" in answer["steps"][0]["obstacle"]


def explained(convene: Convene, collective: str, path: Path, *options: object) -> Any:
    words = ("rules", "explain", collective, "-p", 2, "--bytes", 8, "--wisdom", path, "--mpi", MPI)
    return convene(*words, *options, "--json").json["steps"][0]["obstacle"]


def test_options_say_what_the_call_is(convene: Convene, tmp_path: Path) -> None:
    path = wisdom_file(tmp_path, collective="allreduce", use="recursive_doubling", upper=0.95)
    assert explained(convene, "allreduce", path) == ""
    assert "above 0.90" in explained(convene, "allreduce", path, "--order-dependent")
    assert "above 0.90" in explained(convene, "allreduce", path, "--non-commutative")
    assert "--reproducible" in explained(convene, "allreduce", path, "--order-dependent", "--reproducible")
    assert "blocking" in explained(convene, "allreduce", path, "--nonblocking")
    text = convene("rules", "explain", "allreduce", "-p", 2, "--bytes", 8, "--wisdom", path, "--mpi", MPI).out
    assert "add --order-dependent" in text


def test_wisdom_of_another_mpi_is_named(convene: Convene, tmp_path: Path) -> None:
    path = wisdom_file(tmp_path, mpi="MPICH 5.0.2")
    assert explained(convene, "allgather", path) == f"measured with MPICH 5.0.2, this is {MPI}"


def test_wisdom_that_is_refused_is_said(
    convene: Convene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wisdom_file(tmp_path)
    path.chmod(0o666)
    monkeypatch.setenv("CONVENE_WISDOM", str(path))
    done = convene("rules", "explain", "allgather", "-p", 2, "--bytes", 8, "--mpi", MPI)
    assert done.status == 0
    assert "native (default)" in done.out
    assert "is writable by other users" in " ".join(done.out.split())


def test_sizes_that_ranks_do_not_know_are_0(convene: Convene) -> None:
    done = convene("rules", "explain", "gatherv", "-p", 2, "--bytes", 8)
    assert "gatherv, 2 ranks on 1 node: native (default)" in done.out
    assert "see 0 bytes in gatherv" in done.out
    assert convene("rules", "explain", "barrier", "-p", 2).status == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("allgathre", "-p", 2), "allgather"),
        (("bcast", "-p", 2), "bcast needs the bytes of the vector; add --bytes, as in --bytes 4KiB"),
        (("bcast", "-p", 0, "--bytes", 8), "--procs must be a whole number from 1"),
        (("bcast", "-p", 2, "--bytes", 8, "--nodes", 3), "--nodes must be a whole number from 1 to 2"),
        (("bcast", "-p", 2, "--bytes", "8XB"), "8XB"),
        (("allgather", "-p", 8, "--bytes", 2**62), "are too large"),
        (("bcast", "-p", 2, "--bytes", 8, "--non-commutative"), "leave out --non-commutative"),
        (("bcast", "-p", 2, "--bytes", 8, "--rules", "/no/rules"), "/no/rules cannot be read"),
        (
            ("bcast", "-p", 2, "--bytes", 8, "--wisdom", "/no/wisdom"),
            "cannot read --wisdom /no/wisdom: No such file or directory; convene wisdom list shows",
        ),
        (("bcast", "-p", 2, "--bytes", 8, "--mpi", ""), "--mpi is empty"),
        (("bcast", "-p", 2, "--bytes", 8, "--use", ""), "--use '' names no algorithm"),
        (("allgather", "-p", 5, "--bytes", 8, "--use", "allgather=recursive_doubling"), "has 5"),
    ],
)
def test_wrong_requests(convene: Convene, words: tuple[object, ...], part: str) -> None:
    assert part in convene("rules", "explain", *words).complaint


def test_wrong_limit_of_shared_memory(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVENE_SHARED_MEMORY", "much")
    assert convene("rules", "explain", "barrier", "-p", 2).complaint.startswith("CONVENE_SHARED_MEMORY: ")
