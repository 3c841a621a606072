# SPDX-License-Identifier: BSD-3-Clause
"""Checks of rules files: the format is recognised by content, then each MPI's reading is checked."""

import re

from convene import _core
from convene._core import RequestError
from convene.base import jsons
from convene.rules import intel, mpich_tree, openmpi_classic, openmpi_han, openmpi_json, ucc
from convene.rules.convene_rules import check as check_own
from convene.rules.findings import Report
from convene.rules.openmpi_names import MPIS, OPENMPI_4, OPENMPI_5, OPENMPI_6
from convene.rules.positions import Node, parse

TARGETS = (OPENMPI_4, OPENMPI_5, OPENMPI_6, "han", "mpich", "intel", "ucc", "convene")
KNOWN = (
    "Open MPI's tuned or han rules, MPICH's selection tree, I_MPI_ADJUST_ or UCC_TL_ variables, "
    "Convene's rules"
)
MOST = 16 << 20  # characters
VARIABLES = re.compile(r"^\s*(?:export\s+|setenv\s+)?(I_MPI_ADJUST_|UCC_)", re.MULTILINE)
WORD = re.compile(r"[^\s#]+")


def unknown(origin: str, line: int = 1) -> RequestError:
    return RequestError(f"{origin}:{line}: this is no rules file that is known: {KNOWN}")


def check_json(text: str, origin: str, wanted: str | None) -> list[Report]:
    root: Node = parse(text, origin)
    names = [name for name, _ in root.members]
    if "convene_rules" in names or wanted == "convene":
        return [check_own(root, origin)]
    if "rule_file_version" in names or "collectives" in names:
        asked = [wanted] if wanted in MPIS else [OPENMPI_6]
        return [openmpi_json.check(root, each) for each in asked]
    if any("=" in name for name in names):
        return [mpich_tree.check(root)]
    raise unknown(origin, root.line)


def check_words(text: str, origin: str, wanted: str | None) -> list[Report]:
    if found := VARIABLES.search(text):
        return [ucc.check(text) if found[1] == "UCC_" else intel.check(text)]
    words = [word for line in text.split("\n") for word in WORD.findall(line.partition("#")[0])]
    if not words:
        ignored = "; Open MPI ignores it without a message" if wanted in (None, *MPIS, "han") else ""
        raise RequestError(f"{origin}:1: the file is empty{ignored}")
    if openmpi_classic.VERSION.match(text) is None:
        if not words[0][:1].isdigit():
            raise unknown(origin)
        named = any(word in openmpi_han.COMPONENTS for word in words) or (words[1:2] and words[1].isalpha())
        if wanted == "han" or named:
            return [openmpi_han.check(text)]
    asked = [wanted] if wanted in MPIS else [OPENMPI_4, OPENMPI_5]
    return [openmpi_classic.check(text, each) for each in asked]


FORMATS_OF = {
    **dict.fromkeys(MPIS, (openmpi_classic.FORMAT, openmpi_json.FORMAT)),
    "han": (openmpi_han.FORMAT,),
    "mpich": (mpich_tree.FORMAT,),
    "intel": (intel.FORMAT,),
    "ucc": (ucc.FORMAT,),
}


def check(text: str, origin: str, wanted: str | None = None) -> list[Report]:
    """One report for each MPI whose reading was checked. Raises RequestError for other files."""
    if wanted is not None and wanted not in TARGETS:
        raise RequestError(_core.no_such("MPI", wanted, TARGETS))
    if len(text) > MOST:
        raise RequestError(f"{origin} is longer than {MOST >> 20} MiB")
    text = jsons.printable(text.replace("\r\n", "\n"))
    is_json = text.lstrip()[:1] in ("{", "[") and not VARIABLES.search(text)
    reports = check_json(text, origin, wanted) if is_json else check_words(text, origin, wanted)
    if wanted in FORMATS_OF and reports[0].format not in FORMATS_OF[wanted]:
        raise RequestError(f"{origin} has {reports[0].format}, which is not for {wanted}")
    return reports
