# SPDX-License-Identifier: BSD-3-Clause
"""Proof: the program with the rules against the program without Convene, in interleaved pairs."""

from dataclasses import dataclass, field
from math import comb
from pathlib import Path

import numpy as np

from convene.advise.program import Program
from convene.base.result_types import Json
from convene.base.text import seconds_text
from convene.run.profiles import Profiles
from convene.tune import judge

MOST_PAIRS = 10
ENOUGH = 5  # pairs for an interval
MOST_CHANCE = 0.05


@dataclass
class Proof:
    """Durations of the pairs in seconds."""

    native: list[float] = field(default_factory=list)
    with_rules: list[float] = field(default_factory=list)
    calls: float = 0.0  # in a run with rules: calls that ran by one
    all_calls: float = 0.0
    messages: list[str] = field(default_factory=list)
    failure: str = ""
    recorded: float = 0.0  # duration of the recorded run, one more sample of native

    @property
    def ratio(self) -> float:
        return float(np.median(self.with_rules) / np.median(self.native)) if self.native else 1.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the ratio; None of few pairs."""
        if len(self.native) < ENOUGH:
            return None
        found = judge.ratio_of(np.array(self.with_rules), np.array(self.native))
        return found.low, found.high

    @property
    def chance(self) -> float:
        """Chance that equal programs differ in the same direction in as many pairs (sign test). The bootstrap
        alone is too optimistic for ten pairs."""
        pairs = len(self.native)
        faster = sum(ruled < native for native, ruled in zip(self.native, self.with_rules, strict=True))
        return float(sum(comb(pairs, number) for number in range(faster, pairs + 1)) / 2**pairs)

    @property
    def noise(self) -> float:
        """Seconds by which native runs differ."""
        every = [*self.native, self.recorded] if self.recorded else self.native
        return max(every) - min(every)

    @property
    def is_shown(self) -> bool:
        """True if the rules gain more than chance: the interval is below 1 and nearly all pairs agree, or, of
        few pairs, each run with rules is faster than each native run by more than these differ."""
        if self.failure or not self.native:
            return False
        interval = self.interval
        if interval is not None:
            return interval[1] < 1 and self.chance <= MOST_CHANCE
        return max(self.with_rules) < min(self.native) - self.noise

    def sentence(self) -> str:
        if self.failure:
            return f"not shown: {self.failure}"
        pairs = "1 pair" if len(self.native) == 1 else f"{len(self.native)} pairs"
        times = (
            f"{seconds_text(float(np.median(self.native)))} native, "
            f"{seconds_text(float(np.median(self.with_rules)))} with rules ({pairs} of runs)"
        )
        interval = self.interval
        spread = (
            f"the ratio {self.ratio:.3f} has the 95 % interval {interval[0]:.3f} to {interval[1]:.3f}"
            if interval
            else f"native runs differ by {seconds_text(self.noise)}"
        )
        if self.is_shown:
            saved = f"{100 * (1 - self.ratio):.2g} %"
            return f"shown: the rules save {saved} of the program's time: {times}; {spread}"
        return f"not shown, because it is within noise: {times}; {spread}"

    def as_json(self) -> Json:
        return {
            "native_seconds": self.native,
            "with_rules_seconds": self.with_rules,
            "ratio": self.ratio if self.native else None,
            "interval": self.interval,
            "shown": self.is_shown,
            "calls_by_rules": self.calls,
            "calls": self.all_calls,
            "sentence": self.sentence(),
            "messages": self.messages,
        }


def pairs_of(seconds: float, budget: float) -> int:
    """How many pairs fit in the time; at least one."""
    return max(1, min(MOST_PAIRS, int(budget / (2 * max(seconds, 1e-3)))))


def note(made: Proof, found: Profiles) -> None:
    """What a run with rules did."""
    made.calls = sum(row.calls for row in found.rows if row.reason.startswith("rule"))
    made.all_calls = sum(row.calls for row in found.rows)
    made.messages = list(dict.fromkeys([*made.messages, *found.messages]))


def prove(program: Program, rules: Path, seconds: float, budget: float, advance: object = None) -> Proof:
    """Runs the pairs; the order alternates."""
    made = Proof(recorded=seconds)
    number = pairs_of(seconds, budget)
    for pair in range(number):
        native = ruled = None
        for is_native in (True, False) if pair % 2 == 0 else (False, True):
            if is_native:
                status, native = program.run_native()
            else:
                status, ruled, found = program.run_with(rules)
                note(made, found)
            if status != 0:
                made.failure = f"a run {'without' if is_native else 'with'} rules ended with status {status}"
                return made
        assert native is not None
        assert ruled is not None
        made.native.append(native)
        made.with_rules.append(ruled)
        if callable(advance):
            advance(pair + 1, number)
    return made
