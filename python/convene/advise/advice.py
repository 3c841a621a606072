# SPDX-License-Identifier: BSD-3-Clause
"""Advice: what each call site of a program would gain, or why it gains nothing."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from convene import _core
from convene.advise import measured
from convene.advise.measured import WhatIf
from convene.advise.program import Recorded
from convene.advise.sites import CallSite, Signature
from convene.base.result_types import Json
from convene.catalogue import collectives
from convene.mpi.processes import RunError
from convene.mpi.settings import Setting

LEAST_SHARE = 0.005  # of the program's time: less communication is not measured

Progress = Callable[[float, float], None]  # done, of so much


class Kind(StrEnum):
    """Result for a call site."""

    GAIN = "gain"
    NATIVE = "native"  # measured, and no algorithm is faster
    IMBALANCE = "imbalance"
    SMALL = "small"
    UNKNOWN_SIZE = "unknown size"
    NON_BLOCKING = "non-blocking"
    INTERCOMMUNICATOR = "intercommunicator"
    NO_CANDIDATE = "no candidate"
    LAYOUT = "layout"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Advice:
    """One call site. `share` values are parts of the program's time."""

    site: CallSite
    kind: Kind
    program_seconds: float
    what_if: WhatIf | None = None
    why: str = ""  # of what failed
    predicted: str = ""  # the best by the model, where nothing was measured

    def share(self, seconds: float) -> float:
        return seconds / max(self.program_seconds, 1e-9)

    @property
    def saves(self) -> float:
        """Part of the program's time, predicted from the measured ratio."""
        if self.kind is not Kind.GAIN or self.what_if is None:
            return 0.0
        return self.share(saved_seconds(self.site, self.what_if))

    def text(self) -> str:
        """Without figures that have columns of their own."""
        if self.kind is Kind.GAIN and self.what_if:
            return f"{self.what_if.winner}, {self.what_if.ratio:.2f} of native"
        if self.kind is Kind.NATIVE and self.what_if:
            return f"nothing to gain: native is as fast as {len(self.what_if.candidates)} others"
        if self.kind is Kind.NOT_MEASURED:
            return f"not measured: {self.why}" + (f"; predicted: {self.predicted}" if self.predicted else "")
        return SENTENCES[self.kind]

    def as_json(self) -> Json:
        what_if = self.what_if
        return {
            **self.site.as_json(),
            "share": self.share(self.site.inside),
            "waiting_share": self.share(self.site.waiting),
            "communicating_share": self.share(self.site.communicating),
            "result": self.kind.value,
            "advice": self.text(),
            "use": what_if.winner if what_if and what_if.winner else None,
            "ratio": what_if.ratio if what_if and what_if.winner else None,
            "upper": what_if.upper if what_if and what_if.winner else None,
            "saves_predicted": self.saves,
            "predicted_best": self.predicted or None,
            "measured": {
                str(size): {
                    each.spec: {method: ratio.as_json() for method, ratio in each.ratios.items()}
                    for each in at
                }
                for size, at in (what_if.verdicts if what_if else {}).items()
            },
        }


SENTENCES = {
    Kind.IMBALANCE: "load imbalance: no algorithm helps",
    Kind.SMALL: f"nothing to gain: communicates less than {100 * LEAST_SHARE:g} % of the time",
    Kind.UNKNOWN_SIZE: "not measured: no size of these calls is equal on all ranks",
    Kind.NON_BLOCKING: "not measured: non-blocking or persistent, or called in such a form, too",
    Kind.INTERCOMMUNICATOR: "nothing to gain: intercommunicators run native algorithms only",
    Kind.NO_CANDIDATE: "nothing to gain: Convene has no other algorithm for it",
    Kind.LAYOUT: "not measured: the launcher places this number of ranks on other nodes",
}


def without_measuring(site: CallSite, started: set[Signature], seconds: float) -> Kind | None:
    """The result where no measurement is needed; None if one is. `seconds`: of the program."""
    if not site.within_group:
        return Kind.INTERCOMMUNICATOR
    least = LEAST_SHARE * seconds
    if site.communicating < least:
        is_late = site.blocking and site.waiting > max(site.communicating, least)
        return Kind.IMBALANCE if is_late else Kind.SMALL
    if not site.blocking or site.signature in started:
        return Kind.NON_BLOCKING
    collective = site.signature.collective
    if site.most == 0 and collective not in collectives.WITHOUT_SIZES:
        return Kind.UNKNOWN_SIZE
    if _core.is_neighborhood(collective):
        return Kind.UNKNOWN_SIZE
    return None


def saved_seconds(site: CallSite, what_if: WhatIf) -> float:
    """Seconds of the program, predicted: no more than what the measured calls save. A call of the program may
    take longer than a measured one, where a rank that waits has lost its core."""
    return min((1 - what_if.ratio) * site.communicating, what_if.saved * site.calls_per_rank)


def result_of(site: CallSite, what_if: WhatIf, seconds: float) -> Kind:
    """The result of a measurement. `seconds`: of the program."""
    if what_if.layout_differs:
        return Kind.LAYOUT
    if not what_if.candidates:
        return Kind.NO_CANDIDATE
    is_late = site.waiting > site.communicating
    if what_if.winner and not (is_late and saved_seconds(site, what_if) < LEAST_SHARE * seconds):
        return Kind.GAIN
    return Kind.IMBALANCE if is_late else Kind.NATIVE


def one_per_signature(found: list[CallSite]) -> dict[Signature, CallSite]:
    """The site of each signature with the most communication: its arrivals are measured."""
    chosen: dict[Signature, CallSite] = {}
    for site in sorted(found, key=lambda site: -site.communicating):
        chosen.setdefault(site.signature, site)
    return chosen


def advise(
    recorded: Recorded, found: list[CallSite], setting: Setting, budget: float, progress: Progress
) -> list[Advice]:
    """Measures where there is something to gain. The sites with the largest saving first."""
    seconds = recorded.seconds
    started = {site.signature for site in found if not site.blocking}
    known = {id(site): without_measuring(site, started, seconds) for site in found}
    open_sites = one_per_signature([site for site in found if known[id(site)] is None])
    results = measure_all(list(open_sites.values()), setting, budget, progress)
    made = []
    for site in found:
        kind = known[id(site)]
        if kind is not None:
            made.append(Advice(site, kind, seconds))
            continue
        result = results[site.signature]
        if isinstance(result, WhatIf):
            made.append(Advice(site, result_of(site, result, seconds), seconds, result))
            continue
        best = measured.candidates(open_sites[site.signature])
        made.append(Advice(site, Kind.NOT_MEASURED, seconds, why=result, predicted=best[0] if best else ""))
    return sorted(made, key=lambda each: (-each.saves, -each.site.inside))


def measure_all(
    wanted: list[CallSite], setting: Setting, budget: float, progress: Progress
) -> dict[Signature, WhatIf | str]:
    """Measures the sites in turn, each within its part of the time that is left; a text says why not."""
    results: dict[Signature, WhatIf | str] = {}
    end = time.monotonic() + budget
    for at, site in enumerate(wanted):
        left = end - time.monotonic()
        if measured.least_seconds(site) > left:
            results[site.signature] = "the budget is too small"
            continue
        weight = site.communicating / sum(each.communicating for each in wanted[at:])
        mine = max(weight * left, min(measured.least_seconds(site), left))

        def advance(part: float, at: int = at) -> None:
            progress(at + part, len(wanted))

        try:
            results[site.signature] = measured.measure(setting, site, mine, advance)
        except RunError as error:
            results[site.signature] = str(error)
        progress(at + 1, len(wanted))
    return results
