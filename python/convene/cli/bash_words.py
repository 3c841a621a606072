# SPDX-License-Identifier: BSD-3-Clause
"""Completion in Bash of words with = and :, at which Bash divides them (COMP_WORDBREAKS)."""

import contextlib
import io
import os
from collections.abc import Callable

BREAKS = "=:"


def joined(words: list[str], current: int) -> tuple[list[str], int, str]:
    """The words as they were typed, which of them is completed, and what Bash keeps of that one."""
    result, place, kept = list[str](), len(words), ""
    after_break = False
    for at, word in enumerate(words):
        is_break = word != "" and not word.strip(BREAKS)
        if not result or not (is_break or after_break):
            result.append("")
        if at == current:
            place, kept = len(result) - 1, result[-1] + (word if is_break else "")
        result[-1] += word
        after_break = is_break
    return result, min(place, len(result)), kept


def complete(run: Callable[[], int]) -> int:
    """Runs the completion with the words as they were typed. Prints the replacement of the part that Bash
    completes. Returns the status."""
    words, current, kept = joined(os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"]))
    os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(current)}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            status = run()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0
    with contextlib.suppress(OSError):
        print("\n".join(line.removeprefix(kept) for line in output.getvalue().splitlines()), flush=True)
    return status
