# SPDX-License-Identifier: BSD-3-Clause
"""Tests of which a tier runs some cases only, chosen by a seed (docs/tests.md)."""

import os
import random
from collections import defaultdict

import pytest

TIER = os.environ.get("CONVENE_TEST_TIER", "long")  # without ./dev, every case
SEED = os.environ.get("CONVENE_TEST_SEED", "1")


def pytest_report_header() -> str:
    return f"tier {TIER}, CONVENE_TEST_SEED={SEED}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each test that is marked sampled(default=N, all=M), the tiers default and all run N and M cases."""
    cases = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark and TIER in mark.kwargs:
            cases[item.nodeid.partition("[")[0]].append(item)
    left_out = set[pytest.Item]()
    for name, each in cases.items():
        mark = each[0].get_closest_marker("sampled")
        wanted = mark.kwargs[TIER] if mark else len(each)
        kept = random.Random(f"{SEED} {name}").sample(each, min(wanted, len(each)))
        left_out |= set(each) - set(kept)
    if left_out:
        config.hook.pytest_deselected(items=sorted(left_out, key=lambda item: item.nodeid))
        items[:] = [item for item in items if item not in left_out]
