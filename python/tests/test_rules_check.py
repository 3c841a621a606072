# SPDX-License-Identifier: BSD-3-Clause
"""convene rules check: each trap of each format, and files without one."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Convene
from .rule_findings import checked

# Three ranks, 3072 to 49151 bytes: Open MPI 5's sparbit.
CLASSIC = """1        # collectives that follow
0        # allgather
3
0        # ranks: from 0
1
0     0 0 0            # bytes  algorithm  fan-in/out  segment
3
3
0     0 0 0
3072  7 0 0
49152 0 0 0
4
1
0     0 0 0
"""


def table(collective: int, *sections: tuple[int, str]) -> str:
    """A classic file of one collective."""
    lines = ["1", str(collective), str(len(sections))]
    for ranks, rules in sections:
        lines += [str(ranks), str(rules.count("\n") + 1), rules]
    return "\n".join(lines) + "\n"


NATIVE = "0 0 0 0"
LIMITS = (0, NATIVE), (5, NATIVE)
CLASSIC_TRAPS = {
    "first size": (
        table(0, (0, NATIVE), (4, "1024 4 0 0"), (5, NATIVE)),
        9,
        "dropped: the first rule of a section must be for size 0, and this one is for 1024; Open MPI then",
    ),
    "cut": (CLASSIC[:-8], 14, "dropped: the file ends where the algorithm of a rule should follow"),
    "no such collective": (table(40, (0, NATIVE)), 2, "dropped: collective 40 does not exist"),
    "negative": (table(0, (0, "0 -1 0 0")), 6, "dropped: the algorithm of a rule is -1, which is negative"),
    "too many collectives": ("30\n0\n", 1, "dropped: there are not 30 collectives"),
    "fewer announced": (
        CLASSIC + "7\n1\n0\n1\n0 3 0 0\n",
        15,
        "dropped: the announced collectives end before",
    ),
    "three numbers": (
        table(7, (0, "0 0 0\n1024 3 0 0")).replace("\n2\n", "\n1\n"),
        6,
        "dropped: this rule has fewer than four numbers",
    ),
    "suffix": (table(0, (0, NATIVE + "\n4KiB 4 0 0")), 7, "unit: '4KiB' is read as 4"),
    "octal": (table(0, (0, NATIVE + "\n010 4 0 0")), 7, "unit: '010' is read as 8"),
    "second table": (
        "2\n" + CLASSIC.partition("\n")[2] * 2,
        2,
        "dropped: a second table of allgather in line 15 replaces this",
    ),
    "no choice": (table(5, (0, NATIVE)), 2, "dropped: tuned has no choice of algorithms for alltoallw"),
    "first section": (
        table(0, (4, "0 4 0 0"), (5, NATIVE)),
        4,
        "reach: the first section, for 4 ranks, also serves all smaller communicators",
    ),
    "last section": (
        table(0, (0, NATIVE), (4, "0 4 0 0")),
        7,
        "reach: the last section of allgather, for 4 ranks, also serves all larger communicators",
    ),
    "sections out of order": (
        table(0, (0, NATIVE), (8, "0 4 0 0"), (4, "0 2 0 0"), (9, NATIVE)),
        7,
        "unreachable: no communicator uses the section for 8 ranks",
    ),
    "sizes out of order": (
        table(0, (0, NATIVE), (4, "0 0 0 0\n4096 4 0 0\n1024 2 0 0"), (5, NATIVE)),
        11,
        "reach: this rule applies from 4096 bytes on, not from 1024",
    ),
    "size twice": (
        table(0, (0, "0 0 0 0\n64 4 0 0\n64 2 0 0")),
        7,
        "unreachable: no size reaches this rule of allgather",
    ),
    "unknown algorithm": (
        table(0, (0, NATIVE), (4, "0 9 0 0"), (5, NATIVE)),
        9,
        "fails: Open MPI 5.0 has no algorithm 9 of allgather",
    ),
    "two processes": (
        table(0, (0, NATIVE), (3, "0 6 0 0"), (4, NATIVE)),
        9,
        "fails: allgather algorithm 6 (two_proc) fails unless there are exactly 2 ranks; this section",
    ),
    "size of a barrier": (
        table(6, (0, "0 0 0 0\n8 3 0 0")),
        7,
        "unreachable: the size of every barrier is 0",
    ),
    "size of a scan": (
        table(14, (0, NATIVE), (4, "0 0 0 0\n65536 2 0 0"), (5, NATIVE)),
        10,
        "unit: the size of scan is that of the datatype * ranks; the count is ignored",
    ),
}


@pytest.mark.parametrize("name", CLASSIC_TRAPS)
def test_traps_of_classic_tuned_rules(convene: Convene, tmp_path: Path, name: str) -> None:
    text, line, sentence = CLASSIC_TRAPS[name]
    _, findings, _ = checked(convene, tmp_path, text, "--for", "openmpi-5")
    assert any(found.startswith(f"{line}: {sentence}") for found in findings), findings


def test_classic_rules_without_a_trap(convene: Convene, tmp_path: Path) -> None:
    status, findings, output = checked(convene, tmp_path, CLASSIC, "--for", "openmpi-5")
    assert (status, findings) == (0, [])
    assert "note: sizes of allgather: datatype * count * ranks" in output


def test_numbers_differ_between_versions(convene: Convene, tmp_path: Path) -> None:
    _, findings, _ = checked(convene, tmp_path, CLASSIC)
    assert len(findings) == 1
    assert findings[0].startswith("10: fails: Open MPI 4.1: Open MPI 4.1 has no algorithm 7 of allgather")


def test_version_line_is_read_from_5_on(convene: Convene, tmp_path: Path) -> None:
    text = "rule-file-version-2\n" + table(3, (0, "0 4 0 0 8\n64 2 0 0"))
    _, findings, output = checked(convene, tmp_path, text, "--for", "openmpi-5")
    assert findings == []
    assert "from Open MPI 5.0.7 on" in output
    _, findings, _ = checked(convene, tmp_path, text, "--for", "openmpi-4")
    assert findings[0].startswith("1: dropped: this version of Open MPI does not know the line")


def test_open_mpi_6_shifts_classic_sections(convene: Convene, tmp_path: Path) -> None:
    _, findings, _ = checked(convene, tmp_path, CLASSIC, "--for", "openmpi-6")
    assert findings[0].startswith("1: reach: Open MPI 6 converts this format")


SIX = {
    "rule_file_version": 3,
    "module": "tuned",
    "collectives": {
        "allgather": [
            {
                "comm_size_min": 3,
                "comm_size_max": 3,
                "comm_rank_distribution": "any",
                "rules": [{"msg_size_min": 3072, "msg_size_max": 49151, "alg": "sparbit"}],
            }
        ]
    },
}


def six(rule: dict[str, Any] | None = None, section: dict[str, Any] | None = None, **root: Any) -> str:
    """The example with changed fields; None removes one."""
    made = json.loads(json.dumps(SIX))
    where = made["collectives"]["allgather"][0]
    where["rules"][0].update(rule or {})
    where.update(section or {})
    made.update(root)
    return json.dumps(made)


def without_alg() -> str:
    made = json.loads(json.dumps(SIX))
    del made["collectives"]["allgather"][0]["rules"][0]["alg"]
    return json.dumps(made)


ALWAYS = {"rules": [{"alg": "ring"}]}
SIX_TRAPS = {
    "segsize": (
        six({"segsize": 4096}),
        "unknown: Open MPI 6 ignores the field 'segsize' of a rule; it reads seg_size",
    ),
    "algorithm": (six({"alg": "sparbitt"}), "unknown: 'sparbitt' is no algorithm of allgather"),
    "no algorithm": (
        without_alg(),
        "dropped: this rule has no 'alg'; Open MPI 6 then ignores the whole file",
    ),
    "collective": (
        six(collectives={"reduce_scatter": []}),
        "dropped: 'reduce_scatter' is no collective; write reducescatter",
    ),
    "text": (six({"msg_size_max": "64KiB"}), "dropped: 'msg_size_max' must be a whole number"),
    "distribution": (
        six(section={"comm_rank_distribution": "some"}),
        "unknown: 'some' is no comm_rank_distribution",
    ),
    "shadowed section": (
        six(collectives={"allgather": [ALWAYS, ALWAYS]}),
        "unreachable: no communicator reaches these rules",
    ),
    "shadowed rule": (
        six(section={"rules": [{"alg": "ring"}, {"msg_size_min": 8, "alg": "bruck"}]}),
        "unreachable: no size reaches this rule",
    ),
    "empty": (six({"msg_size_min": 1 << 20}), "unreachable: no size is from 1048576 to 49151 bytes"),
    "two processes": (six({"alg": "two_proc"}), "fails: two_proc of allgather fails unless"),
    "barrier": (
        six(collectives={"barrier": [{"rules": [{"msg_size_min": 8, "alg": "tree"}]}]}),
        "unreachable: the size of every barrier is 0",
    ),
}


@pytest.mark.parametrize("name", SIX_TRAPS)
def test_traps_of_open_mpi_6(convene: Convene, tmp_path: Path, name: str) -> None:
    text, sentence = SIX_TRAPS[name]
    _, findings, _ = checked(convene, tmp_path, text)
    assert any(found.startswith(f"1: {sentence}") for found in findings), findings


def test_open_mpi_6_without_a_trap(convene: Convene, tmp_path: Path) -> None:
    assert checked(convene, tmp_path, json.dumps(SIX))[:2] == (0, [])
    _, findings, _ = checked(convene, tmp_path, json.dumps(SIX), "--for", "openmpi-5")
    assert findings[0].startswith("1: dropped: Open MPI 5.0 does not read JSON")


HAN = "1\nallgather\n1\n2\n2\n1\n1\n0 tuned\n8\n2\n0 tuned\n65536 han\n"
HAN_TRAPS = {
    "level": (HAN.replace("1\n2\n2\n", "1\n3\n2\n", 1), 4, "dropped: topological level 3 does not exist"),
    "component": (HAN.replace("0 tuned\n8", "0 tunde\n8"), 8, "dropped: 'tunde' is no component of han"),
    "first size": (HAN.replace("0 tuned\n8", "64 tuned\n8"), 8, "dropped: the first message size must be 0"),
    "first configuration": (
        HAN.replace("2\n1\n1\n0 tuned", "2\n4\n1\n0 tuned", 1),
        6,
        "dropped: the first configuration size must be 1, not 4",
    ),
    "cut": (HAN[:-4], 12, "dropped: the file ends where the name of a component should follow"),
    "collective": (HAN.replace("allgather", "allgahter"), 2, "dropped: 'allgahter' is no collective"),
    "not in han": (HAN.replace("allgather", "exscan"), 2, "dropped: han has no exscan"),
    "han below": (
        HAN.replace("1\n2\n2\n", "1\n0\n2\n", 1),
        12,
        "dropped: han can serve the global level (2) only",
    ),
    "none": (HAN, 0, ""),
    "sizes": (HAN.replace("65536", "0"), 12, "unreachable: message sizes of allgather must rise"),
    "configurations": (HAN.replace("\n8\n", "\n1\n"), 9, "unreachable: configuration sizes must rise"),
    "rest": (HAN + "bcast\n", 13, "dropped: the announced collectives end before this line"),
}


@pytest.mark.parametrize("name", HAN_TRAPS)
def test_traps_of_han(convene: Convene, tmp_path: Path, name: str) -> None:
    text, line, sentence = HAN_TRAPS[name]
    _, findings, _ = checked(convene, tmp_path, text)
    if not sentence:
        assert findings == []
    else:
        assert any(found.startswith(f"{line}: {sentence}") for found in findings), findings


def test_own_rules(convene: Convene, tmp_path: Path) -> None:
    rules = [
        {"collective": "allgather", "bytes": {"max": "2KiB"}, "use": "ring"},
        {"collective": "allgather", "procs": 8, "bytes": ["8", "1KiB"], "use": "bruck"},
        {"collective": "allgather", "use": "recursive_doubling"},
        {"collective": "allgather", "bytes": 4096, "use": "ring"},
    ]
    text = json.dumps({"convene_rules": 1, "rules": rules}, indent=0)
    _, findings, _ = checked(convene, tmp_path, text)
    assert len(findings) == 1  # rule 3 may be skipped, so rule 4 is reachable
    assert "unreachable: no call reaches rule 2: rule 1 (line 4) fits all its calls" in findings[0]
    (tmp_path / "bad").write_text(text.replace("ring", "rign"))
    assert "there is no allgather algorithm" in convene("rules", "check", tmp_path / "bad").complaint


@pytest.mark.parametrize("text", ["", "hello\n", "{}", "[1]", "ring 3 4", "\x00\x01", "{"])
def test_other_files(convene: Convene, tmp_path: Path, text: str) -> None:
    path = tmp_path / "other"
    path.write_text(text)
    assert str(path) in convene("rules", "check", path).complaint


def test_a_format_must_fit_the_mpi(convene: Convene, tmp_path: Path) -> None:
    path = tmp_path / "rules"
    path.write_text(CLASSIC)
    assert "which is not for mpich" in convene("rules", "check", path, "--for", "mpich").complaint
    assert "openmpi-4" in convene("rules", "check", path, "--for", "openmpi-3").complaint
    assert "cannot be read" in convene("rules", "check", tmp_path / "none").complaint
