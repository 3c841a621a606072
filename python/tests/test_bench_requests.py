# SPDX-License-Identifier: BSD-3-Clause
"""Requests for measurements: sizes, names of algorithms, arrivals."""

from dataclasses import replace
from pathlib import Path

import pytest
from convene._core import RequestError
from convene.base import parsing
from convene.bench.requests import Request


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8", [8]),
        ("8,64,4KiB", [8, 64, 4096]),
        ("8:64", [8, 16, 32, 64]),
        ("8:1KiB:4", [8, 32, 128, 512]),
        ("0,1:2", [0, 1, 2]),
        ("8,8:16", [8, 16]),
    ],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert parsing.parse_sizes(text) == sizes


def test_names_are_split_outside_of_parentheses() -> None:
    assert parsing.split_names("ring, hier(sparbit,linear;leaders=2),ring") == [
        "ring",
        "hier(sparbit,linear;leaders=2)",
    ]


def test_a_trace_goes_with_the_request(tmp_path: Path) -> None:
    """Only the lines that are used; in words of a command line, as far as they fit."""
    path = tmp_path / "arrivals.txt"
    path.write_text("# late\n0, 1ms 2ms\n\n3us 0 0 # the second\n9s 9s 9s\n")
    request = Request("allgather", 3, [8], ["ring"], 2, arrivals=("none", f"trace:{path}", "trace:more"))
    request = replace(request, traces={"more": "0 0 7ms"})
    assert request.traces_as_arguments() == ["--traces", "0,1ms,2ms/3us,0,0;0,0,7ms"]
    path.write_text("0 0 1234567.123456789\n" * 4000)
    long = replace(request, arrivals=(f"trace:{path}",), repetitions=3500)
    words = long.traces_as_arguments()[1:]
    assert [len(word) for word in words] == [1 << 16, 3500 * 22 - 1 - (1 << 16)]
    path.write_text("0 0 1234567.123456789\n" * 5000)
    assert replace(long, repetitions=5000).traces_as_arguments() == []
    path.unlink()
    with pytest.raises(RequestError, match="cannot be read"):
        long.traces_as_arguments()
