# SPDX-License-Identifier: BSD-3-Clause
"""convene verify."""

from typing import Any

import pytest
from convene import _core
from convene.base import parsing
from convene.cli.commands import verify
from convene.verify import checks
from hypothesis import given
from hypothesis import strategies as some

Convene = Any


@pytest.mark.all
def test_everything_passes(convene: Convene) -> None:
    done = convene("verify", "allgather", "allgatherv", "--procs", "1-64")
    assert done.status == 0
    assert all(line.startswith("convene: verifying for ") for line in done.err.splitlines())
    rows = [line for line in done.out.splitlines() if "all pass" in line]
    expected = sum(
        not algorithm["native"]
        for name in ("allgather", "allgatherv")
        for algorithm in _core.algorithms(name)
    )
    assert len(rows) == expected


@pytest.mark.sampled(default=4, all=15)
@pytest.mark.parametrize("collective", _core.collectives())
def test_every_collective_passes_from_every_root(convene: Convene, collective: str) -> None:
    found = convene("verify", collective, "--procs", "1-9", "--roots", "all", "--json").json
    assert all(plan["ok"] for plan in found)
    names = {algorithm["name"] for algorithm in _core.algorithms(collective) if not algorithm["native"]}
    assert {plan["algorithm"] for plan in found} == names
    roots = {(plan["procs"], plan["root"]) for plan in found}
    rooted = _core.is_rooted(collective)
    assert roots == {(procs, root) for procs in range(1, 10) for root in range(procs if rooted else 1)}


def test_some_roots(convene: Convene) -> None:
    found = convene("verify", "bcast", "binomial", "-p", "4,7", "--roots", "0,5", "--json").json
    assert {(plan["procs"], plan["root"]) for plan in found} == {(4, 0), (7, 0), (7, 5)}


def test_the_root_of_a_failure_is_said(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    right = _core.check

    def wrong(request: Any) -> Any:
        verdict = right(request)
        if request.root == 2:
            verdict["ok"], verdict["why"] = False, "rank 0 misses block 1"
        return verdict

    monkeypatch.setattr(_core, "check", wrong)
    done = convene("verify", "gather", "linear", "--procs", "3")
    assert done.status == 1
    assert done.err == "convene: gather linear, 3 processes, root 2: rank 0 misses block 1\n"


def test_json_has_one_object_a_plan(convene: Convene) -> None:
    found = convene("verify", "allgather", "--procs", "5,8", "--json").json
    keys = [
        (plan["algorithm"], plan["procs"], plan["root"], str(plan["parameters"]), str(plan.get("mapping")))
        for plan in found
    ]
    assert len(set(keys)) == len(keys)
    assert all(plan["ok"] and "why" not in plan for plan in found)
    assert {plan["procs"] for plan in found if plan["algorithm"] == "neighbor_exchange"} == {8}
    assert {plan["parameters"]["ports"] for plan in found if plan["algorithm"] == "bruck"} >= {1, 2, 3}
    sparbit = next(plan for plan in found if plan["algorithm"] == "sparbit" and plan["procs"] == 5)
    assert (sparbit["rounds"], sparbit["blocks"], sparbit["most_blocks_sent"]) == (3, 20, 4)


def test_one_algorithm_and_its_parameters(convene: Convene) -> None:
    found = convene("verify", "allgather", "allgatherv", "bruck;ports=3", "-p", "9", "--json").json
    assert [(plan["collective"], plan["parameters"]["ports"]) for plan in found] == [
        ("allgather", 3),
        ("allgatherv", 3),
    ]


def test_random_forecasts(convene: Convene) -> None:
    arguments = ("verify", "allgather", "allgatherv", "--procs", "1-9", "--arrivals", "random:20")
    found = convene(*arguments, "--json").json
    assert all(plan["ok"] for plan in found)
    tried = {plan["algorithm"] for plan in found if plan.get("forecasts") == 20}
    learning = {
        known["name"] for known in _core.algorithms("allgather") if known["arrival_source"] == "forecast"
    }
    assert tried == learning | {"hier", "locality_bruck", "remap"}  # which may have such parts
    row = next(line for line in convene(*arguments).out.splitlines() if " bdr " in line)
    numbers_of_segments = 4  # 1, 2, 3 and 8
    assert str(numbers_of_segments * 9 * (2 + 20)) in row


def test_a_forecast_that_fails_is_said(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    right = _core.check

    def wrong(request: Any) -> Any:
        verdict: Any = right(request)
        if max(request.arrivals, default=0) > 0:
            verdict["ok"], verdict["why"] = False, "rank 1 misses block 2"
        return verdict

    monkeypatch.setattr(_core, "check", wrong)
    done = convene("verify", "allgather", "bdr", "--procs", "4", "--arrivals", "random:5")
    assert done.status == 1
    assert "with --arrivals " in done.err
    assert done.err.endswith("rank 1 misses block 2\n")


def test_forecasts_are_the_same_each_time() -> None:
    series = [checks.random_forecast(6, number) for number in range(40)]
    assert series == [checks.random_forecast(6, number) for number in range(40)]
    assert any(parsing.MOST_ROUNDS in forecast for forecast in series)
    assert all(len(forecast) == 6 and min(forecast) >= 0 for forecast in series)


def test_wrong_requests_for_forecasts(convene: Convene) -> None:
    def complaint(text: str, algorithm: str = "bdr") -> str:
        return str(convene("verify", "allgather", algorithm, "-p", "4", "--arrivals", text).complaint)

    assert complaint("2,0,0,0") == "--arrivals must be random:N, as in random:100, not '2,0,0,0'"
    assert complaint("random:x") == (
        "N in --arrivals random:N must be a whole number from 1 to 1000000, not 'x'"
    )
    assert complaint("random:5", "ring") == (
        "ring does not depend on arrivals; leave out --arrivals random:5"
    )


def test_failures_are_said_and_the_status_is_one(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    right = _core.check

    def wrong(request: Any) -> Any:
        verdict = right(request)
        if request.in_place and request.procs == 3:
            verdict["ok"], verdict["why"] = False, "rank 1 misses block 2"
        return verdict

    monkeypatch.setattr(_core, "check", wrong)
    done = convene("verify", "allgather", "ring", "--procs", "2-4")
    assert done.status == 1
    assert "1 fail" in done.out
    assert done.err == (
        "convene: allgather ring, 3 processes, root 0: with MPI_IN_PLACE: rank 1 misses block 2\n"
    )
    as_json = convene("verify", "allgather", "ring", "--procs", "2-4", "--json")
    assert as_json.status == 1
    assert [plan["ok"] for plan in as_json.json] == [True, False, True]
    assert "block 2" in as_json.json[1]["why"]


RANGES = "--procs must be whole numbers from 1 to 1024, or ranges of them, as in 2,4-8, not "


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("allgahter",), "there is no collective 'allgahter'; did you mean allgather"),
        (("ring",), "there is no collective 'ring'"),
        (("allgather", "sparbti"), "there is no allgather algorithm 'sparbti'; did you mean sparbit?"),
        (("allgather", "ring", "bruck"), "there is no collective 'ring'"),
        (("allgather", "native"), "native algorithms have no schedule"),
        (
            ("allgather", "neighbor_exchange", "-p", "5"),
            "neighbor_exchange needs an even number of processes",
        ),
        (
            ("gather", "binomial", "-p", "4", "--roots", "7"),
            "every root of --roots 7 is out of range for --procs",
        ),
        (("gather", "-p", "4", "--roots", "al"), "--roots must be whole numbers from 0"),
        (("bcast", "ring"), "there is no bcast algorithm 'ring'"),
        (("-p", "1-x"), RANGES + "'1-x'"),
        (("allgather", "ring", "--segments", "4"), "ring has no parameter segments"),
        (("-p", "9-4"), "--procs '9-4' is empty"),
        (("-p", "0-3"), RANGES + "'0-3'"),
        (("-p", "0"), RANGES + "'0'"),
        (("-p", "1-5000"), RANGES + "'1-5000'"),
        (("-p", ""), RANGES + "''"),
    ],
)
def test_wrong_requests(convene: Convene, words: tuple[str, ...], sentence: str) -> None:
    assert sentence in convene("verify", *words).complaint


def test_numbers_of_segments(convene: Convene) -> None:
    found = convene("verify", "reduce", "binomial", "-p", "3", "--segments", "5,9", "--json").json
    assert {plan["parameters"]["segments"] for plan in found} == {5, 9}
    # Where a parameter has no such value, or another one has samples of its own, these are checked.
    found = convene("verify", "bcast", "-p", "4", "--segments", "1,6", "--json").json
    assert {plan["parameters"]["segments"] for plan in found if plan["algorithm"] == "split_binary"} == {6}
    knomial = {
        (plan["parameters"]["fanout"], plan["parameters"]["segments"])
        for plan in found
        if plan["algorithm"] == "knomial"
    }
    assert knomial == {(fanout, segments) for fanout in (2, 3, 7) for segments in (1, 6)}
    assert all("segments" not in plan["parameters"] for plan in found if plan["algorithm"] == "linear")


def test_an_operator_that_does_not_commute(convene: Convene) -> None:
    found = convene("verify", "--non-commutative", "-p", "5", "--json").json
    assert all(plan["ok"] and plan["commutative"] is False for plan in found)
    assert {plan["collective"] for plan in found} == {
        name for name in _core.collectives() if _core.is_reduction(name)
    }
    checked = {plan["algorithm"] for plan in found if plan["collective"] == "allreduce"}
    able = {known["name"] for known in _core.algorithms("allreduce") if not known["commutative_only"]}
    assert checked == able - {"native", "remap", "by_arrival"}
    wrong = convene("verify", "bcast", "--non-commutative")
    assert wrong.complaint == "bcast has no operator; leave out --non-commutative"
    wrong = convene("verify", "allreduce", "ring", "-p", "4", "--non-commutative")
    assert wrong.complaint == "nothing to verify: ring needs a commutative operator"


def test_samples_take_turns_in_playing_the_roots(convene: Convene) -> None:
    def checked(*more: str) -> list[tuple[int, int]]:
        found = convene("verify", "reduce", "binomial", "-p", "16", *more, "--json").json
        return sorted((plan["root"], plan["parameters"]["segments"]) for plan in found)

    some = checked()
    samples = {segments for _, segments in checked("--thorough")}
    assert [root for root, _ in some] == list(range(16))
    assert {segments for _, segments in some} == samples
    assert checked("--thorough") == [(root, segments) for root in range(16) for segments in sorted(samples)]


def test_names_are_split() -> None:
    assert verify.split_names([]) == (_core.collectives(), None)
    assert verify.split_names(["allgatherv"]) == (["allgatherv"], None)
    assert verify.split_names(["allgather", "allgatherv", "ring"]) == (["allgather", "allgatherv"], "ring")


def test_numbers() -> None:
    assert parsing.parse_numbers("2,4,8-10", "-p", 1, 64) == [2, 4, 8, 9, 10]
    assert parsing.parse_numbers(" 3 ", "-p", 1, 64) == [3]


@given(some.text(alphabet="0123456789,- x", max_size=12))
def test_any_text_is_numbers_or_an_error(text: str) -> None:
    try:
        numbers = parsing.parse_numbers(text, "-p", 1, 1000)
    except _core.RequestError:
        return
    assert numbers == sorted(set(numbers))
    assert all(1 <= number <= 1000 for number in numbers)


def test_compositions_are_played_on_several_mappings(convene: Convene) -> None:
    plans = convene("verify", "allgather", "hier", "-p", "12", "--json").json
    assert all(plan["ok"] for plan in plans)
    assert len({str(plan["mapping"]) for plan in plans}) == 4
    assert {plan["parameters"]["between"] for plan in plans} >= {"ring", "sparbit", "bruck"}
    assert {plan["parameters"]["leaders"] for plan in plans} == {1, 2, 3}


def test_compositions_are_told_of_arrivals(convene: Convene) -> None:
    done = convene("verify", "reduce", "hier(clairvoyant,linear)", "-p", "2-8", "--arrivals", "random:2")
    assert done.status == 0, done
    refused = convene("verify", "reduce", "hier(binomial,linear)", "-p", "4", "--arrivals", "random:2")
    assert refused.status in (0, 2)  # checked without, or said to be idle
    nodes = ("-p", 8, "--mapping", "node:4 core:2", "--arrivals", "0,0,0,9,0,0,0,0")
    shown = convene("show", "reduce", "hier(clairvoyant;segments=4,linear)", *nodes)
    # Node 1 comes later, and so do the messages of its leader.
    assert shown.out.index("(2,3)") > shown.out.index("round 4")
    assert "uses no arrivals" in convene("show", "reduce", "hier(binomial,linear)", *nodes).complaint


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("allgather ring --procs 4 --mapping node:2", "ring does not depend on nodes; leave out --mapping"),
        ("allgather ring --procs 4 --placement foo", "ring does not depend on nodes; leave out --placement"),
        ("allgather --roots xx", "allgather: no root rank; leave out --roots xx"),
        ("barrier --segments 3 --procs 4", "barrier has no parameter segments; leave out --segments 3"),
    ],
)
def test_what_would_change_nothing_is_refused(convene: Convene, words: str, what: str) -> None:
    done = convene("verify", *words.split())
    assert done.status == 2
    assert what in done.complaint


def test_a_composition_on_one_mapping(convene: Convene) -> None:
    spec = "hier(ring,linear;leaders=2)"
    given = ("--mapping", "node:3 core:4", "--placement", "cyclic")
    [plan] = convene("verify", "allgather", spec, "-p", "12", *given, "--json").json
    assert plan["ok"]
    assert plan["mapping"] == {"machine": "node:3 core:4", "placement": "cyclic"}
    assert plan["parameters"] == {
        "leaders": 2,
        "level": "node",
        "between": "ring",
        "gather": "linear",
        "bcast": "linear",
    }


def test_barriers_are_not_played_in_place(convene: Convene) -> None:
    row = next(
        line
        for line in convene("verify", "barrier", "tree", "-p", "1-4").out.splitlines()
        if " tree " in line
    )
    assert row.split()[2] == str(4 * len(_core.samples("barrier", "tree")))


def test_a_mapping_counts_where_ranks_share_memory(convene: Convene) -> None:
    assert "all pass" in convene("verify", "bcast", "shared", "--procs", 4, "--mapping", "node:1 core:4").out
    refused = convene("verify", "bcast", "shared", "--procs", 4, "--mapping", "node:2 core:2")
    assert refused.status == 2
    assert "needs all processes on one node" in refused.complaint
