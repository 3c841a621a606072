# SPDX-License-Identifier: BSD-3-Clause
"""convene predict."""

import json
from math import ceil, log2
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene.model import platform_files
from convene.model.machine_models import model_platform
from convene.simulate import platforms

Convene = Any

SHIPPED = platform_files.names()


def seconds(done: Any, algorithm: str) -> list[float]:
    (found,) = (one for one in done.json["algorithms"] if one["algorithm"] == algorithm)
    values: list[float] = found["seconds"]
    return values


@pytest.mark.parametrize("name", SHIPPED)
def test_platforms_that_come_with_it(convene: Convene, name: str) -> None:
    facts = platform_files.load(name).facts
    assert facts["name"] == name
    assert facts["source"]
    assert facts["models"]
    for model in facts["models"]:
        done = convene("predict", "allgather", "--platform", name, "-p", 8, "--model", model, "--bytes", "8")
        assert done.status == 0, done.err
        assert "sparbit" in done.out


def test_hockney_on_curie(convene: Convene) -> None:
    done = convene(
        "predict", "allgather", "--platform", "curie", "-p", 64, "-m", "hockney", "--bytes", "1KiB", "--json"
    )
    alpha, beta = 2.66e-6, 4.8179e-10
    assert seconds(done, "recursive_doubling") == pytest.approx([6 * alpha + 63 * 1024 * beta], rel=1e-12)
    assert seconds(done, "ring") == pytest.approx([63 * (alpha + 1024 * beta)], rel=1e-12)
    assert done.json["assumed"] == []
    assert done.json["best"][0] in {one["algorithm"] for one in done.json["algorithms"]}


@pytest.mark.parametrize("procs", [2, 3, 4, 7, 8, 13, 16, 31, 32, 64])
def test_every_algorithm_costs_at_least_the_lower_bound(convene: Convene, procs: int) -> None:
    """⌈log P⌉ messages and P - 1 blocks have to come to each rank, in whatever order."""
    done = convene(
        "predict", "allgather", "--platform", "curie", "-p", procs, "-m", "hockney", "--bytes", 100, "--json"
    )
    least = max(ceil(log2(procs)) * 2.66e-6, (procs - 1) * 100 * 4.8179e-10)
    assert all(one["seconds"][0] >= least for one in done.json["algorithms"])


def test_loggp_on_chic_is_the_closed_form(convene: Convene) -> None:
    """(P - 1)(o_s + L + o_r + (s - 1)G) for the ring, with G as the platform file says it."""
    arguments = ("--platform", "chic", "-p", 16, "-m", "loggp", "--bytes", "1KiB", "--json")
    done = convene("predict", "allgather", "-a", "ring", *arguments)
    assert seconds(done, "ring") == pytest.approx([15 * (2.4 + 4.5 + 1.1 + 1023 * 0.001) * 1e-6], rel=1e-12)
    assert any("g and G" in line for line in done.json["assumed"])


REDUCTIONS = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")


@pytest.mark.parametrize("collective", _core.collectives())
@pytest.mark.parametrize("model", ["loggp", "taulop", "lognp"])
def test_every_collective_costs_something(convene: Convene, collective: str, model: str) -> None:
    arguments = (
        "--platform",
        "metropolis",
        "-p",
        8,
        "--nodes",
        2,
        "-m",
        model,
        "--json",
        *(("--bytes", "8,64KiB") if collective != "barrier" else ()),
    )
    if collective in REDUCTIONS:  # this platform does not say what an operator costs
        refused = convene("predict", collective, *arguments)
        assert refused.status == 2
        assert "has no parameter computation" in refused.err
        return
    found = convene("predict", collective, *arguments).json
    assert found["algorithms"]
    for one in found["algorithms"]:
        assert all(cost > 0 for cost in one["seconds"])
        assert one["seconds"] == sorted(one["seconds"])
    assert found["sizes"] == ([0] if collective == "barrier" else [8, 65536])


def test_comparison(convene: Convene) -> None:
    one_node = ("-p", 16, "--nodes", 1)
    equal = convene("predict", "allgather", "--compare", "ring", "recursive_doubling", *one_node)
    assert equal.out.startswith("ring = recursive_doubling, on every machine")
    four = ("-p", 16, "--nodes", 4, "--json")
    for first, second, relation, conditional in (
        ("neighbor_exchange", "gather_bcast", "≤", False),
        ("gather_bcast", "neighbor_exchange", "≥", False),
        ("sparbit", "bruck", "≤", True),
        ("recursive_doubling", "ring", "?", False),
    ):
        found = convene("predict", "allgather", "--compare", first, second, *four).json
        assert found == {
            "first": first,
            "second": second,
            "relation": relation,
            "if_memory_is_faster": conditional,
        }


def test_hop_bytes_of_the_mappings(convene: Convene) -> None:
    """Sparbit sends most over short distances, Bruck over long ones; so each has its mapping."""
    arguments = ("predict", "allgather", "-m", "hop_bytes", "-p", 32, "--nodes", 4, "--bytes", 1, "--json")
    cost = {}
    for mapping in ("sequential", "cyclic"):
        found = convene(*arguments, "-a", "sparbit,bruck", "--mapping", mapping).json
        cost[mapping] = {one["algorithm"]: one["byte_hops"][0] for one in found["algorithms"]}
    assert cost["sequential"]["sparbit"] < cost["cyclic"]["sparbit"]
    assert cost["cyclic"]["bruck"] < cost["sequential"]["bruck"]


def test_taulop_sees_the_mapping_and_the_contention(convene: Convene) -> None:
    arguments = (
        "predict",
        "allgather",
        "-a",
        "ring",
        "--platform",
        "metropolis",
        "--json",
        "--bytes",
        "64KiB",
    )
    sequential = seconds(convene(*arguments, "-p", 32), "ring")[0]
    cyclic = seconds(convene(*arguments, "-p", 32, "--mapping", "cyclic"), "ring")[0]
    assert 4 < cyclic / sequential < 8  # the source measured a sixfold loss
    listed = seconds(convene(*arguments, "-p", 2, "--mapping", "0,1"), "ring")[0]
    assert listed > seconds(convene(*arguments, "-p", 2, "--mapping", "0,0"), "ring")[0]


def test_a_file_of_ones_own(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    channel = {"name": "all", "hockney": {"alpha": 1, "beta": 0}}
    path.write_text(json.dumps({"name": "mine", "model": {"time_unit": "ms", "channels": [channel]}}))
    arguments = (
        "predict",
        "allgather",
        "-a",
        "bruck",
        "--platform",
        path,
        "-p",
        5,
        "-m",
        "hockney",
        "--json",
    )
    assert seconds(convene(*arguments, "--nodes", 1), "bruck") == pytest.approx([0.003] * 4)
    assert "the number of nodes is missing" in convene(*arguments).complaint
    listed = convene(*arguments, "--mapping", "0,0,1,1,1").json
    assert listed["machine"] == "node:2 core:3"
    path.write_text(path.read_text().replace('"ms"', '"m"'))
    assert convene(*arguments).complaint.startswith(f"{path}: field model.time_unit is 'm'")


def test_models_are_named(convene: Convene) -> None:
    assert "taulop" in _core.models()
    assert "loggps" in _core.models()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--nodes", 2), "needs model parameters; give --platform cervino|chic|curie|fermi|lusitania"),
        (("--platform", "metropolsi"), "there is no platform 'metropolsi'; did you mean metropolis?"),
        (
            ("--platform", "curie"),
            "the platform 'curie' has no parameters taulop for the channel 'network'; use --model hockney",
        ),
        (("--platform", "chic", "-m", "hockney"), "; use --model logp or loggp or logfp"),
        (("--platform", "metropolis", "-m", "loggps"), "no parameters loggp with S for the channel 'memory'"),
        (("--platform", "curie", "-m", "hockey"), "there is no model 'hockey'; did you mean hockney?"),
        (("--platform", "curie", "-m", "hockney", "--bytes", "4KB"), "'4KB' is not a size"),
        (("--platform", "curie", "-m", "hockney", "--mapping", "spiral"), "spiral"),
        (("--platform", "curie", "-m", "hockney", "--root", 1), "allgather has no root; leave out --root 1"),
        (("--platform", "curie", "-a", "native"), "native has no schedule"),
        (("--platform", "metropolis", "--machine", "node:2 core:2"), "8 processes do not fit"),
        (("--machine", "node:2 core:4", "--nodes", 2), "--machine already defines the number of nodes"),
        (("--expression",), "the number of nodes is missing"),
        (("--expression", "--mapping", "0,0,x,1"), 'the placement "0,0,x,1" is unknown (at "x")'),
        (("--nodes", 9), "--nodes must be a whole number from 1 to 8, not '9'"),
        (("--nodes", 2, "--latex"), "--latex is for --expression"),
        (("--nodes", 2, "--transport", ""), "--transport is for --expression and --compare"),
        (("--nodes", 2, "--expression", "--transport", ""), "--transport is empty"),
        (("--nodes", 2, "--expression", "--transport", "rdma,"), "--transport 'rdma,' has an empty word"),
        (
            ("--nodes", 2, "--expression", "--transport", "zero_copy,buffered"),
            "--transport zero_copy,buffered names 2 transports in memory; give one of them",
        ),
        (
            ("--nodes", 2, "--expression", "--transport", "rdma,zero_copy,copies"),
            "names 2 transports in the network; give one of them",
        ),
        (("--nodes", 2, "--expression", "-a", "ring,,ring"), "'ring,,ring' has an empty name"),
        (("--nodes", 2, "--expression", "-a", "ring,"), "'ring,' has an empty name"),
        (("--platform", ""), "there is no platform ''"),
        (("--nodes", 2, "--transport", "rdma"), "--transport is for --expression and --compare"),
        (("--nodes", 2, "--expression", "--transport", "zero"), "there is no transport in memory 'zero'"),
        (("--nodes", 2, "--compare", "ring", "rign"), "did you mean ring"),
        (
            ("--nodes", 2, "--compare", "ring", "bruck", "-m", "loggp"),
            "--model cannot be combined with --compare, which uses τ-Lop and any size; leave it out",
        ),
        (("--nodes", 2, "--expression", "--bytes", "8"), "--bytes cannot be combined with --expression"),
        (("--platform", "lusitania", "--nodes", 2), "'lusitania' is of one node and has no network"),
        (("--platform", "lusitania", "--machine", "rack:2 node:1 core:4"), "has no network"),
    ],
)
def test_wrong_requests(convene: Convene, arguments: tuple[object, ...], sentence: str) -> None:
    assert sentence in convene("predict", "allgather", "-p", 8, *arguments).complaint


def test_packing_is_before_and_behind(convene: Convene, tmp_path: Path) -> None:
    """Section 3.4: a message of what does not lie in one piece costs 2p(m) + T(m)."""
    one = ("predict", "bcast", "-a", "binomial", "-p", 2, "--packed")
    assert convene(*one, "--nodes", 2, "--expression").out == (
        "binomial:\n  p(m) + T¹(m) + p(m)\n  = 2p(m) + o¹(m) + 2L⁰(m, 1) + L¹(m, 1)\n"
    )
    path = tmp_path / "mine.json"
    channel = {"name": "all", "taulop": {"o": 1, "L": {"1": {"fixed": 0, "per_byte": 0.5}}}}
    model = {"time_unit": "s", "channels": [channel]}
    timed = (*one, "--nodes", 1, "--platform", path, "--bytes", 8, "--json")
    path.write_text(json.dumps({"name": "mine", "model": model}))
    assert "has no cost of packing (model.packing)" in convene(*timed).complaint
    path.write_text(json.dumps({"name": "mine", "model": {**model, "packing": {"fixed": 2, "per_byte": 1}}}))
    assert seconds(convene(*timed), "binomial") == [1 + 2 * 4 + 2 * 10]
    assert convene(*timed).json["packed"] is True
    assert "--packed is for --model taulop" in convene(*timed, "-m", "hockney").complaint
    assert (
        "--packed cannot be combined with --compare"
        in convene(
            "predict", "allgather", "-p", 4, "--nodes", 1, "--packed", "--compare", "ring", "bruck"
        ).complaint
    )


def test_shared_places_have_their_own_transfers(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"

    def time(taulop: dict[str, Any]) -> float:
        channel = {"name": "all", "taulop": {"o": 0, "L": {"1": {"fixed": 0, "per_byte": 1}}, **taulop}}
        path.write_text(json.dumps({"name": "mine", "model": {"time_unit": "s", "channels": [channel]}}))
        arguments = ("-a", "shared", "-p", 2, "--nodes", 1, "--platform", path, "--bytes", 1024, "--json")
        return seconds(convene("predict", "bcast", *arguments), "shared")[0]

    assert time({"L_c": {"1": {"fixed": 0, "per_byte": 3}}}) == 3 * time({}) > 0
    time({"L_c": {"1": {"fixed": 0, "per_byte": 3}}})
    words = ("-a", "shared", "-p", 2, "--nodes", 1, "--platform", path, "--expression")
    assert convene("predict", "bcast", *words).out.endswith("= 2L_c⁰(m, 1)\n")
    time({})
    kernel = ("kernel", "shared_bcast", "-p", 2, "--platform", path, "--json")
    plain = convene(*kernel).json["seconds"]
    time({"L_c": {"1": {"fixed": 0, "per_byte": 3}}})
    assert convene(*kernel).json["seconds"] == 3 * plain


def test_a_barrier_has_no_bytes(convene: Convene) -> None:
    arguments = ("predict", "barrier", "-p", 4, "--nodes", 2, "--platform", "curie", "-m", "hockney")
    assert convene(*arguments).status == 0
    assert "--bytes cannot be combined with a barrier" in convene(*arguments, "--bytes", 8).complaint


def test_equals_change_places_nowhere(convene: Convene) -> None:
    """Two ranks have one exchange, whatever its name: which is named does not depend on the size."""
    arguments = ("predict", "allgather", "-p", 2, "--nodes", 2, "--platform", "curie", "-m", "hockney")
    names = ("-a", "sparbit,ring,bruck", "--bytes", "8,1KiB,1MiB", "--json")
    assert convene(*arguments, *names).json["best"] == ["bruck"] * 3
    assert convene(*arguments, *names, "--crossovers").json["changes"] == []
    assert convene(*arguments, *names, "--crossovers").json["first"] == "bruck"


def test_costs_of_mappings(convene: Convene) -> None:
    where = ("-a", "ring", "--platform", "metropolis", "-p", 8, "--nodes", 2, "--bytes", "64KiB", "--json")
    found = convene("predict", "allgather", *where, "--mappings", "--mapping", "0,0,1,1,0,0,1,1").json[
        "mappings"
    ]
    costs = {mapping: each["ring"][0] for mapping, each in found.items()}
    assert costs.keys() == {"sequential", "cyclic", "0,0,1,1,0,0,1,1"}
    assert costs["sequential"] < costs["0,0,1,1,0,0,1,1"] < costs["cyclic"]
    for mapping, cost in costs.items():
        alone = convene("predict", "allgather", *where, "--mapping", mapping)
        assert seconds(alone, "ring") == [cost]


def test_what_cannot_be_shown_together(convene: Convene) -> None:
    where = ("predict", "allgather", "--platform", "curie", "-p", 4)
    assert convene(*where, "--winners", "--tune").complaint == (
        "--winners and --tune are different views; give one of them"
    )
    words = (
        "predict",
        "allgather",
        "-a",
        "recursive_doubling",
        "--platform",
        "curie",
        "-p",
        "3-4",
        "--winners",
    )
    assert "none of recursive_doubling supports 3 processes" in convene(*words).complaint


@pytest.mark.parametrize("model", ["hockney", "logp", "loggp", "plogp", "lognp", "taulop"])
@pytest.mark.parametrize("name", ["yahoo", "curie", "fermi", "dragonfly"])
def test_a_message_costs_what_its_links_and_processors_say(
    convene: Convene, tmp_path: Path, name: str, model: str
) -> None:
    """One message between the nodes that are farthest from each other, of a platform of convene simulate."""
    machine = json.loads(
        (platforms.PLATFORMS / f"{'yahoo' if name == 'dragonfly' else name}.json").read_text()
    )
    if name == "dragonfly":
        near, far = {"latency": 1e-6, "bandwidth": 2e9}, {"latency": 3e-6, "bandwidth": 1e9}
        shape = {"shape": "dragonfly", "groups": 4, "routers": 2, "nodes_per_router": 2}
        machine["network"] = shape | {"node": near, "local": near, "global": far}
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machine))
    where = ("--platform", path, "-p", 2, "--mapping", "0,1", "--machine", "node:2 core:1", "--bytes", 1000)
    done = convene("predict", "bcast", *where, "-m", model, "-a", "binomial", "--json")
    assert done.status == 0, done.err
    network = machine["network"]
    links = {
        "one_switch": [],
        "tree": ["uplink"] * 2,
        "fat_tree": ["uplink"] * 2,
        "dragonfly": ["local", "global", "local"],
    }[network["shape"]]
    way = [network["node"]] * 2 + [network[link] for link in links]
    processor = machine["processor"]
    fixed = processor["send"] + processor["recv"] + sum(link["latency"] for link in way)
    per_byte = 0 if model == "logp" else max(1 / link["bandwidth"] for link in way)
    count = 999 if model == "loggp" else 1000  # LogGP: the first byte is in L
    assert seconds(done, "binomial") == pytest.approx([fixed + count * per_byte])
    assert any("from the links and processors" in line for line in done.json["assumed"])


def test_a_platform_for_simulations_may_leave_out_what_is_optional(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "plain.json"
    link = {"bandwidth": 1e9}
    machine = {
        "convene_platform": 1,
        "name": "plain",
        "machine": "node:2,socket:2,core:2",
        "network": {"node": link},
    }
    path.write_text(json.dumps(machine | {"within": {"node": link, "socket": link}}), encoding="utf-8-sig")
    done = convene("predict", "allgather", "--platform", path, "-p", 4, "--nodes", 2, "--json")
    assert done.status == 0, done.err
    assert convene("simulate", "allgather", "--platform", path, "-p", 4).status == 0
    assert [
        one["name"] for one in json.loads(model_platform(path.read_text("utf-8-sig")))["model"]["channels"]
    ] == [
        "socket",
        "node",
        "network",
    ]
