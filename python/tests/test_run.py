# SPDX-License-Identifier: BSD-3-Clause
"""convene run, with a launcher and a program that stand in for an MPI's."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from convene import _core
from convene._core import RequestError
from convene.base import paths
from convene.run import environment, report
from convene.run.profiles import Profiles, Row
from convene.run.report import Run

Convene = Any
MakeLauncher = Callable[[str], Any]

OPEN_MPI = "mpirun (Open MPI) 5.0.11"
MPICH = "HYDRA build details:\n    Version:  5.0.2"
INTEL = "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260626"

# Writes the profile that a rank of a real program would write, and ends with a status.
PROGRAM = """#!{python}
import json, os, sys

rank, procs, status = int(os.environ["RANK"]), int(os.environ["PROCS"]), {status}
print("rank", rank)
chosen = os.environ.get("CONVENE_USE", "").partition("=")[2] or "native"
record = {{"collective": "allgather", "algorithm": chosen, "reason": "forced",
          "bytes_per_block": 100.0, "calls": 10, "seconds_total": 0.001 * (rank + 1), "seconds_min": 0.0,
          "seconds_max": 0.001}}
profile = {{"rank": rank, "procs": procs, "stack": "openmpi", "library_version": "A\\nB", "host": "here",
           "communicators": [{{"procs": procs, "nodes": 1, "records": [record]}}],
           "messages": ["rule 1 of r.json is skipped"]}}
path = os.path.join(os.environ["CONVENE_PROFILE_DIR"], f"profile-{{os.getpid()}}-{{rank}}.json")
text = json.dumps(profile)
with open(path, "w") as file:
    file.write(text[:40] if rank in {broken} else text)
sys.exit(status)
"""


@pytest.fixture
def make_program(tmp_path: Path) -> Callable[..., Path]:
    def make(*, status: int = 0, broken: tuple[int, ...] = ()) -> Path:
        path = tmp_path / "app"
        path.write_text(PROGRAM.format(python=sys.executable, status=status, broken=broken))
        path.chmod(0o755)
        return path

    return make


@pytest.mark.usefixtures("libraries")
def test_a_run_is_told(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., Path], tmp_path: Path
) -> None:
    report, page = tmp_path / "r.json", tmp_path / "r.html"
    arguments = ("run", "--use", "allgather=sparbit;send=packed", "--stack", "openmpi")
    command = ("--", make_launcher(OPEN_MPI), "-n", 4, make_program())
    done = convene(*arguments, "--report", report, *command)
    assert done.status == 0
    assert sorted(done.out.split("\n")) == ["", "rank 0", "rank 1", "rank 2", "rank 3"]
    assert "sparbit;send=packed" in done.err
    assert done.err.count("rule 1 of r.json is skipped") == 1
    received = json.loads(report.read_text())
    assert (received["status"], received["ranks"], received["missing_ranks"], received["stack"]) == (
        0,
        4,
        0,
        "openmpi",
    )
    (row,) = received["rows"]
    assert (row["calls"], row["procs"], row["bytes_per_block"]) == (10, 4, 100)
    assert row["seconds_mean"] == pytest.approx(0.0025)
    assert row["seconds_slowest"] == pytest.approx(0.004)
    assert row["seconds_per_call"] == pytest.approx(0.00025)
    assert convene(*arguments, "--report", page, *command).status == 0
    text = page.read_text()
    assert "sparbit;send=packed" in text
    assert "<svg" in text
    assert "http" not in text.replace("http://www.w3.org", "")  # needs nothing from elsewhere


@pytest.mark.usefixtures("libraries")
def test_json_and_native(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., Path]
) -> None:
    program = make_program()
    done = convene("run", "--json", "--stack", "openmpi", "--", make_launcher(OPEN_MPI), "-n", 1, program)
    received = json.loads(done.out.split("\n", 1)[1])
    assert received["rows"][0]["algorithm"] == "native"
    share = 100 * received["rows"][0]["seconds_mean"] / received["seconds"]
    hints = [sentence for sentence in received["messages"] if "convene advise" in sentence]
    assert len(hints) == (share >= 0.5)  # there is nothing to gain in less time
    assert all(f"{report.percent(share / 100)} % of the run's time" in sentence for sentence in hints)


@pytest.mark.parametrize(("share", "text"), [(0.0051, "0.51"), (0.0999, "10"), (0.72, "72"), (0.999, "100")])
def test_percent(share: float, text: str) -> None:
    assert report.percent(share) == text


@pytest.mark.parametrize(("seconds", "hints"), [(0.1, 1), (10.0, 0)])
def test_a_hint_only_where_collectives_take_time(seconds: float, hints: int) -> None:
    row = Row("allgather", "native", "default", 1, 1, calls_of_ranks=1, seconds_by_rank={0: 0.02})
    done = Run(["app"], "", "", "openmpi", 0, seconds, Profiles([row], ranks=1, procs=1))
    assert sum("convene advise" in sentence for sentence in report.remarks(done)) == hints


@pytest.mark.usefixtures("libraries")
def test_the_programs_status_is_ours(
    convene: Convene, make_launcher: MakeLauncher, make_program: Callable[..., Path]
) -> None:
    command = ("--", make_launcher(OPEN_MPI), "-n", 2, make_program(status=7, broken=(1,)))
    done = convene("run", "--stack", "openmpi", *command)
    assert done.status == 7
    assert "1 of 2 ranks have written no profile, or only a part of one" in done.err


@pytest.mark.usefixtures("libraries")
def test_no_profile_at_all(convene: Convene, make_launcher: MakeLauncher) -> None:
    done = convene("run", "--", make_launcher(OPEN_MPI), "-n", 2, "true")
    assert done.status == 0
    assert "no rank wrote a profile: the program made no calls that Convene intercepts" in done.err
    assert "because the program failed" in convene("run", "--", make_launcher(OPEN_MPI), "-n", 2, "false").err


@pytest.mark.usefixtures("libraries")
def test_a_full_disk_is_named_as_the_cause(
    convene: Convene, make_launcher: MakeLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / f"probe-{os.getpid()}").symlink_to("/dev/full")
    monkeypatch.setenv("CONVENE_PROFILE_DIR", str(folder))
    done = convene("run", "--", make_launcher(OPEN_MPI), "-n", 2, "true")
    assert done.status == 0
    assert done.err.splitlines() == [
        f"convene: no rank wrote a profile, because none can be written to {folder}: No space left on device"
    ]
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("libraries")
def test_a_recording_on_a_full_disk(
    convene: Convene, make_launcher: MakeLauncher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of convene trace, which has a folder of its own."""
    command = ("trace", "--", make_launcher(OPEN_MPI), "-n", 2, "true")
    assert "the program made no collective calls" in convene(*command).err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / f"probe-{os.getpid()}").symlink_to("/dev/full")
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda **_: nullcontext(str(tmp_path / "full")))
    done = convene(*command)
    assert done.status == 1
    assert done.err.endswith(
        f"no rank wrote a recording, because none can be written to {tmp_path / 'full'}: No space left on "
        "device\n"
    )


@pytest.mark.usefixtures("libraries")
def test_the_last_line_repeats_why_a_program_was_ended(
    convene: Convene, make_launcher: MakeLauncher, tmp_path: Path
) -> None:
    why = "allgather=recursive_doubling needs a power of two; rules skip such calls (--rules FILE)"
    program = tmp_path / "refused"
    program.write_text(f'#!/bin/sh\necho "{why}" > "$CONVENE_PROFILE_DIR/refusal-$$.txt"\nexit 2\n')
    program.chmod(0o755)
    done = convene("run", "--", make_launcher(OPEN_MPI), "-n", 2, program)
    last = " ".join(done.err.split())
    assert last.endswith(f"no rank wrote a profile, because Convene ended the program: {why}")


@pytest.mark.parametrize(
    ("version", "stack", "options"),
    [(OPEN_MPI, "openmpi", "-x"), (MPICH, "mpich", "-genv"), (INTEL, "abi", "-genv")],
)
def test_the_ranks_get_the_library(
    convene: Convene,
    make_launcher: MakeLauncher,
    libraries: Path,
    tmp_path: Path,
    version: str,
    stack: str,
    options: str,
) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"convene_rules": 1, "rules": []}')
    launcher = make_launcher(version)
    convene(
        "run",
        "--use",
        "allgather=sparbit;send=packed",
        "--rules",
        rules,
        "--log",
        "--transport",
        "fabric:tcp",
        "--",
        launcher,
        "-n",
        1,
        "true",
    )
    received = launcher.received
    assert received["preload"] is None  # the launcher itself runs without
    assert received["variables"]["LD_PRELOAD"] == str(libraries / f"libconvene-preload-{stack}.so")
    assert received["variables"]["CONVENE_USE"] == "allgather=sparbit;send=packed"
    assert received["variables"]["CONVENE_RULES"] == str(rules)
    assert received["variables"]["CONVENE_LOG"] == "info"
    assert received["variables"]["CONVENE_TRANSPORT"] == "fabric:tcp"
    assert received["arguments"][0] == options
    assert received["arguments"][-3:] == ["-n", "1", "true"]
    assert not Path(received["variables"]["CONVENE_PROFILE_DIR"]).exists()  # cleaned up


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("options", "value"),
    [
        ((), "yes"),
        (("--learn",), "yes"),
        (("--no-learn",), "no"),
        (("--observe",), "observe"),
        (("--learn-reductions",), "reductions"),
    ],
)
def test_options_of_learning_override_the_environment(
    convene: Convene,
    make_launcher: MakeLauncher,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    value: str,
) -> None:
    monkeypatch.setenv("CONVENE_LEARN", "no" if value != "no" and options else "yes")
    launcher = make_launcher(MPICH)
    convene("run", *options, "--", launcher, "-n", 1, "true")
    assert launcher.received["variables"]["CONVENE_LEARN"] == value


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(("variable", "value"), [("", "yes"), ("no", "no"), ("observe", "observe")])
def test_it_learns_unless_the_environment_says_otherwise(
    convene: Convene,
    make_launcher: MakeLauncher,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
) -> None:
    monkeypatch.setenv("CONVENE_LEARN", variable)
    launcher = make_launcher(MPICH)
    convene("run", "--", launcher, "-n", 1, "true")
    assert launcher.received["variables"]["CONVENE_LEARN"] == value


@pytest.mark.usefixtures("libraries")
def test_learning_may_begin_a_wisdom_file(
    convene: Convene, make_launcher: MakeLauncher, tmp_path: Path
) -> None:
    path, launcher = tmp_path / "new.json", make_launcher(MPICH)
    convene("run", "--learn", "--wisdom", path, "--", launcher, "-n", 1, "true")
    assert launcher.received["variables"]["CONVENE_WISDOM"] == str(path)
    for options in ("--no-learn",), ():  # not one that was misspelt
        refused = convene("run", *options, "--wisdom", path, "--", launcher, "-n", 1, "true").complaint
        assert f"cannot read --wisdom {path}" in refused
        assert "give --learn to begin a new file" in refused


@pytest.mark.usefixtures("libraries")
def test_every_program_of_several_gets_it(convene: Convene, make_launcher: MakeLauncher) -> None:
    launcher = make_launcher(OPEN_MPI)
    convene("run", "--", launcher, "-n", 1, "true", ":", "-n", 1, "true")
    first, second = " ".join(launcher.received["arguments"]).split(" : ")
    assert "-x LD_PRELOAD=" in first
    assert "-x LD_PRELOAD=" in second


@pytest.mark.usefixtures("libraries")
def test_what_the_user_has_set_stays(
    convene: Convene, make_launcher: MakeLauncher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONVENE_PROFILE_DIR", str(tmp_path))
    monkeypatch.setenv("CONVENE_EXECUTE", "dynamic")
    monkeypatch.setenv("CONVENE_USE", "allgather=recursive-doubling")
    launcher = make_launcher(MPICH)
    convene("run", "--", launcher, "-n", 1, "true")
    assert launcher.received["variables"]["CONVENE_PROFILE_DIR"] == str(tmp_path)
    assert launcher.received["variables"]["CONVENE_EXECUTE"] == "dynamic"
    assert launcher.received["variables"]["CONVENE_USE"] == "allgather=recursive_doubling"
    assert tmp_path.is_dir()


@pytest.mark.usefixtures("libraries")
def test_the_former_name_of_the_profile_directory(
    convene: Convene, make_launcher: MakeLauncher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONVENE_ACCOUNT_DIR", str(tmp_path))
    launcher = make_launcher(MPICH)
    done = convene("run", "--", launcher, "-n", 1, "true")
    assert done.err.count("CONVENE_ACCOUNT_DIR is now CONVENE_PROFILE_DIR") == 1
    assert launcher.received["variables"]["CONVENE_PROFILE_DIR"] == str(tmp_path)
    assert "CONVENE_ACCOUNT_DIR" not in launcher.received["variables"]


def process_of(*arguments: str, **environment: str) -> "subprocess.Popen[str]":
    package = str(Path(_core.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, "-m", "convene", "run", *arguments],
        env={**os.environ, "PYTHONPATH": package, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_signals(tmp_path: Path, number: signal.Signals, status: int) -> None:
    if paths.find("libconvene-preload-openmpi.so", paths.LIBRARIES) is None:
        pytest.skip("libconvene-preload-openmpi.so is not built")
    started = tmp_path / "started"
    program = tmp_path / "app"
    program.write_text(f"#!/bin/sh\ntouch {started}\nexec sleep 600\n")
    program.chmod(0o755)
    process = process_of("--stack", "openmpi", "--", str(program))
    end = time.monotonic() + 120
    while not started.exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert started.exists()
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: the program receives the signal, too
    else:
        process.send_signal(number)
    _, error = process.communicate(timeout=120)
    assert process.returncode == status
    assert "Traceback" not in error


def test_a_real_program(convene: Convene, tmp_path: Path) -> None:
    """mpi4py under the Open MPI of the distribution."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    launcher = next((name for name in ("mpirun.openmpi",) if os.access(f"/usr/bin/{name}", os.X_OK)), None)
    if launcher is None:
        pytest.skip("the distribution's Open MPI is not installed")
    if paths.find("libconvene-preload-openmpi.so", paths.LIBRARIES) is None:
        pytest.skip("libconvene-preload-openmpi.so is not built")
    program, report = tmp_path / "app.py", tmp_path / "report.json"
    program.write_text("from mpi4py import MPI\nprint(MPI.COMM_WORLD.allgather(MPI.COMM_WORLD.rank))\n")
    options = ("--allow-run-as-root", "--oversubscribe", "-n", 3)
    done = convene(
        "run",
        "--use",
        "allgather=sparbit",
        "--report",
        report,
        "--",
        launcher,
        *options,
        sys.executable,
        program,
    )
    assert done.status == 0, done.err
    assert done.out.count("[0, 1, 2]") == 3  # lines of several ranks may run together
    received = json.loads(report.read_text())
    assert (received["ranks"], received["missing_ranks"]) == (3, 0)
    assert {
        (row["algorithm"], row["reason"]) for row in received["rows"] if row["collective"] == "allgather"
    } == {("sparbit", "forced")}


def test_optional_rules_and_wisdom_may_be_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hyphen before the path. What is there must be sound."""
    path = tmp_path / "rules.json"
    monkeypatch.setenv("CONVENE_RULES", f"-{path}")
    assert environment.check_rules(None) == ""
    assert environment.check_wisdom(f"-{path}") == f"-{path}"
    path.write_text('{"convene_rules": 1, "rules": []}')
    assert environment.check_rules(None) == str(path)
    path.write_text("{")
    with pytest.raises(RequestError, match=r"rules\.json"):
        environment.check_rules(None)
    with pytest.raises(RequestError, match=r"rules\.json"):
        environment.check_wisdom(f"-{path}")
