# SPDX-License-Identifier: BSD-3-Clause
"""Advice as a table and sentences."""

import re

from rich.table import Table

from convene.advise.advice import Advice, Kind
from convene.advise.program import Recorded
from convene.base import console
from convene.base.text import bytes_text, seconds_text

MOST_ROWS = 20

HEADS = (
    "where",
    "collective",
    "bytes",
    "processes",
    "calls",
    "waiting",
    "communicating",
    "saves (predicted)",
    "advice",
)
OPTIONAL = ("processes", "calls", "bytes")  # on a narrow terminal
PLATFORM = re.compile(r"\.cpython-[\w-]+(?=\.so)")
LINE = re.compile(r"\((\S+:\d+)\)$")


def percent(share: float) -> str:
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{100 * share:.2g} %" if share < 0.0995 else f"{100 * share:.0f} %"


def sizes_text(least: int, most: int) -> str:
    return bytes_text(least) if least == most else f"{bytes_text(least)} to {bytes_text(most)}"


def processes_text(each: Advice) -> str:
    signature = each.site.signature
    return f"{signature.procs} on {signature.nodes} nodes" if signature.nodes > 1 else str(signature.procs)


def cells(each: Advice) -> tuple[str, ...]:
    site = each.site
    return (
        short(site.place),
        site.signature.collective if site.blocking else f"{site.signature.collective} (started)",
        sizes_text(site.least, site.most),
        processes_text(each),
        f"{site.calls:.0f}",
        percent(each.share(site.waiting)),
        percent(each.share(site.communicating)),
        percent(each.saves) if each.saves else "-",
        each.text(),
    )


def table(advice: list[Advice], seconds: float) -> Table:
    made = console.table(
        f"Call sites, in parts of the program's {seconds_text(seconds)}",
        *HEADS,
        numbers=HEADS[3:8],
        optional=OPTIONAL,
        shortens=HEADS[:1],
    )
    for each in advice[:MOST_ROWS]:
        made.add_row(*cells(each))
    if len(advice) > MOST_ROWS:
        made.caption = f"{len(advice) - MOST_ROWS} more are left out; --json has them all"
    return made


def short(place: str) -> str:
    """late.c:42 of main (late.c:42); a library without the platform in its name."""
    found = LINE.search(place)
    return found[1] if found else PLATFORM.sub("", place)


def overview(recorded: Recorded, advice: list[Advice]) -> str:
    """The program's time, and the parts of it in collectives."""
    seconds = max(recorded.seconds, 1e-9)
    inside = sum(each.site.inside for each in advice) / seconds
    waiting = sum(each.site.waiting for each in advice) / seconds
    communicating = sum(each.site.communicating for each in advice) / seconds
    return (
        f"the program took {seconds_text(recorded.seconds)}; a rank spent {percent(inside)} "
        f"of it in collectives: {percent(waiting)} waiting for late ranks, {percent(communicating)} "
        "communicating"
    )


def sentences(advice: list[Advice]) -> list[str]:
    """One for each gain; one if there is none."""
    said = [
        f"{each.site.signature.collective} at {short(each.site.place)}: {each.what_if.winner}, "
        f"{each.what_if.ratio:.2f} of native (measured), saves {percent(each.saves)} of the program "
        "(predicted)"
        for each in advice
        if each.kind is Kind.GAIN and each.what_if
    ]
    waiting = sum(each.site.waiting for each in advice)
    is_late = waiting > sum(each.site.communicating for each in advice)
    if said:
        more = ["more time passes in waiting for late ranks; convene trace names them"]
        return said + more * is_late
    if any(each.kind is Kind.NOT_MEASURED for each in advice):
        return ["no gain was found; call sites that were not measured may have one (--budget)"]
    if is_late:
        return ["nothing to gain by algorithms: ranks wait for late ones; convene trace names them"]
    return ["nothing to gain: native algorithms stay"]
