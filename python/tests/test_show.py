# SPDX-License-Identifier: BSD-3-Clause
"""convene show."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from hypothesis import given
from hypothesis import strategies as some

Convene = Any

ALGORITHMS = [
    (collective, algorithm["name"])
    for collective in _core.collectives()
    for algorithm in _core.algorithms(collective)
    if not algorithm["native"]
]


@pytest.mark.parametrize(("collective", "algorithm"), ALGORITHMS)
@pytest.mark.parametrize("form", ["text", "json", "svg", "goal"])
def test_every_algorithm_in_every_form(convene: Convene, collective: str, algorithm: str, form: str) -> None:
    composed = any(known["parts"] for known in _core.algorithms(collective) if known["name"] == algorithm)
    where = ("--mapping", "node:2 core:2") if composed else ()
    done = convene("show", collective, algorithm, "-p", 4, "--format", form, *where)
    assert done.status == 0
    assert done.err == ""
    if form == "svg":
        assert ElementTree.fromstring(done.out).tag.endswith("svg")
    elif form == "goal":
        assert done.out.startswith("num_ranks 4")
    elif form == "text":
        assert algorithm in done.out.splitlines()[0]


def test_json_is_the_contract(convene: Convene) -> None:
    plan = convene("show", "allgather", "sparbit", "-p", 5, "--send", "packed", "--format", "json").json
    assert {key: plan[key] for key in ("collective", "algorithm", "procs", "root")} == {
        "collective": "allgather",
        "algorithm": "sparbit",
        "procs": 5,
        "root": 0,
    }
    assert plan["parameters"]["send"] == "packed"
    assert (plan["rounds"], plan["blocks"]) == (3, 20)
    assert [rank["rank"] for rank in plan["ranks"]] == list(range(5))
    for rank in plan["ranks"]:
        for step in rank["steps"]:
            assert {"id", "kind", "after"} <= set(step)
            if step["kind"] in ("send", "recv"):
                assert {"peer", "match", "round", "slots"} <= set(step)
            if step["kind"] == "copy":
                assert {"from", "to"} <= set(step)


def test_blocks_are_named_by_what_they_are(convene: Convene) -> None:
    """A scatter's by target, an alltoall's by both ranks, a vector's segments by number, empty blocks."""
    scatter = convene("show", "scatter", "linear", "-p", 3, "--root", 1).out
    assert "0 to 0" in scatter
    assert "2 to 2" in scatter
    assert "2.0 to 0" in convene("show", "alltoall", "linear", "-p", 3).out
    bcast = convene("show", "bcast", "chain", "-p", 3, "--segments", 2, "--root", 2).out
    assert "4 segments" in bcast
    assert "1 to 0" in bcast
    assert " empty blocks in 2 messages" in convene("show", "barrier", "dissemination", "-p", 3).out


def test_the_root_matters(convene: Convene) -> None:
    plans = [
        convene("show", "gather", "binomial", "-p", 8, "--root", root, "-f", "json").json for root in (0, 3)
    ]
    assert [plan["root"] for plan in plans] == [0, 3]
    for plan in plans:
        sends = {rank["rank"] for rank in plan["ranks"] if any(s["kind"] == "send" for s in rank["steps"])}
        assert sends == set(range(8)) - {plan["root"]}


def test_pictures_name_blocks_as_texts_do(convene: Convene) -> None:
    def cells(*arguments: object) -> set[str]:
        picture = ElementTree.fromstring(convene("show", *arguments, "-f", "svg").out)
        return {text.text or "" for text in picture.iter() if text.tag.endswith("text")}

    assert {"block for rank 0, held before", "out"} <= cells("scatter", "linear", "-p", 3, "--root", 2)
    assert {"0.1", "2.0", "out 2"} <= cells("alltoall", "linear", "-p", 3)
    assert "7" in cells("bcast", "chain", "-p", 3, "--segments", 8)
    assert "empty block of rank 0, held before" in cells("barrier", "tree", "-p", 3)


def test_barriers_carry_no_bytes(convene: Convene) -> None:
    goal = convene("show", "barrier", "dissemination", "-p", 4, "-f", "goal").out
    messages = [line for line in goal.splitlines() if "send" in line or "recv" in line]
    assert len(messages) == 16
    assert all(" 0b " in line for line in messages)
    refused = convene("show", "barrier", "dissemination", "-p", 4, "-f", "goal", "--bytes", 8)
    assert "have no bytes" in refused.complaint


def test_roots_must_be_ranks(convene: Convene) -> None:
    done = convene("show", "gather", "binomial", "-p", 4, "--root", 4)
    assert "--root must be a whole number from 0 to 3, not '4'" in done.complaint


def test_too_many_that_decide_as_they_run(convene: Convene) -> None:
    done = convene("show", "reduce", "local_redirect", "-p", 300_000)
    assert "reduce=local_redirect is an online algorithm" in done.complaint
    assert "use at most 16384, not 300000" in done.complaint


def test_parameters_behind_the_name_or_as_options(convene: Convene) -> None:
    behind = convene("show", "allgather", "bruck;ports=2", "-p", 9)
    option = convene("show", "allgather", "bruck", "-p", 9, "--ports", 2)
    assert behind.out == option.out
    assert "2 rounds" in behind.out


def test_the_files_name_says_the_form(convene: Convene, tmp_path: Path) -> None:
    picture, plan, text = tmp_path / "a.svg", tmp_path / "a.json", tmp_path / "a"
    for path in (picture, plan, text):
        assert convene("show", "allgather", "ring", "-p", 3, "-o", path).status == 0
    assert "<svg" in picture.read_text()
    assert json.loads(plan.read_text())["rounds"] == 2
    assert text.read_text().startswith("allgather by ring")


def test_arrivals_are_a_forecast(convene: Convene) -> None:
    arguments = ("show", "allgather", "bdr", "-p", 4)
    expected = convene(*arguments, "--arrivals", "2,0,0,0", "-f", "json").json
    assert expected["rounds"] == 5
    assert expected["arrivals"] == [2, 0, 0, 0]
    first = next(step for step in expected["ranks"][3]["steps"] if step["kind"] == "send")
    assert (first["peer"], first["round"]) == (2, 0)
    without = convene(*arguments, "-f", "json").json
    assert without["rounds"] == 3
    assert "arrivals" not in without
    together = convene(*arguments, "--arrivals", "7,7,7,7")
    assert together.out == convene(*arguments).out


@pytest.mark.parametrize("form", ["text", "svg", "goal"])
@pytest.mark.parametrize("algorithm", ["bdr", "bslb", "list_scheduled"])
def test_arrivals_in_every_form(convene: Convene, algorithm: str, form: str) -> None:
    arguments = ("show", "allgather", algorithm, "-p", 5, "-f", form)
    late = convene(*arguments, "--arrivals", "0,0,9,0,0")
    assert late.status == 0
    assert late.out != convene(*arguments).out


def test_wrong_arrivals(convene: Convene) -> None:
    def complaint(arrivals: str, algorithm: str = "bdr") -> str:
        done = convene("show", "allgather", algorithm, "-p", 4, "--arrivals", arrivals)
        return str(done.complaint)

    assert complaint("2,0,0") == (
        "--arrivals needs one number for each of the 4 processes, as in 2,0,0,0; '2,0,0' has 3"
    )
    assert complaint("2,0,x,0") == (
        "an arrival in --arrivals must be a whole number from 0 to 2147483647, not 'x'"
    )
    assert "not '-1'" in complaint("-1,0,0,0")
    assert "not ''" in complaint("")
    assert complaint("2,0,0,0", "ring") == (
        "ring uses no arrivals; of allgather these use them: bdr, bslb, list_scheduled, by_arrival"
    )


def test_mapping(convene: Convene) -> None:
    arguments = ("show", "allgather", "sparbit", "-p", 8, "-f", "svg", "--mapping", "node:4 core:2")
    sequential = convene(*arguments)
    assert "node 3" in sequential.out
    assert convene(*arguments, "--placement", "cyclic").out != sequential.out
    assert convene(*arguments, "--rings").out != sequential.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sparbti", "-p", 4), "there is no allgather algorithm 'sparbti'; did you mean sparbit?"),
        (
            ("neighbor_exchange", "-p", 5),
            "allgather=neighbor_exchange needs an even number of processes, not 5",
        ),
        (("recursive-doubling", "-p", 6), "needs a number of processes that is a power of two, not 6"),
        (("native", "-p", 4), "native algorithms have no schedule"),
        (
            ("sparbit", "-p", 4, "--send", "pakced"),
            "send of sparbit cannot be 'pakced'; did you mean packed?",
        ),
        (("bruck", "-p", 4, "--ports", 99), "ports of bruck must be a whole number from 1 to 64, not 99"),
        (("ring", "-p", 4, "--ports", 2), "ring has no parameters: 'ports' has no effect"),
        (("bruck;ports=2", "-p", 4, "--ports", 2), "the parameter ports of bruck is given twice"),
        (("ring", "-p", 0), "--procs must be a whole number from 1 to 1048576, not '0'"),
        (("ring", "-p", "four"), "--procs must be a whole number from 1 to 1048576, not 'four'"),
        (("ring",), "Missing option '-p' / '--procs'"),
        (("ring", "-p", 1 << 20), "steps, more than"),
        (("sparbit;send=packed", "-p", 1 << 16), "use fewer processes, or --format json"),
        (("ring", "-p", 4, "--root", 1), "allgather has no root; leave out --root 1"),
        (("ring", "-p", 4, "--rank", 4), "--rank must be a whole number from 0 to 3, not '4'"),
        (("ring", "-p", 4, "--rings"), "--rings is for --format svg, not text"),
        (("ring", "-p", 4, "-f", "svg", "--steps"), "--steps is for --format text, not svg"),
        (("ring", "-p", 4, "-f", "goal", "--bytes", "4KB"), "'4KB' is not a size"),
        (("ring", "-p", 4, "-f", "svg", "--mapping", "core:4"), "core:4"),
        (("ring", "-p", 4, "-f", "svg", "--mapping", "node:1 core:2"), "4 processes do not fit"),
        (("ring", "-p", 4, "-f", "svg", "--placement", "spiral"), "spiral"),
        (("ring", "-p", 4, "-f", "svg", "--rounds", "7"), "7"),
        (("ring", "-p", 4, "-f", "svg", "--rounds", ""), "--rounds must be whole numbers"),
        (
            ("ring", "-p", 4, "-f", "svg", "--mapping", ""),
            "--mapping is empty; give a value, as in --mapping",
        ),
        (("ring", "-p", 4, "-f", "svg", "--placement", " "), "--placement is empty"),
        (("ring", "-p", 4, "--graph", ""), "--graph is empty"),
        (("ring", "-p", 4, "-f", "goal", "--bytes", ""), "'' is not a size"),
        (
            ("ring", "-p", 4, "-f", "svg", "--width", "wide"),
            "--width must be a whole number from 200 to 10000",
        ),
        (("ring", "-p", 4, "-f", "svg", "--width", "0"), "--width must be a whole number from 200 to 10000"),
        (("ring", "-p", 4, "--width", "400"), "--width is for --format svg, not text"),
        (("ring", "-p", 4, "-f", "pdf"), "there is no format 'pdf'; known: text, json, svg, goal"),
        (("ring", "-p", 4, "-o", "ring.pdf"), "cannot derive a format from the name ring.pdf; end it in"),
        (("ring", "-p", 4, "-o", "no/such/place.svg"), "cannot write no/such/place.svg"),
    ],
)
def test_wrong_requests(convene: Convene, arguments: tuple[object, ...], sentence: str) -> None:
    assert sentence in convene("show", "allgather", *arguments).complaint


@given(some.text(max_size=30), some.text(max_size=30))
def test_any_text_is_a_spec_or_an_error(collective: str, spec: str) -> None:
    for name in (collective, "allgather"):
        for text in (spec, f"sparbit;{spec}", f"bruck;ports={spec}"):
            try:
                _core.parameters(name, _core.spec(name, text))
            except _core.RequestError as error:
                complaint = str(error)
            else:
                complaint = ""
            assert "\n" not in complaint


def test_a_hierarchy_needs_its_nodes(convene: Convene) -> None:
    spec = "hier(sparbit,linear;leaders=2)"
    shown = convene("show", "allgather", spec, "-p", 8, "--mapping", "node:2 core:4").out
    assert shown.startswith(
        "allgather by hier (leaders=2, level=node, between=sparbit, gather=linear, bcast=linear)"
    )
    assert "3 rounds" in shown
    assert "--mapping" in convene("show", "allgather", spec, "-p", 8).complaint
    assert convene("show", "allgather", spec, "-p", 8, "--mapping", "node:8 core:1").complaint == (
        f"allgather={spec} needs 2 leaders on each node, and the node of rank 0 has only 1 rank"
    )
    assert convene("show", "allgather", "ring", "-p", 8, "--mapping", "node:8 core:1").complaint == (
        "--mapping is for --format svg and for hierarchical algorithms; leave it out"
    )
