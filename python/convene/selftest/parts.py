# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the kit: schedules, results, guard, tuning and studies, each scaled to a minute or two."""

import json
import tempfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from convene import _core
from convene.base import paths
from convene.base.result_types import Json, MeasuredRun
from convene.base.text import bytes_text, seconds_text
from convene.bench import metrics, program, sessions
from convene.bench.requests import Request
from convene.catalogue import collectives
from convene.catalogue.selection import INTERCEPTED, NATIVE, choose_algorithms
from convene.mpi import launchers
from convene.mpi.processes import RunError
from convene.run import profiles, returns
from convene.selftest.kit import SMALL_RANKS, Found, Launched, Part
from convene.studies import registry
from convene.tune import candidates, stages, wisdom_files
from convene.tune.kept import Kept
from convene.verify import checks, grid

SIZES = (8, 24, 8192, 262144)  # bytes of a block
QUICK_SIZES = (8, 8192)
MOST_MEMORY = 1 << 28  # bytes of a rank's buffers
TUNED = ("allgather", "allreduce")
TUNED_SIZES = (64, 4096, 65536)
STUDIES = ("sparbit", "mini-benchmark")
GUARDED_BYTES = 64
GUARDED_CALLS = 40_000  # choices become slow after 16,384
SLOWNESS = 200e-6  # seconds that a slow choice adds, in calls that are measured
GUARDED_BATCHES = (0.1, 0.4)  # seconds of one observation
SLOW_CHOICES = {"CONVENE_LEARN": "yes", "CONVENE_LEARN_BUDGET": "100", "CONVENE_CHECK": "slow_choices"}


def type_of(collective: str) -> str:
    return "double" if collective in collectives.REDUCTIONS else "byte"


# -------------------------------------------------------------------------------------------------- schedules


def schedules(launched: Launched) -> Found:
    """Simulates the schedules of all algorithms symbolically, without MPI."""
    procs = min(launched.procs, SMALL_RANKS)
    cases = grid.make_cases(list(_core.collectives()), None, grid.Grid([procs]))
    done = list(checks.check_all(cases))
    failures = [each.sentence for each in done if not each.verdict["ok"]]
    text = f"{len(done)} cases of {procs} ranks: all deliver, none deadlocks"
    return Found([] if failures else [text], failures, {"cases": len(done), "procs": procs})


# ---------------------------------------------------------------------------------------------------- results


def results(launched: Launched) -> Found:
    """Runs every algorithm that fits on the launched ranks, and checks what arrives."""
    found, checked = Found(), dict[str, list[str]]()
    names = list(_core.collectives())
    for at, collective in enumerate(names):
        if launched.left <= 0:
            found.failures += [f"the budget ended before {', '.join(names[at:])}"]
            break
        request = checked_request(collective, launched)
        try:
            program.measure(launched.setting, request)
        except RunError as error:
            found.failures.append(f"{collective}: {error}")
        else:
            checked[collective] = request.contenders
    number = sum(len(each) for each in checked.values())
    found.sentences.append(f"{number} algorithms of {len(checked)} collectives deliver correct data")
    found.data["algorithms"] = checked
    return found


def checked_request(collective: str, launched: Launched) -> Request:
    sizes = [
        size
        for size in (QUICK_SIZES if launched.quick else SIZES)
        if 2 * size * launched.procs <= MOST_MEMORY
    ]
    return Request(
        collective,
        launched.procs,
        [0] if collective in collectives.WITHOUT_SIZES else sizes,
        [NATIVE, *choose_algorithms(collective, launched.procs, "all")],
        repetitions=3,
        least=3,
        batch=1e-6,
        check="every",
        type=type_of(collective),
    )


# ------------------------------------------------------------------------------------------------------ guard


def guard(launched: Launched) -> Found:
    """A choice by wisdom becomes slow while the program runs. The guard must return to native."""
    plain = Request("allgather", launched.procs, [GUARDED_BYTES], [NATIVE], repetitions=3, least=3)
    run = program.measure(launched.setting, plain)
    native = float(np.median(stages.times_of(run)[GUARDED_BYTES][NATIVE]))
    if native > SLOWNESS / 2:
        return Found(skipped=f"a native call takes {seconds_text(native)}: slower ones would not stand out")
    place = launchers.common_place(launched.setting.launcher.path.name)
    calls: dict[str, float] = {}
    for batch in GUARDED_BATCHES:
        with tempfile.TemporaryDirectory(prefix=".convene-", dir=place) as folder:
            wisdom = Path(folder) / "wisdom.json"
            write_wisdom(wisdom, launched.procs, run)
            calls = guarded_calls(launched, wisdom, batch)
        if sum(calls.values()) >= GUARDED_CALLS or not has_reason(calls, "wisdom: "):
            break
    return judge_guard(calls)


def has_reason(calls: dict[str, float], start: str) -> bool:
    return any(reason.startswith(start) for reason in calls)


def judge_guard(calls: dict[str, float]) -> Found:
    """`calls`: by reason."""
    text = ", ".join(f"{reason} ({number:.0f} calls)" for reason, number in calls.items()) or "no call"
    found = Found(data={"calls": calls})
    if not has_reason(calls, "wisdom: "):
        found.failures.append(f"wisdom did not decide: {text}")
    elif has_reason(calls, "guard: "):
        found.sentences.append(text)
    elif sum(calls.values()) < GUARDED_CALLS:
        found.skipped = f"the machine is too busy or too slow for {GUARDED_CALLS} calls: {text}"
    else:
        found.failures.append(f"the guard did not return to native: {text}")
    return found


def write_wisdom(path: Path, procs: int, run: MeasuredRun) -> None:
    """One entry for this place, which has not been measured: the first algorithm that fits."""
    spec = candidates.candidates("allgather", procs, 1)[0]
    entry = stages.layout_of(stages.Case("allgather", procs, 1, (GUARDED_BYTES,)), run)
    entry |= {
        "bytes": [GUARDED_BYTES, GUARDED_BYTES],
        "use": spec,
        "ratio": 0.5,
        "upper": 0.6,
        "measured": datetime.now(UTC).strftime("%Y-%m-%d"),
    }
    path.touch(mode=0o600)
    path.write_text(wisdom_files.text_of([entry]), encoding="utf-8")


def guarded_calls(launched: Launched, wisdom: Path, batch: float) -> dict[str, float]:
    """Intercepted calls by reason, in a run with the drop-in library."""
    request = Request(
        "allgather", launched.procs, [GUARDED_BYTES], [INTERCEPTED], repetitions=20, batch=batch
    )
    directory = wisdom.parent
    variables = {
        **SLOW_CHOICES,
        "CONVENE_WISDOM": str(wisdom),
        "CONVENE_PROFILE_DIR": str(directory),
    }
    with returns.returning(directory, None, variables) as returned:
        setting = replace(
            launched.setting,
            preload=paths.preload_library(launched.setting.stack),
            variables={**launched.setting.variables, **variables, **returned},
        )
        program.measure(setting, request)
    calls: dict[str, float] = {}
    for row in profiles.read(directory).rows:
        if row.collective == "allgather" and row.bytes_per_block == GUARDED_BYTES:
            calls[row.reason] = calls.get(row.reason, 0.0) + row.calls
    return calls


# --------------------------------------------------------------------------------------------------- tuning


def tuning(launched: Launched) -> Found:
    """A short tuning, which keeps nothing."""
    found, choices = Found(), list[Json]()
    for collective in TUNED:
        if launched.left <= 0:
            found.sentences.append(f"the budget ended before {collective}")
            break
        case = stages.Case(collective, launched.procs, 1, TUNED_SIZES, repetitions=20, seconds=0.3)
        with tempfile.TemporaryDirectory(prefix="convene-") as folder:
            kept = Kept(Path(folder))
            nodes = stages.nodes_of(launched.setting, case, kept)
            specs = candidates.candidates(collective, launched.procs, nodes)
            tuned = stages.tune(launched.setting, replace(case, nodes=nodes), specs, lambda part: None, kept)
        chosen = {choice.size: choice.verdict for choice in tuned.choices}
        for size in TUNED_SIZES:
            verdict = chosen.get(size)
            text = f"{verdict.spec}, {verdict.ratio:.2f} of native" if verdict else "native"
            found.sentences.append(f"{collective}, {bytes_text(size)}: {text}")
            choices.append(
                {
                    "collective": collective,
                    "bytes": size,
                    "choice": verdict.spec if verdict else NATIVE,
                    "ratio": verdict.ratio if verdict else None,
                }
            )
    found.data["choices"] = choices
    return found


# -------------------------------------------------------------------------------------------------- studies


def studies(launched: Launched) -> Found:
    """Two experiments of publications at two sizes, on the largest power of two of the ranks."""
    procs = 1 << (launched.procs.bit_length() - 1)
    if procs < 4:
        return Found(skipped="the studies need at least 4 ranks")
    found, judgements = Found(), list[dict[str, Any]]()
    for name in STUDIES:
        if launched.left <= 0:
            found.sentences.append(f"the budget ended before {name}")
            break
        judged = study(registry.MEASURED[name], launched, procs)
        found.sentences += [f"{name}: {sentence}" for sentence in judged["sentences"]]
        judgements.append(judged)
    found.data["studies"] = judgements
    return found


def study(chosen: Any, launched: Launched, procs: int) -> dict[str, Any]:
    measured = {}
    for part in chosen.parts(full=False):
        template = Request(part.collective, procs, [], [], repetitions=10, least=5, seconds=2.0)
        runs = [
            program.measure(launched.setting, shortened(request))
            for request in part.requests(procs, template)
        ]
        metric = metrics.find_metric(part.metric)
        measured[part.collective], _ = sessions.finish(part.collective, [], runs, metric)
    judged: dict[str, Any] = json.loads(json.dumps(chosen.judge(measured)))
    return judged


def shortened(request: Request) -> Request:
    """The smallest and the largest size, without and with the first pattern of late ranks."""
    return replace(
        request,
        sizes=sorted({min(request.sizes), max(request.sizes)}),
        arrivals=request.arrivals[:2],
    )


PARTS = [
    Part("schedules", schedules),
    Part("results", results),
    Part("guard", guard),
    Part("tuning", tuning, is_quick=False),
    Part("studies", studies, is_quick=False),
]
