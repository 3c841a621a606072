# SPDX-License-Identifier: BSD-3-Clause
"""Rules files of advice: written with the evidence as comments, never over another file."""

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path

from convene import _core
from convene._core import RequestError
from convene.advise.advice import Advice, Kind
from convene.base import console
from convene.base.result_types import Json

AUTHOR = "convene advise"
DEFAULT = Path("advise.rules")


def check(path: Path) -> None:
    """Raises RequestError if the file cannot be written, or exists and is not from this command."""
    if not path.resolve().parent.is_dir():
        raise RequestError(f"cannot write -o {path}: the directory {path.parent} does not exist")
    if not path.exists():
        console.check_file(path)
        return
    try:
        value = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError):
        value = None
    if not isinstance(value, dict) or not str(value.get("comment", "")).startswith(AUTHOR):
        raise RequestError(f"{path} exists and is not a rules file of {AUTHOR}; give another name with -o")


def winners(advice: list[Advice]) -> list[Advice]:
    """The gain with the largest saving for each signature."""
    found: dict[object, Advice] = {}
    for each in advice:
        if each.kind is Kind.GAIN:
            found.setdefault(each.site.signature, each)
    return list(found.values())


def rule_of(each: Advice, advice: list[Advice]) -> Json:
    """One rule, for the sizes that the program uses."""
    signature, what_if = each.site.signature, each.what_if
    assert what_if is not None
    same = [other for other in advice if other.site.signature == signature and other.kind is Kind.GAIN]
    least, most = min(other.site.least for other in same), max(other.site.most for other in same)
    evidence = [
        f"{size} bytes, {method}: {ratio.whole.value:.2f} of native, 95 % interval {ratio.whole.low:.2f} to "
        f"{ratio.whole.high:.2f}"
        for size, verdicts in what_if.verdicts.items()
        for verdict in verdicts
        if verdict.spec == what_if.winner
        for method, ratio in verdict.ratios.items()
    ]
    return {
        "collective": signature.collective,
        "procs": signature.procs,
        "nodes": signature.nodes,
        "ranks_per_node": signature.ranks_per_node,
        "bytes": [least, most],
        "use": what_if.winner,
        "comment": [
            f"at {', '.join(other.site.place for other in same)}",
            f"predicted to save {100 * sum(other.saves for other in same):.2g} % of the program's time",
            *evidence,
        ],
    }


def quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def text_of(advice: list[Advice], command: list[str], library: str) -> str:
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    comment = quoted(f"{AUTHOR} {_core.version}, {today}, {library}: {shlex.join(command)}")
    rules = ",\n".join("  " + quoted(rule_of(each, advice)) for each in winners(advice))
    return f'{{"convene_rules": 1,\n "comment": {comment},\n "rules": [\n{rules}\n ]}}\n'


def write(path: Path, advice: list[Advice], command: list[str], library: str) -> None:
    check(path)
    console.write_file(path, text_of(advice, command, library))
    _core.rules(str(path))
