# SPDX-License-Identifier: BSD-3-Clause
"""The C API's page, from its header: each declaration with the comment that stands before it."""

import re
from pathlib import Path

import pages

# A comment and what follows it, up to the end of the declaration (a structure's is its closing line).
DECLARATION = re.compile(
    r"/\*(?P<comment>.*?)\*/\s*(?P<code>typedef struct .*?\n\} \w+;|[^/#{}]+?;)", re.DOTALL
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
    name = NAME.findall(code)[-1] if code.startswith("typedef") else NAME.findall(code)[0]
    return f"### {name}\n\n{marked(plain(comment))}\n\n```c\n{code.strip()}\n```\n"


def page(header: str) -> str:
    introduction, _, declarations = header.partition("#ifndef")
    body = declarations[declarations.index('extern "C"') :]
    entries = [entry(found["comment"], found["code"]) for found in DECLARATION.finditer(body)]
    missing = set(re.findall(r"\b(convene_\w+)\(", body)) - set(re.findall(r"### (\w+)", "".join(entries)))
    functions = {name for name in missing if re.search(rf"^[\w ]+\*?\s?{name}\(", body, re.MULTILINE)}
    if functions:
        raise ValueError(f"functions without a comment in the header: {', '.join(sorted(functions))}")
    about = plain(re.findall(r"/\*(.*?)\*/", introduction, re.DOTALL)[-1])
    return (
        "# C API\n\n```c\n#include <mpi.h>\n#include <convene/convene.h>\n```\n\n"
        + marked(about)
        + "\n\n## Reference\n\n"
        + "\n".join(entries)
    )


def write(header: Path, path: Path) -> None:
    pages.write(path, page(header.read_text(encoding="utf-8")))
