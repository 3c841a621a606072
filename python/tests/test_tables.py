# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the command at 80 and 120 columns: no line is longer, no word is cut, and the essential columns
are there. Those of recordings, wisdom and studies are tested beside these."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from convene.base import console
from convene.base.tables import fold
from convene.bench import metrics, sessions, terminal
from convene.cli import platform_output
from convene.cli.commands import tune
from convene.run import profiles, report
from convene.stats.bootstrap import Estimate
from convene.studies import registry
from convene.tune.judge import Ratio, Verdict
from convene.tune.stages import Case, Tuned
from rich.console import Console
from rich.text import Text

Convene = Any
CheckTables = Callable[..., None]

COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "list": ("list", ("ring",)),
    "list allgather": ("list allgather", ("sparbit",)),
    "show": ("show allgather sparbit -p 8", ("rank", "sends", "receives")),
    "show long": ("show gather linear -p 40", ("rank", "sends", "receives")),
    "show steps": ("show allgather sparbit -p 64 --steps --rank 3", ("step", "round", "does", "after")),
    "predict": (
        "predict allgather --platform metropolis -p 32 --bytes 1:4MiB",
        ("algorithm", "1 B", "1 KiB", "4 MiB", "recursive_doubling"),
    ),
    "winners": (
        "predict allgather --platform metropolis -p 2-32 --nodes 4 --bytes 8:1MiB --winners",
        ("32",),
    ),
    "mappings": (
        "predict allgather --platform metropolis -p 32 --nodes 4 --bytes 1:4MiB --mappings",
        ("algorithm", "mapping", "4 MiB", "cyclic"),
    ),
    "tuned": (
        "predict bcast --platform metropolis -p 8 --bytes 1KiB,16KiB --tune",
        ("bytes", "best", "cost", "16 KiB"),
    ),
    "crossovers": (
        "predict allgather --platform metropolis -p 8 --nodes 2 -a ring,bruck --bytes 1,1MiB --crossovers",
        ("first", "KiB", "ring"),
    ),
    "expressions": ("predict allgather --platform metropolis -p 8 -a ring,bruck --expression", ("ring:",)),
    "compare": ("predict allgather -p 8 --nodes 2 --compare sparbit bruck", ("sparbit",)),
    "sweep": (
        "simulate sweep allreduce --platform tryton -p 48 --algorithms all --sizes 8,64KiB --mapping cyclic",
        ("bytes", "algorithm", "time", "of the best", "64 KiB"),
    ),
    "platforms": ("simulate platforms", ("name", "nodes", "cores", "description", "tryton")),
    "info": ("info", ("processor", "launcher")),
    "verify": ("verify allgather --procs 4-5", ("collective", "algorithm", "P", "verdict")),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_tables_of_commands(convene: Convene, check_tables: CheckTables, name: str) -> None:
    words, essential = COMMANDS[name]

    def show() -> str:
        done = convene(*words.split())
        assert done.status == 0, done
        return cast(str, done.out)

    check_tables(show, *essential)


def record(collective: str, algorithm: str, reason: str, seconds: float) -> dict[str, Any]:
    return {
        "collective": collective,
        "algorithm": algorithm,
        "reason": reason,
        "bytes_per_block": 16000.5,
        "calls": 1234,
        "seconds_total": 1234 * seconds,
        "seconds_min": seconds / 2,
        "seconds_max": seconds * 2,
    }


RECORDS = [
    record("reduce_scatter_block", "recursive_halving", "wisdom", 12.3e-6),
    record("neighbor_allgatherv", "hier(sparbit,linear;leaders=2)", "rule 12 of the file", 1.5),
    record("reduce", "clairvoyant;segments=16;forecast=declared", "forced", 0.25),
    record("allgather", "native", "default", 0.1),
]


def test_the_table_of_a_run(
    tmp_path: Path, check_tables: CheckTables, capfd: pytest.CaptureFixture[str]
) -> None:
    for rank in range(16):
        profile = {
            "rank": rank,
            "procs": 16,
            "stack": "mpich",
            "library_version": "MPICH 5",
            "host": f"node{rank // 4}",
            "communicators": [{"procs": 16, "nodes": 4, "records": RECORDS}],
            "messages": [],
        }
        (tmp_path / f"profile-{100 + rank}-{rank}.json").write_text(json.dumps(profile))
    run = report.Run(["app"], "", "", "mpich", 0, 100.0, profiles.read(tmp_path))

    def show() -> str:
        report.print_summary(run)
        return capfd.readouterr().err

    essential = ("collective", "algorithm", "bytes", "calls", "time, mean rank")
    check_tables(show, *essential, "reduce_scatter_block", "recursive_halving")


TIMES = {"native": 10e-6, "recursive_doubling": 12e-6, "clairvoyant;segments=16;forecast=declared": 8e-3}


def measured_run(procs: int) -> dict[str, Any]:
    random = np.random.default_rng(procs)

    def contender(name: str) -> dict[str, Any]:
        seconds = TIMES[name] * np.exp(random.normal(0, 0.02, 20))
        exits = np.rint(1e9 * seconds)[:, None].repeat(procs, 1).astype(int)
        arrival = np.zeros_like(exits)
        return {
            "name": name,
            "seconds": seconds.tolist(),
            "arrival": arrival.tolist(),
            "exit": exits.tolist(),
        }

    sizes = [
        {
            "bytes": size,
            "arrivals": pattern,
            "calls": 1,
            "load": ["0.1 1 1 1/9 7"] * 2,
            "contenders": [contender(name) for name in TIMES],
        }
        for size in (8, 4096)
        for pattern in ("none", "late:last:500us")
    ]
    environment = {"mpi": "Some MPI 1.0, of today", "cores": 64, "hosts": ["here"]}
    return {
        "procs": procs,
        "environment": environment,
        "options": {"distribution": "regular"},
        "sizes": sizes,
    }


def test_the_table_of_a_benchmark(check_tables: CheckTables, capfd: pytest.CaptureFixture[str]) -> None:
    runs = [measured_run(procs) for procs in (4, 8)]
    references = ["native", "recursive_doubling"]
    result, rows = sessions.finish("allreduce", references, cast(Any, runs), metrics.find_metric("last_exit"))

    def show() -> str:
        terminal.show(result, rows, references)
        return capfd.readouterr().out

    essential = ("ranks", "arrivals", "bytes", "algorithm", "of native", "of recursive_doubling")
    check_tables(show, *essential)


def test_the_table_of_choices(check_tables: CheckTables, capfd: pytest.CaptureFixture[str]) -> None:
    estimate = Estimate(0.511, 0.472, 0.573)
    best = "hier(allgather=recursive_doubling,bcast=binomial;leaders=2)"
    verdict = Verdict(best, {"together": Ratio(estimate, estimate, estimate)})
    tuned = Tuned(Case("reduce_scatter_block", 4, 1, (8, 4096)), {8: [verdict], 4096: []}, [], cast(Any, {}))

    def show() -> str:
        tune.show([tuned])
        return capfd.readouterr().out

    check_tables(show, "collective", "bytes", "choice", "ratio", "best measured", "0.51")


def test_the_table_of_a_platform(check_tables: CheckTables, capfd: pytest.CaptureFixture[str]) -> None:
    intervals = {
        f"channels.memory.{model}.{name}": {"low": 1.2345e-3, "high": 1.3456e-3}
        for model, name in (("hockney", "alpha"), ("loggp", "L"), ("plogp", "latency"))
    }
    channel: dict[str, Any] = {"name": "memory", "logfp": {}, "taulop": {}}
    channel |= {"hockney": {"alpha": 1.3e-3}, "loggp": {"L": 1.3e-3}, "plogp": {"latency": 1.3e-3}}
    platform = {
        "name": "here",
        "description": "measured on a machine with a long name and a processor with a longer one, of 2 cores",
        "model": {"channels": [channel]},
        "measured": {"intervals": intervals, "protocols": {}},
    }

    def show() -> str:
        platform_output.print_platform(cast(Any, platform))
        return capfd.readouterr().out

    check_tables(show, "channel", "model", "parameter", "value", "interval")


@pytest.mark.parametrize("name", registry.MEASURED)
def test_tables_of_measured_studies(
    check_tables: CheckTables, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    study = registry.MEASURED[name]
    heads = [*study.columns]
    judged = {"heads": heads, "table": [[f"{place}0.25 %" for place in range(len(heads))]]}

    def show() -> str:
        console.make().print(study.table(cast(Any, judged)))
        return capfd.readouterr().out

    check_tables(show, *(head for head in heads if "," not in head))


def rendered(width: int, **options: Any) -> str:
    table = console.table("A title", "name", "first", "second", **options)
    table.add_row("some_name", "11.25 µs … 12.5 µs", "one two three four")
    table.add_row("other;with=parts", "-", "five")
    target = Console(width=width, file=io.StringIO(), highlight=False)
    target.print(table)
    return cast(io.StringIO, target.file).getvalue()


def test_the_sentences_of_a_report(
    convene: Convene, check_tables: CheckTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path would not fit
    path = "sweep.json"
    where = ("--platform", "yahoo", "-p", "4,8", "--sizes", "8,1KiB", "-o", path)
    assert convene("simulate", "sweep", "allgather", *where).status == 0

    def show() -> str:
        done = convene("report", path, "-o", "page.html")
        assert done.status == 0, done
        return cast(str, done.out)

    check_tables(show, "report:", "algorithms.")


def test_schedules_from_files(convene: Convene, check_tables: CheckTables, tmp_path: Path) -> None:
    paths = []
    for name in ("ring", "recursive_doubling_two_phase"):
        path = tmp_path / f"a_schedule_of_{name}.json"
        path.write_text(convene("show", "allgather", name, "-p", 4, "--format", "json").out)
        paths += ["--schedule", path]

    def show() -> str:
        done = convene("verify", *paths)
        assert done.status == 0, done
        return cast(str, done.out)

    check_tables(show, "Schedules from files", "verdict")


def test_verdicts_stay_in_one_line(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = convene("verify", "allgather", "--procs", "4-5").out.splitlines()
    assert len(lines) > 10
    assert all(line.endswith("all pass") for line in lines[2:-1])


def test_heads_have_few_lines() -> None:
    table = console.table("A title", "collective", "time, mean rank", "slowest rank")
    table.add_row("allgather", "1", "2")
    target = Console(width=32, file=io.StringIO(), highlight=False)
    target.print(table)
    assert cast(io.StringIO, target.file).getvalue().splitlines()[1:] == [
        "collective  time,      slowest",
        "            mean rank  rank",
        "allgather   1          2",
    ]


def test_sentences_fold_at_spaces(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentence = "report: /a/long/path/of/a/page.html; 3 collective calls of 2 ranks in 689 µs"
    console.say(sentence)
    assert capsys.readouterr().out == sentence + "\n"  # a file gets it as it is
    monkeypatch.setenv("COLUMNS", "40")
    console.say(sentence)
    console.say("12345678901234567890 1234567890123456789 ms", error=True)
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "report: /a/long/path/of/a/page.html; 3",
        "  collective calls of 2 ranks in 689 µs",
    ]
    assert captured.err.splitlines() == ["12345678901234567890", "  1234567890123456789 ms"]


def test_texts_fold_at_words_and_columns_are_left_out() -> None:
    assert rendered(80) == (
        "A title\n"
        "name              first               second\n"
        "some_name         11.25 µs … 12.5 µs  one two three four\n"
        "other;with=parts  -                   five\n"
    )
    assert rendered(44).splitlines()[1:] == [
        "name              first      second",
        "some_name         11.25 µs   one two three",
        "                  … 12.5 µs  four",
        "other;with=parts  -          five",
    ]
    assert rendered(30, optional=("second",)).splitlines()[-1] == "left out at this width: second"
    continued = rendered(24).splitlines()
    assert continued.count("") == 1
    assert sum(line.startswith("name") for line in continued) == 2


def test_long_words_of_a_column_are_shortened() -> None:
    place = "_ZN6solver8exchangeERKSt6vectorIdSaIdEE+0x1f4 (solver.so)"
    table = console.table("Title", "where", "does", shortens=("where",))
    table.add_row(place, "two words")
    narrow, wide = io.StringIO(), io.StringIO()
    Console(file=narrow, width=50).print(table)
    Console(file=wide, width=80).print(table)
    assert place in wide.getvalue()
    lines = narrow.getvalue().splitlines()
    assert any("_ZN6solv…rIdSaIdEE+0x1f4" in line for line in lines)
    assert max(map(len, lines)) <= 50


def test_numbers_and_units_stay_together() -> None:
    lines = [line.plain for line in fold(Text("1,000 bytes in 12.5 µs (10 % more)"), 1)]
    assert lines == ["1,000", "bytes", "in", "12.5 µs", "(10 %", "more)"]
    assert [line.plain for line in fold(Text("a;b=1,2;c"), 1)] == ["a;", "b=1,2;", "c"]
    assert [line.plain for line in fold(Text("/usr/bin/mpirun 40 Gbit/s"), 1)] == [
        *("/", "usr/", "bin/", "mpirun", "40 Gbit/s")
    ]
