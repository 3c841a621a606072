# SPDX-License-Identifier: BSD-3-Clause
"""convene simulate sweep --forecast."""

from typing import Any

import pytest
from convene.simulate.forecasts import forecasts_of, in_rounds

Convene = Any

NVSWITCH = ("allreduce", "--platform", "nvswitch", "-p", 8)
LATE = (*NVSWITCH, "--sizes", "1GiB", "--arrivals", "late:7:2ms")


def seconds(convene: Convene, *words: object) -> dict[str, float]:
    done = convene("simulate", "sweep", *words, "--json")
    assert done.status == 0, done.err
    return {each["name"]: each["seconds"][0] for each in done.json["sizes"][0]["contenders"]}


def test_a_true_forecast_gives_the_figures_of_stragglar(convene: Convene) -> None:
    found = seconds(
        convene, *LATE, "--algorithms", "ring,stragglar,stragglar;segments=6", "--forecast", "truth"
    )
    after = {name: round((each - 2e-3) * 1e3, 2) for name, each in found.items()}
    assert after == {"ring": 3.93, "stragglar@truth": 2.88, "stragglar;segments=6@truth": 2.46}


def test_a_forecast_of_one_algorithm(convene: Convene) -> None:
    """A suffix is for one algorithm; a wrong forecast is worse than a true one."""
    names = "stragglar@truth,stragglar@mirrored,stragglar"
    found = seconds(convene, *LATE, "--algorithms", names)
    assert list(found) == names.split(",")
    assert found["stragglar@truth"] < min(found["stragglar@mirrored"], found["stragglar"])
    kept = seconds(convene, *LATE, "--algorithms", "stragglar@mirrored,stragglar", "--forecast", "truth")
    assert list(kept) == ["stragglar@mirrored", "stragglar@truth"]


def test_rounds_are_those_of_each_size(convene: Convene) -> None:
    """Several sizes in a sweep take as long as each alone."""
    words = (*NVSWITCH, "--arrivals", "late:7:300us", "--algorithms", "stragglar@truth")
    both = convene("simulate", "sweep", *words, "--sizes", "1MiB,256MiB", "--json").json["sizes"]
    for cell, size in zip(both, ("1MiB", "256MiB"), strict=True):
        assert (
            cell["contenders"][0]["seconds"][0]
            == seconds(convene, *words, "--sizes", size)["stragglar@truth"]
        )


def test_kinds_of_forecasts() -> None:
    patterns = ((0.0, 1.0), (2.0, 1.0), (4.0, 7.0))
    assert forecasts_of("truth", patterns) == list(patterns)
    assert forecasts_of("mirrored", patterns) == [(1.0, 0.0), (1.0, 2.0), (7.0, 4.0)]
    assert forecasts_of("average", patterns) == [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]
    assert in_rounds((5.0, 6.2, 5.0), 0.5) == (0, 2, 0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--forecast", "truht"), "there is no forecast 'truht'; did you mean truth"),
        (("--algorithms", "ring@truth"), "allreduce=ring uses no forecast; leave out @truth"),
        (("--algorithms", "stragglar@mine"), "there is no forecast 'mine'"),
    ],
)
def test_wrong_forecasts_are_refused(convene: Convene, words: tuple[str, ...], sentence: str) -> None:
    done = convene("simulate", "sweep", *NVSWITCH, *words)
    assert done.status == 2
    assert sentence in done.complaint


def test_smpi_has_no_forecasts(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convene.simulate.smpi.check", lambda *_: None)
    done = convene("simulate", "sweep", *NVSWITCH, "--engine", "smpi", "--forecast", "truth")
    assert done.status == 2
    assert "--engine smpi supports no forecasts" in done.complaint
