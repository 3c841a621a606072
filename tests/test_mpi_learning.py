# SPDX-License-Identifier: BSD-3-Clause
"""Learning in the running program: right results while algorithms change, and what is decided."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from convene.tune import wisdom_files

from tests.conformance.stacks import Done, Stack, all_stacks
from tests.conftest import ROOT

OTHERS = [name for name in all_stacks() if name not in ("openmpi4", "mpich5")]
STACKS = ["openmpi4", *(pytest.param(name, marks=pytest.mark.all) for name in OTHERS)]

# Trials may take all of the time: tests are short.
LEARNING = {"CONVENE_LEARN": "yes", "CONVENE_LEARN_BUDGET": "100"}


def stack_of(name: str) -> Stack:
    stack = all_stacks()[name]
    if not stack.is_here():
        pytest.skip(f"the MPI stack {name} is not installed here")
    return stack


def run(stack: Stack, calls: int, *words: str, procs: int = 2, **variables: str) -> Done:
    program: list[str | Path] = [stack.program("learning"), str(calls), *words]
    done = stack.run(procs, program, {**LEARNING, **variables}, timeout=240)
    assert not done.problem(), done.problem()
    return done


def reasons(done: Done, collective: str) -> set[str]:
    return {record["reason"] for record in done.records() if record["collective"] == collective}


def nodes(done: Done, procs: int) -> set[int]:
    """Of the communicators with that number of ranks; 0: not determined."""
    return {
        each["nodes"]
        for profile in done.profiles
        for each in profile["communicators"]
        if each["procs"] == procs
    }


def calls(done: Done, collective: str, reason: str) -> int:
    return sum(
        record["calls"]
        for record in done.records()
        if record["collective"] == collective and record["reason"].startswith(reason)
    )


@pytest.mark.parametrize("name", STACKS)
def test_results_are_right_while_algorithms_are_tried(name: str) -> None:
    done = run(stack_of(name), 600)
    for collective in ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter"):
        assert calls(done, collective, "trial") > 0, collective


@pytest.mark.parametrize("name", STACKS)
def test_all_ranks_agree(name: str) -> None:
    run(stack_of(name), 300, "late", CONVENE_CHECK="agreement")


def test_more_ranks_than_cores() -> None:
    run(stack_of("openmpi4"), 300, procs=4)


@pytest.fixture
def slow_allgather(tmp_path: Path) -> Path:
    library = tmp_path / "libslow_allgather.so"
    stack = stack_of("openmpi4")
    stack.compile(ROOT / "tests/mpi/libraries/slow_allgather.c", library, "-shared", "-fPIC")
    return library


def run_slow(library: Path, calls: int, *words: str, procs: int = 2, **variables: str) -> Done:
    """With a native allgather that takes a millisecond."""
    stack = stack_of("openmpi4")
    program: list[str | Path] = [stack.program("learning"), str(calls), *(words or ["only"])]
    both = Path(f"{stack.preload}:{library}")
    done = stack.run(
        procs, program, {**LEARNING, "SLOW_ALLGATHER": "1000", **variables}, preload=both, timeout=240
    )
    assert not done.problem(), done.problem()
    return done


def run_until(
    is_seen: Callable[[Done], bool], library: Path, calls: int, *words: str, procs: int = 2, **variables: str
) -> Done:
    """On a busy machine a call may take so long that a millisecond decides nothing: native is slower in two
    further runs."""
    for slow in ("1000", "5000", "20000"):
        done = run_slow(library, calls, *words, procs=procs, SLOW_ALLGATHER=slow, **variables)
        if is_seen(done):
            break
    return done


def has_learned(done: Done) -> bool:
    return calls(done, "allgather", "learned") > 0


def test_what_is_faster_is_kept(slow_allgather: Path) -> None:
    def is_seen(done: Done) -> bool:
        return calls(done, "allgather", "learned") > 2 * 500

    done = run_until(is_seen, slow_allgather, 2000)
    learned = {reason for reason in reasons(done, "allgather") if reason.startswith("learned: ")}
    assert len(learned) == 1, "all ranks decide the same"
    assert learned.pop().endswith(" calls")
    assert is_seen(done)


def test_the_default_budget_suffices(slow_allgather: Path) -> None:
    """Set-up takes some milliseconds: half a percent of one or two seconds. On a busy machine, exchanges take
    longer, too: the program ends when native has run in few of 1,024 calls."""

    def tried(budget: str) -> float:
        """Share of trials among the calls before the verdict."""
        done = run_slow(slow_allgather, 400_000, "until", CONVENE_LEARN_BUDGET=budget, SLOW_ALLGATHER="200")
        assert calls(done, "allgather", "learned") > 0
        found = calls(done, "allgather", "trial")
        return found / (found + calls(done, "allgather", "default"))

    assert 0 < tried("0.5") < tried("100") / 2


def test_the_next_run_knows(slow_allgather: Path, tmp_path: Path) -> None:
    path = tmp_path / "made" / "wisdom.json"

    def is_seen(_: Done) -> bool:
        if path.exists() and wisdom_files.read(path)[0]["upper"] < 0.5:
            return True
        path.unlink(missing_ok=True)
        return False

    run_until(is_seen, slow_allgather, 2000, CONVENE_WISDOM=str(path))
    (entry,) = wisdom_files.read(path)
    assert (entry["collective"], entry["procs"], entry["bytes"]) == ("allgather", 2, [8, 8])
    assert entry["ratio"] <= entry["upper"] < 0.5
    evidence = entry["evidence"]
    assert isinstance(evidence, dict)
    assert evidence["how"] == "learned"
    done = run_slow(slow_allgather, 100, CONVENE_WISDOM=str(path), CONVENE_LEARN="no")
    assert reasons(done, "allgather") == {f"wisdom: {entry['ratio']:.2f} of native, {entry['measured']}"}
    assert done.algorithms("allgather") == {entry["use"]}


def test_a_communicator_agrees_on_its_machine_by_itself(slow_allgather: Path, tmp_path: Path) -> None:
    """Whether ranks share cores depends on those of MPI_COMM_WORLD, of which the launcher knows."""
    path = tmp_path / "wisdom.json"
    done = run_until(has_learned, slow_allgather, 3000, "pairs", procs=4, CONVENE_WISDOM=str(path))
    assert has_learned(done)
    assert nodes(done, 2) == {1}
    assert nodes(done, 4) == {0}, "nothing is agreed on where nothing is learned"
    (entry,) = wisdom_files.read(path)
    assert (entry["procs"], entry["nodes"], entry["ranks_per_node"]) == (2, 1, 2)
    cores = entry["cores"]
    assert isinstance(cores, int)
    assert entry["shares_cores"] == (cores < 4)
    done = run_slow(slow_allgather, 100, "pairs", procs=4, CONVENE_WISDOM=str(path), CONVENE_LEARN="no")
    assert all(reason.startswith("wisdom: ") for reason in reasons(done, "allgather"))


def test_what_is_learned_is_not_kept_where_the_machine_is_unknown(
    slow_allgather: Path, tmp_path: Path
) -> None:
    path = tmp_path / "wisdom.json"
    words = ("pairs", "unlaunched")
    done = run_until(has_learned, slow_allgather, 3000, *words, procs=4, CONVENE_WISDOM=str(path))
    assert has_learned(done)
    assert not path.exists()


@pytest.mark.parametrize("name", STACKS)
def test_programs_that_learn_nothing_agree_on_nothing(name: str, tmp_path: Path) -> None:
    """Neither in MPI_Init nor in calls that are only counted: as many collectives of Convene's as without
    learning."""
    stack, library = stack_of(name), tmp_path / "libcount_internal.so"
    stack.compile(ROOT / "tests/mpi/libraries/count_internal.c", library, "-shared", "-fPIC")
    found = []
    for learn in ("no", "yes"):
        variables = {"CONVENE_LEARN": learn, "CONVENE_WISDOM": f"-{tmp_path}/absent.json"}
        program: list[str | Path] = [stack.program("learning"), "250", "only"]
        done = stack.run(2, program, variables, preload=Path(f"{stack.preload}:{library}"), timeout=60)
        assert not done.problem(), done.problem()
        assert nodes(done, 2) == {0}
        found.append(sorted(re.findall(r"internal collectives: \d+", done.output)))
    assert len(found[0]) == 2
    assert found[0] == found[1]


def test_like_sizes_share_a_lesson(slow_allgather: Path, tmp_path: Path) -> None:
    """48 sizes, more than there are lessons, of which each has fewer than 256 calls."""
    path = tmp_path / "wisdom.json"

    def is_seen(done: Done) -> bool:
        if calls(done, "allgather", "learned") > 2 * 1000:
            return True
        path.unlink(missing_ok=True)
        return False

    done = run_until(is_seen, slow_allgather, 3000, "sizes", CONVENE_WISDOM=str(path))
    learned = {reason for reason in reasons(done, "allgather") if reason.startswith("learned: ")}
    assert len(learned) == 1, "all ranks decide the same"
    assert learned.pop().endswith(" calls of like sizes")
    assert is_seen(done)
    (entry,) = wisdom_files.read(path)
    assert entry["bytes"] == [256, 444]
    done = run_slow(slow_allgather, 100, "sizes", CONVENE_WISDOM=str(path), CONVENE_LEARN="no")
    assert all(reason.startswith("wisdom: ") for reason in reasons(done, "allgather"))


def is_withdrawn(done: Done) -> bool:
    return calls(done, "allgather", "guard: back to native, ") > 0


def test_like_sizes_share_a_guard(slow_allgather: Path, tmp_path: Path) -> None:
    """Wisdom of many sizes that is wrong is corrected for all of them."""
    path = tmp_path / "wisdom.json"
    assert has_learned(run_until(has_learned, slow_allgather, 3000, "sizes", CONVENE_WISDOM=str(path)))
    for _ in range(3):  # on a busy machine, a round of the guard may end without a verdict
        done = run_slow(
            slow_allgather,
            40_000,
            "sizes",
            SLOW_ALLGATHER="0",
            CONVENE_WISDOM=str(path),
            CONVENE_CHECK="slow_choices",
        )
        if is_withdrawn(done):
            break
    assert is_withdrawn(done)
    (entry,) = wisdom_files.read(path)
    assert (entry["use"], entry["bytes"]) == ("native", [256, 444])


@pytest.mark.parametrize("name", STACKS)
def test_many_sizes(name: str) -> None:
    """Shared lessons, and some that give way; then with a check in each call."""
    done = run(stack_of(name), 30_000, "many")
    kinds = ("allgather", "allreduce", "alltoall", "gather")
    assert sum(calls(done, kind, "trial") for kind in kinds) > 0
    run(stack_of(name), 3000, "many", CONVENE_CHECK="agreement")


def test_what_is_frequent_is_learned_beside_many_rare_signatures(slow_allgather: Path) -> None:
    """36 rare ones: more than there are lessons."""
    assert has_learned(run_until(has_learned, slow_allgather, 3000, "rare"))


def test_one_rank_pauses_and_resumes() -> None:
    run(stack_of("openmpi4"), 30_000, "toggle")


def test_a_wisdom_file_that_cannot_be_written_is_reported(slow_allgather: Path, tmp_path: Path) -> None:
    path = tmp_path / "wisdom.json"
    path.write_text("{")
    done = run_until(has_learned, slow_allgather, 1100, CONVENE_WISDOM=str(path))
    assert has_learned(done)
    messages = [message for profile in done.profiles for message in profile["messages"]]
    assert any("what was learned is not kept: " in message and str(path) in message for message in messages)
    assert path.read_text() == "{"


def test_the_guard_returns_to_native(slow_allgather: Path, tmp_path: Path) -> None:
    """What was faster becomes slow in the running program. It is withdrawn, in wisdom, too. (When the guard
    measures depends on how long its rounds take: the program ends when native calls are the rule again.)"""
    path = tmp_path / "wisdom.json"

    def is_seen(done: Done) -> bool:
        return calls(done, "allgather", "learned") > 8192 and is_withdrawn(done)

    # Choices become slower by 200 microseconds, after 16,384 calls: native must have lost before.
    for slow in ("50", "100", "130"):
        path.unlink(missing_ok=True)
        done = run_slow(
            slow_allgather,
            100_000,
            "back",
            SLOW_ALLGATHER=slow,
            CONVENE_WISDOM=str(path),
            CONVENE_CHECK="slow_choices",
        )
        if is_seen(done):
            break
    assert is_seen(done)
    (entry,) = wisdom_files.read(path)
    assert entry["use"] == "native"
    done = run_slow(slow_allgather, 100, CONVENE_WISDOM=str(path), CONVENE_LEARN="no")
    assert reasons(done, "allgather") == {"default"}


def test_observing_changes_nothing(slow_allgather: Path, tmp_path: Path) -> None:
    path = tmp_path / "wisdom.json"

    def has_observed(done: Done) -> bool:
        return calls(done, "allgather", "observed: ") > 0

    done = run_until(has_observed, slow_allgather, 1100, CONVENE_LEARN="observe", CONVENE_WISDOM=str(path))
    assert not has_learned(done)
    observed = {reason for reason in reasons(done, "allgather") if reason.startswith("observed: ")}
    assert len(observed) == 1
    assert " of native after " in observed.pop()
    seen = [record for record in done.records() if record["reason"].startswith("observed: ")]
    assert {record["algorithm"] for record in seen} == {"native"}
    assert not path.exists()


@pytest.mark.parametrize(
    ("learn", "reproducible", "is_tried"),
    [("yes", "no", False), ("reductions", "no", True), ("reductions", "yes", False)],
)
def test_rounding_changes_only_where_that_is_allowed(learn: str, reproducible: str, is_tried: bool) -> None:
    variables = {"CONVENE_LEARN": learn, "CONVENE_REPRODUCIBLE": reproducible}
    stack = stack_of("openmpi4")
    program: list[str | Path] = [stack.program("learning"), "1000", "sums"]
    done = stack.run(2, program, {**LEARNING, **variables}, timeout=60)
    assert not done.problem(), done.problem()
    assert (calls(done, "allreduce", "trial") > 0) == is_tried


def test_nothing_is_learned_by_default(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 600, CONVENE_LEARN="no")
    assert reasons(done, "allgather") == {"default"}


def test_nothing_is_tried_without_a_budget(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 600, CONVENE_LEARN_BUDGET="0")
    assert reasons(done, "allgather") == {"default"}


def test_the_program_pauses_it(slow_allgather: Path) -> None:
    """The ranks agree after 256 calls, and after two pauses of 1024: it resumes in the second."""
    done = run_slow(slow_allgather, 1500, "only", "pause")
    assert calls(done, "allgather", "default") >= 2 * (256 + 2 * 1024)
    assert calls(done, "allgather", "trial") > 0


def test_the_program_excludes_a_communicator(slow_allgather: Path) -> None:
    done = run_slow(slow_allgather, 600, "only", "exclude")
    assert reasons(done, "allgather") == {"default"}


def test_a_budget_is_a_percentage() -> None:
    stack = stack_of("openmpi4")
    done = stack.run(
        2, [stack.program("learning"), "1"], {**LEARNING, "CONVENE_LEARN_BUDGET": "much"}, timeout=60
    )
    assert done.status == 2, done.output
    assert "CONVENE_LEARN_BUDGET='much' must be a number of percent from 0 to 100" in done.output
