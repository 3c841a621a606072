# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of a report: what was measured, which algorithm won, with which certainty."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from convene.base.text import bytes_text
from convene.bench import metrics, requests
from convene.bench.report.measured import SURE, Measured, Win, gain_of
from convene.bench.report.tables import quality_of_all
from convene.catalogue import collectives, selection
from convene.stats import inference


def percent(part: float) -> str:
    if 0 < part < 0.0005:
        return "below 0.1 %"
    return f"{100 * part:.0f} %" if part >= 0.0995 or part in (0, SURE) else f"{100 * part:.1f} %"


def listed(words: Iterable[Any], last: str = "and") -> str:
    texts = [str(word) for word in words]
    return f" {last} ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def range_text(sizes: list[int]) -> str:
    return (
        bytes_text(sizes[0]) if len(sizes) == 1 else f"{bytes_text(min(sizes))} to {bytes_text(max(sizes))}"
    )


def between(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def what_was_measured(measured: Measured) -> str:
    environment = measured.result["runs"][0]["environment"]
    sizes = [] if measured.collective in collectives.WITHOUT_SIZES else measured.different("size")
    what = f"{measured.collective}"
    if sizes:
        unit = "vectors" if measured.collective in collectives.OF_VECTORS else "blocks"
        what += f" with {unit} of {range_text(sizes)} ({len(sizes)} size{'s' if len(sizes) > 1 else ''})"
    late = [pattern for pattern in measured.different("arrivals") if pattern != requests.BALANCED]
    if late and requests.BALANCED in measured.different("arrivals"):
        what += f", with balanced arrivals and with late ranks ({listed(late)})"
    elif late:
        what += f", with late ranks ({listed(late)})"
    unequal = measured.different("distribution")
    if unequal != ["regular"]:
        what += f", with {listed(unequal)} block sizes"
    observations = [row.observations for row in measured.rows]
    number = f"; {between(min(observations), max(observations))} observation"
    number = "" if measured.is_exact else f"{number}{'' if max(observations) == 1 else 's'} of each"
    return (
        f"{what[0].upper()}{what[1:]}, on {listed(measured.different('procs'))} ranks, by "
        f"{len(measured.algorithms)} algorithm{'s' if len(measured.algorithms) > 1 else ''}{number}. "
        f"{environment['mpi'].split(',')[0]}, {environment.get('processor') or 'processor unknown'}, "
        f"{environment['cores']} cores on {listed(environment['hosts'])}, "
        f"{environment.get('started', 'at a time unknown')}."
    )


def who_won(measured: Measured) -> list[str]:
    said = []
    for pattern in measured.different("arrivals"):
        wins = [win for win in measured.wins if win.case.arrivals == pattern]
        if not wins:
            continue
        if len(measured.different("arrivals")) == 1:
            when = ""
        else:
            when = "All at once: " if pattern == requests.BALANCED else f"Late by {pattern}: "
        said += [when + sentence for sentence in (winner_of(wins), who_tied(wins)) if sentence]
    return said


def winner_of(wins: list[Win]) -> str:
    """The most frequent winner, and the others."""
    alone = [win for win in wins if not win.tied]
    if not alone:
        return ""
    name, number = Counter(win.winner for win in alone).most_common(1)[0]
    own = [win.gain for win in alone if win.winner == name]
    others = Counter(win.winner for win in alone if win.winner != name)
    ahead = f"there ahead of the second by {percent(float(np.median(own)))} of its time"
    if len(own) > 1:
        ahead += f" (median; at most {percent(max(own))})"
    rest = f"; {listed(f'{other} in {times}' for other, times in others.most_common())}" if others else ""
    return f"{name} was the fastest in {number} of {len(wins)} cases, {ahead}{rest}."


def who_tied(wins: list[Win]) -> str:
    ties = [win.tied for win in wins if win.tied]
    if not ties:
        return ""
    name, number = Counter(name for names in ties for name in names).most_common(1)[0]
    return (
        f"Several algorithms were equally fast in {len(ties)} of {len(wins)} cases, with {name} among "
        f"them in {number}."
    )


def what_native_misses(measured: Measured) -> str | None:
    """Savings of the best choice over native."""
    if selection.NATIVE not in measured.algorithms:
        return None
    gains = []
    for case in measured.cells:
        rows = {row.name: row.seconds.value for row in measured.rows if row.case == case}
        if selection.NATIVE in rows:
            gains.append(gain_of(min(rows.values()), rows[selection.NATIVE]))
    return (
        f"Compared with the native algorithm, the best algorithm of each case saves at most "
        f"{percent(max(gains))} of the time, {percent(float(np.median(gains)))} in the median."
    )


def how_sure(measured: Measured) -> list[str]:
    if measured.is_exact:
        return ["Simulated without noise: each time is exact, and no difference is due to chance."]
    if not measured.is_repeated:
        return ["There is one observation of each; significance cannot be tested."]
    wins = measured.wins
    said = []
    if wins:
        sure = [win for win in wins if win.is_sure]
        said.append(
            f"In {len(sure)} of {len(wins)} cases the first is faster than the second beyond chance "
            f"(permutation test, {inference.RESAMPLES:,} resamples, false discovery rate "
            f"{percent(SURE)}); in the others no difference is shown."
        )
    return said


def warnings(measured: Measured) -> list[str]:
    runs, said = measured.result["runs"], []
    environment = runs[0]["environment"]
    cores = int(environment["cores"]) * len(environment["hosts"])
    most = max(measured.different("procs"))
    if most > cores:
        said.append(
            f"Up to {most} ranks shared {cores} cores. Such numbers say how algorithms do in a crowd, not "
            "how they would do with a core each."
        )
    qualities = list(quality_of_all(measured).values())
    dependent = sum(not each.is_independent for each in qualities)
    drifting = sum(not each.is_stationary for each in qualities)
    expected = inference.LEVEL * len(qualities)
    if max(dependent, drifting) > max(2.0, 2 * expected):
        said.append(
            f"Of {len(qualities)} samples, {dependent} do not look like independent draws (runs test) and "
            f"{drifting} drift (Kendall's tau), where {expected:.1f} of each would by chance: their "
            "intervals are too narrow."
        )
    if any(run.get("options", {}).get("check") == "never" for run in runs):
        said.append("Results were not checked (--check never).")
    invalid = sum(int((~metrics.valid_observations(cell)).sum()) for cell in measured.cells.values())
    if invalid:
        said.append(f"{invalid} repetitions are left out, since a rank missed the common deadline.")
    return said
