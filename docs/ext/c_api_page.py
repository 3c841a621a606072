# SPDX-License-Identifier: BSD-3-Clause
"""The page of the C API, from its header: each declaration with the comment before it. A comment may precede
several functions without empty lines between them; a comment before none introduces a section."""

import re
from pathlib import Path

import pages

# A comment and what follows it, up to an empty line or the next comment; a structure ends with its own line.
DECLARATION = re.compile(
    r"/\*(?P<comment>(?:(?!\*/).)*)\*/\n"
    r"(?P<code>typedef struct .*?\n\} \w+;|[^/#{}]+?;(?=\n(?:\n|/\*))|(?=\n))",
    re.DOTALL,
)
NAME = re.compile(r"(\w+)\s*(?:\(|;)")


def plain(comment: str) -> str:
    """The text of a comment, without the stars at the beginnings of its lines."""
    lines = [re.sub(r"^\s*\*? ?", "", line) for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def marked(text: str) -> str:
    """Names of functions, constants and the like as code."""
    return re.sub(
        r"(?<![`\w])((?:MPI|CONVENE|convene)_\w+(?:\(\))?|libconvene-\S+|convene::\S+?(?=[.,)\s]))",
        r"`\1`",
        text,
    )


def entry(comment: str, code: str) -> str:
    about = marked(plain(comment))
    if not code:
        return f"{about}\n"
    names = NAME.findall(code)
    if code.startswith("typedef"):
        heading = names[-1]
    else:
        functions = [name for name in names if name.startswith("convene_") and f"{name}(" in code]
        heading = functions[0] if len(functions) == 1 else f"{functions[0]} … {functions[-1]}"
    return f"### {heading}\n\n{about}\n\n```c\n{code.strip()}\n```\n"


def page(header: str) -> str:
    introduction, _, declarations = header.partition("#ifndef")
    body = declarations[declarations.index('extern "C"') :]
    entries = [entry(found["comment"], found["code"]) for found in DECLARATION.finditer(body)]
    declared = set(re.findall(r"^[\w ]+\*?\s?(convene_\w+)\(", body, re.MULTILINE))
    codes = "".join(found["code"] for found in DECLARATION.finditer(body))
    missing = declared - set(re.findall(r"\b(convene_\w+)\(", codes))
    if missing:
        raise ValueError(f"functions without a comment in the header: {', '.join(sorted(missing))}")
    about = plain(re.findall(r"/\*(.*?)\*/", introduction, re.DOTALL)[-1])
    return (
        "# C API\n\n```c\n#include <mpi.h>\n#include <convene/convene.h>\n```\n\n"
        + marked(about)
        + "\n\n## Reference\n\n"
        + "\n".join(entries)
    )


def write(header: Path, path: Path) -> None:
    pages.write(path, page(header.read_text(encoding="utf-8")))
